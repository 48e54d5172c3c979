"""The errors that the package raises on purpose."""


class CourseError(Exception):
    """An error meant for the person who caused it: what was wrong, with which value, and what to do.

    Every deliberate error of the package derives from it; the command line shows its text alone, without a traceback.
    """
