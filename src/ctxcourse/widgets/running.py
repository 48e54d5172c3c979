"""Work that takes seconds, started and stopped by buttons: a thread, an honest bar, and errors that are shown."""

from __future__ import annotations

import html
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import ipywidgets as W

from ctxcourse.errors import CourseError
from ctxcourse.model.answers import Cancelled, Completion

ShouldStop = Callable[[], bool]
Work = Callable[[ShouldStop], Any]

SHOW_AFTER = 1.0  # seconds without a bar
TICK = 0.4  # seconds between two looks at the clock

# One answer at a time: a model is one set of buffers and two cores, whatever the number of widgets on the page.
_computing = threading.Lock()
# The pace of a model's last answer; None after its first, which also brings the weights into memory.
_seconds_per_token: WeakKeyDictionary[Any, float | None] = WeakKeyDictionary()


def cost_text(completion: Completion) -> str:
    """Return what an answer cost, in tokens and seconds."""
    return (
        f"{completion.prompt_tokens:,} tokens in the prompt, {completion.computed_tokens:,} of them computed, "
        f"{completion.new_tokens} new; {completion.seconds:.1f} seconds"
    )


def error_html(error: BaseException) -> str:
    """Return an error as HTML: the message, and for an error nobody expected the traceback behind a fold."""
    name = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
    text = (
        '<div role="alert" style="border-left:4px solid #A4003D;padding:4px 10px;margin:4px 0">'
        f"<b>That did not work.</b> {html.escape(name + str(error))}"
    )
    if not isinstance(error, CourseError):
        trace = "".join(traceback.format_exception(error))
        text += (
            "<details><summary>Where it happened</summary>"
            f'<pre style="white-space:pre-wrap">{html.escape(trace)}</pre></details>'
        )
    return text + "</div>"


class Runner(W.VBox):
    """A start button, a stop button, a bar and a line of status around one piece of work at a time.

    ``prepare()`` is called when the start button is pressed and returns what the work needs: the number of
    tokens it will compute (for the estimate) and a callable that takes ``should_stop`` and returns a result.
    The work runs in a thread; ``show(result)`` is called with its result, unless the run was stopped. An error
    of any of the three is shown in the widget and kept in ``error``. The estimate is the time of the last run
    of the same ``pace`` object (the model), scaled by tokens; until there have been two, the bar only says that
    work goes on. Work that knows what share of it is done, from 0 to 1, says so in ``share``, which the bar shows.
    """

    def __init__(
        self,
        prepare: Callable[[], tuple[int, Work]],
        show: Callable[[Any], None],
        *,
        label: str = "Run",
        pace: Any = None,
        clear: Callable[[], None] = lambda: None,
    ) -> None:
        self._prepare, self._show, self._clear, self._pace = prepare, show, clear, pace
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._busy = threading.Lock()
        self._reason = ""
        self.error: BaseException | None = None
        self.share: float | None = None
        self.run_button = W.Button(description=label, icon="play", button_style="primary")
        self.stop_button = W.Button(description="Stop", icon="stop", disabled=True)
        self.bar = W.HTML()
        self.status = W.HTML()
        self.run_button.on_click(lambda _: self.start())
        self.stop_button.on_click(lambda _: self.stop())
        self.row = W.HBox([self.run_button, self.stop_button, self.bar])
        super().__init__([self.row, self.status])

    @property
    def running(self) -> bool:
        """Whether work is going on (or is about to stop)."""
        return self._busy.locked()

    def start(self) -> None:
        """Start the work, as the button does; nothing happens while some is going on."""
        if not self._busy.acquire(blocking=False):
            return
        self._stop.clear()
        self._reason, self.error, self.share = "", None, None
        self.run_button.disabled, self.stop_button.disabled = True, False
        self.status.value = ""
        try:
            self._clear()
            tokens, work = self._prepare()
            self._thread = threading.Thread(target=self._work, args=(tokens, work), daemon=True)
            self._thread.start()
        except Exception as error:
            self._finish(error)

    def stop(self, reason: str = "Stopped.") -> None:
        """Ask the work to stop, as the button does, and say why once it has; without work nothing happens."""
        if self.running:
            self._reason = self._reason or reason
            self._stop.set()
            self.stop_button.disabled = True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the work has ended and return whether it has within ``timeout`` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.running

    def fail(self, error: BaseException) -> None:
        """Show an error that happened outside the work: in a slider's callback, say."""
        self.error = error
        self.status.value = error_html(error)

    def _work(self, tokens: int, work: Work) -> None:
        done = threading.Event()
        clock = threading.Thread(target=self._tick, args=(tokens, done), daemon=True)
        clock.start()
        error: BaseException | None = None
        try:
            result = self._compute(tokens, work)
            if self._stop.is_set():
                raise Cancelled("Stopped after the answer was complete.")
            self._show(result)
        except BaseException as caught:  # whatever it was, the reader sees it and the buttons come back
            error = caught
        done.set()
        clock.join()
        self._finish(error)

    def _compute(self, tokens: int, work: Work) -> Any:
        while not _computing.acquire(timeout=0.1):
            if self._stop.is_set():
                raise Cancelled("Stopped before another widget's answer was complete.")
        try:
            if self._pace is not None:
                _ = self._pace.network  # the weights are read before the clock starts
            began = time.perf_counter()
            result = work(self._stop.is_set)
            if self._pace is not None and tokens > 0:
                pace = (time.perf_counter() - began) / tokens
                _seconds_per_token[self._pace] = pace if self._pace in _seconds_per_token else None
            return result
        finally:
            _computing.release()

    def _tick(self, tokens: int, done: threading.Event) -> None:
        began = time.perf_counter()
        pace = _seconds_per_token.get(self._pace) if self._pace is not None else None
        expected = None if pace is None else pace * tokens
        if done.wait(SHOW_AFTER):
            return
        self._due()
        while not done.is_set():
            self.bar.value = bar_html(time.perf_counter() - began, expected, self._stop.is_set(), self.share)
            done.wait(TICK)

    def _due(self) -> None:
        """Show what else appears when the bar does."""

    def _finish(self, error: BaseException | None) -> None:
        if isinstance(error, Cancelled):
            self.status.value = html.escape(self._reason or str(error))
        elif error is not None:
            self.fail(error)
        self.bar.value = ""
        self.run_button.disabled, self.stop_button.disabled = False, True
        self._busy.release()


