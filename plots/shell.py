"""Commands that the package suggests, quoted so that they can be pasted into a shell."""

from __future__ import annotations

import os
import re

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    if text.isprintable():
        return "'" + text.replace("'", "'\\''") + "'"
    # Control characters and bytes that are no UTF-8, which a line cannot show.
    escaped = "".join(
        ("\\" + c if c in "\\'" else c)
        if c.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in os.fsencode(c))
        for c in text
    )
    return f"$'{escaped}'"


def command(*words: str | os.PathLike[str]) -> str:
    """As in_shell() of harness/text/shell.hpp: ("amasia", "merge", "my run.json") ->
    "amasia merge 'my run.json'"."""
    return " ".join(_word(os.fspath(word)) for word in words)
