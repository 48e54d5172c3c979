"""The builder: from plain text under ``lessons/`` to notebooks, and the proof that they are graded right.

A lesson is a folder ``lessons/NN_slug``:

- ``lesson.py``, a percent script (needed): what students read;
- ``exercise.py``, a percent script: what students work in;
- ``wrong_answers.py`` (needed beside an exercise): see ``ctxcourse.authoring.wrong``;
- ``quiz.yaml``: see ``ctxcourse.authoring.quizfile``.

A cell begins with ``# %%`` or ``# %% [markdown]``; behind it may stand a title, ``tags=["…"]``, ``question="name"`` and
``jupyter={…}``. Comments above the first cell are for authors only. A magic is written ``# %matplotlib inline``.

In both scripts:

- ``nbval-ignore-output``: the output is not compared (times, live answers, widgets: needed wherever a widget is shown);
- ``nbval-skip``: the cell is not run by nbval; ``raises-exception``: the cell is meant to fail;
- ``hint`` (markdown, with ``question``): one hint; taken out of the notebook, shown by ``hint("name")`` in this order.

In ``lesson.py``:

- ``practice`` (code, with ``question``): the cell that a student fills in, as it should look to the student;
- ``practice-solution`` (code, with ``question``): taken out of the notebook, shown by ``solution("name")``;
- ``check`` (code, with ``question``): a visible check.

In ``exercise.py``, for each graded question, under a heading that may end in ``(3 points)``:

- ``answer`` (code, once): the solution, between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` (indented like the code
  between them); what is outside stays with the student, and ``raise NotImplementedError(…)`` takes their place;
- ``check`` (code): the visible check;
- ``hidden-tests`` (code): pytest functions between ``### BEGIN HIDDEN TESTS`` and ``### END HIDDEN TESTS``, each with
  ``@points(2, title="…", hint="…")`` and the argument ``student``; the builder imports ``pytest`` and ``points``;
- ``hint``: at least one;
- ``setup`` (code): imports and data at the top.

Question ids and the names of hidden tests are unique: ids in the course, test names in the lesson.
"""
