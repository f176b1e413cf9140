"""The one kind of error that reaches the user as a line and exit status 2."""

import difflib
from collections.abc import Iterable

_MOST = 2000  # characters of a message


def one_line(text: str) -> str:
    """The text with "?" for every control character, an end of line among them, and cut where it is
    longer than anybody reads: names in it may come from a file, and could otherwise print what they
    like."""
    shown = text if len(text) <= _MOST else text[:_MOST] + "..."
    return "".join(c if c.isprintable() else "?" for c in shown)


class PlotsError(Exception):
    """A mistake in what was asked for or in a file: one line that says what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def nearest(name: str, valid: Iterable[str], count: int = 3) -> str:
    """A phrase with the valid names closest to ``name``: "nearest: a, b", or all when none is."""
    valid = list(valid)
    folded = {candidate.casefold(): candidate for candidate in valid}
    close = difflib.get_close_matches(name.casefold(), folded, n=count, cutoff=0.5)
    if close:
        return "nearest: " + ", ".join(folded[c] for c in close)
    return "known: " + ", ".join(valid)


class ResultFileError(PlotsError):
    """A result file that cannot be used: "path: what was expected"."""
