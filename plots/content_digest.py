"""Whether a result file is what was written: harness/results/content_digest.hpp says how.

A digest over names, values and their order, not over the text, so that a file may be indented anew.
"""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache
from typing import Any

MEMBER = "digest"  # where it stands in the file
_EXACT = 2.0**53  # up to here every whole number is a double of its own


@lru_cache(maxsize=4096)  # names of members, and words, stand in a file again and again
def _text(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return b"s%d:%s" % (len(encoded), encoded)


def _numbers(values: list[float]) -> bytes:
    digits = struct.pack(f">{len(values)}d", *values).hex()
    return "".join(
        [
            f"i{int(value)};"
            if abs(value) < _EXACT and value.is_integer()
            else f"d{digits[16 * i : 16 * i + 16]};"
            for i, value in enumerate(values)
        ]
    ).encode("ascii")


def _add(parts: list[bytes], value: Any) -> None:
    match value:
        case None:
            parts.append(b"n")
        case True:
            parts.append(b"t")
        case False:
            parts.append(b"f")
        case int() if -(2**63) <= value < 2**64:
            parts.append(b"i%d;" % value)
        case int() | float():
            parts.append(_numbers([float(value)]))
        case str():
            parts.append(_text(value))
        case list():
            parts.append(b"a%d:" % len(value))
            if set(map(type, value)) == {float}:  # samples, which are most of a file
                parts.append(_numbers(value))
            else:
                for item in value:
                    _add(parts, item)
        case dict():
            _add_members(parts, value)
        case _:
            raise TypeError(f"{type(value).__qualname__} is no JSON value")


def _add_members(parts: list[bytes], members: dict[str, Any]) -> None:
    parts.append(b"o%d:" % len(members))
    for name, item in members.items():
        parts.append(_text(name))
        _add(parts, item)


def content_digest(document: dict[str, Any]) -> str:
    """ "sha256:" and 64 hexadecimal digits, over every member of a JSON document but its digest.

    Raises UnicodeEncodeError for text with half a surrogate pair.
    """
    parts: list[bytes] = []
    _add_members(parts, {name: item for name, item in document.items() if name != MEMBER})
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()
