"""Text that does not look like the answer: plain sentences about an office, each as long as a record of a register.

A prompt can be long because it holds many rivals of the right line or because it holds much of anything. To tell
the two apart, the rivals are replaced by these lines: as many, of the same size, and without a digit, a ticket or
a name in them. Each line is a beginning and an end that were written by hand to fit each other, four of each to a
subject. What this module does not do: decide which lines of a register are replaced.
"""

from __future__ import annotations

import random

from ctxcourse.errors import CourseError

# Subject by subject: every beginning goes with every end of its subject. A beginning is 15 or 16 tokens long and an
# end 15 to 17 with its comma and line break, by the tokenizer of the course's models; a test counts.
_SUBJECTS: tuple[tuple[str, str], ...] = (
    (
        """
The tall plants beside the windows are watered early in the morning by hand
A gardener comes by every few weeks to look after the plants in the corridor
Somebody has moved the large fern from the dark hallway into the reading corner
The green pots near the entrance were filled with fresh dark soil early in spring
""",
        """
because the afternoon sun dries out the leaves far sooner than anybody would expect.
so that visitors see something alive and growing before they see any furniture.
and most people agree that the floor feels a little friendlier because of it.
although nobody is quite sure who chose the plants or when they came here.
""",
    ),
    (
        """
The coffee machine in the small kitchen is cleaned every evening before the doors close
Fresh milk and a basket of fruit are brought up to the kitchen on most days
A handwritten note above the sink asks everybody to rinse their cups and spoons
The old kettle in the kitchen takes a long time to boil when it is full
""",
        """
and the queue at the counter is usually gone soon after the morning break.
and those who come in early make a large pot of tea for everybody else.
but the smell of burnt toast still drifts through the corridor on some mornings.
so the kitchen has become the best place in the house for a conversation.
""",
    ),
    (
        """
The printer at the end of the corridor makes a soft noise as it starts
A fresh box of paper is kept on the low shelf in the copy room
The colours of the posters look rather pale when they come out of the old printer
Old drafts and spare copies are collected in the blue box underneath the wide table
""",
        """
and people often meet there to talk about the weather or their weekend plans.
and a short guide on the wall explains what to do when paper jams.
but most of the documents are only read on a screen these days anyway.
although the cupboard with the spare toner is often locked at lunch time.
""",
    ),
    (
        """
The round table in the large meeting room was polished shortly before the guests arrived
The chairs in the quiet room are put back against the wall after every workshop
A projector hangs from the ceiling of the room that overlooks the old harbour
The large whiteboard in the corner room is wiped with warm water every evening
""",
        """
so that the next group finds everything in place and can begin without delay.
but the curtains must be closed on sunny days or nobody can read slides.
and a tray with glasses and cold water stands ready beside the door.
and a room that looks well kept makes even a long discussion more pleasant.
""",
    ),
    (
        """
Letters and parcels are sorted in the little room behind the front desk every morning
A courier leaves the heavy boxes beside the back door when nobody answers the bell
The wooden trays for the outgoing post stand on a shelf next to the stairs
Thick envelopes with brochures are stacked on a cart until somebody has time
""",
        """
and whatever is still there in the evening is locked away in a cabinet.
which works well as long as people remember to look there before they leave.
although parcels from abroad tend to arrive later in the day than people hope.
so the people at the front desk know a good deal about the house.
""",
    ),
    (
        """
The heating in the old part of the building is turned down in late spring
A cool draught comes through the tall windows when the wind blows from the sea
The blinds on the sunny side of the building come down by themselves around noon
New curtains made of heavy grey cloth were hung in the rooms facing the street
""",
        """
and some of the staff keep a warm coat or a scarf close at hand.
and the caretaker walks round at night to see that everything is closed.
and this leads to much the same friendly argument between the colleagues every year.
although the thick walls hold the warmth of the day for a long time.
""",
    ),
    (
        """
The lift in the main hall stops for a while when its doors stay open
A thick mat was laid in front of the glass doors before the rain came
The stairs at the back of the building are swept while it is still dark
The lamps in the entrance hall were replaced by softer lights during the summer break
""",
        """
and most of the people who work upstairs have got used to more walking.
but the smooth stone floor is still slippery on most days in the rainy months.
although visitors still lose their way and end up beside the door to the cellar.
and the receptionist explains this with great patience to everybody who asks.
""",
    ),
    (
        """
The windows of the upper floors are cleaned from a narrow platform below the roof
The bins under the desks are emptied in the evening when most people have left
A new carpet with a pattern of leaves was laid in the corridor last spring
The cleaning team keeps its brooms and buckets in a cupboard beside the lift
""",
        """
and the whole place smells of soap and lemon early in the day.
but cups and plates that stand on a table are left where they are.
and the rooms look bright and tidy when the early risers come in.
and care is taken that nobody in the quiet rooms is disturbed by noise.
""",
    ),
    (
        """
The canteen serves thick vegetable soup with dark bread when the weather turns cold
A long bench in the yard is the favourite place for lunch on sunny days
The cook writes the menu on a large black board beside the canteen door
Salad and warm bread are set out on the counter shortly before the noon break
""",
        """
and those who come late have to be content with whatever is left over.
and the tables near the window are taken long before the rest fill up.
and good food does more for the mood of a team than long speeches.
although some prefer to bring their own meal and eat it by the fountain.
""",
    ),
    (
        """
Bicycles are kept under the wooden roof in the yard where they stay dry
A pump and a box of simple tools hang on the wall beside the gate
The hedge along the narrow path to the garages is cut back after summer
The iron gate to the yard creaks loudly when anybody opens it in haste
""",
        """
and most people here arrive on foot or by bicycle even in cold months.
and the neighbours across the street have never complained about it so far.
while the path to the back door is lit by small lamps after sunset.
but leaves from the old chestnut tree cover the ground for most of autumn.
""",
    ),
)


class FillerError(CourseError, ValueError):
    """A number of lines or a seed that cannot be: the message says which and what is possible."""


def _parts(text: str) -> list[str]:
    return text.strip().split("\n")


SENTENCES: tuple[str, ...] = tuple(
    f"{beginning}, {end}" for beginnings, ends in _SUBJECTS for beginning in _parts(beginnings) for end in _parts(ends)
)


def filler(lines: int, seed: int = 1) -> list[str]:
    """Draw distinct sentences that hold no digit and no owner's name, each as long as a record's line.

    The size is that of a record's line to within 2 tokens, by the tokenizer of the course's models. The same seed
    gives the same lines, and a shorter draw is the beginning of a longer one. Raises `FillerError` for fewer than 0
    lines or more than there are, or a seed that is no whole number from 0 up.

    >>> filler(2, seed=1) == filler(140, seed=1)[:2]
    True
    >>> filler(0)
    []
    """
    if isinstance(lines, bool) or not isinstance(lines, int) or not 0 <= lines <= len(SENTENCES):
        raise FillerError(f"lines={lines!r}: filler has from 0 to {len(SENTENCES)} lines")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FillerError(f"seed={seed!r}: a seed is a whole number from 0 up")
    return random.Random(seed).sample(SENTENCES, len(SENTENCES))[:lines]