class Recounter(Runner):
    """A `Runner` for what a control starts when it is moved, and what mostly ends at once: counting, say.

    Buttons and bar are there only while the work takes longer than `SHOW_AFTER`, and after it was stopped or has
    failed, when the button starts it again; ``late()`` is called when they appear. No model is asked, so the work does
    not wait for that of another widget.
    """

    def __init__(
        self,
        prepare: Callable[[], tuple[int, Work]],
        show: Callable[[Any], None],
        *,
        label: str = "Count",
        late: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(prepare, show, label=label)
        self._late = late
        self.row.layout.display = "none"

    def again(self) -> None:
        """Stop what is going on and start anew; return when that has ended, or when its bar is due."""
        self.stop()
        self.wait()
        self.row.layout.display = "none"
        self.start()
        self.wait(SHOW_AFTER)

    def _compute(self, tokens: int, work: Work) -> Any:
        return work(self._stop.is_set)

    def _due(self) -> None:
        self.row.layout.display = None
        self._late()

    def _finish(self, error: BaseException | None) -> None:
        self.row.layout.display = "none" if error is None else None
        if error is not None and not isinstance(error, Cancelled):
            self._late()
        super()._finish(error)


def bar_html(seconds: float, expected: float | None, stopping: bool = False, share: float | None = None) -> str:
    """Return a progress bar: filled by what is done, or by the clock where a run was timed before, else only moving.

    >>> "value" in bar_html(2.0, None), 'value="0.50"' in bar_html(2.0, 4.0), "value" in bar_html(5.0, 4.0)
    (False, True, False)
    >>> 'value="0.25"' in bar_html(2.0, None, share=0.25)
    True
    """
    if stopping:
        said, filled = f"stopping after the piece that is being computed, {seconds:.0f} s", ""
    elif share is not None:
        said, filled = f"{share:.0%} done, {seconds:.0f} s so far", f' value="{share:.2f}" max="1"'
    elif expected is None:
        said, filled = f"computing, {seconds:.0f} s so far", ""
    elif seconds < expected:
        said = f"computing, {seconds:.0f} s of about {expected:.0f} s, by the pace of the last run"
        filled = f' value="{seconds / expected:.2f}" max="1"'
    else:
        said, filled = f"computing, {seconds:.0f} s so far (about {expected:.0f} s were expected)", ""
    return f'<span role="status"><progress{filled} style="width:12em"></progress> {said}</span>'
