"""Whether a result file is what was written: harness/results/content_digest.hpp says how.

A digest over names, values and their order, not over the text, so that a file may be indented anew.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

MEMBER = "digest"  # where it stands in the file
_EXACT = 2.0**53  # up to here every whole number is a double of its own


@lru_cache(maxsize=4096)  # names of members, and words, stand in a file again and again
def _text(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return b"s%d:%s" % (len(encoded), encoded)


def _float(value: float) -> bytes:
    if abs(value) < _EXACT and value.is_integer():
        return b"i%d;" % value
    return b"d%s;" % struct.pack(">d", value).hex().encode("ascii")


def _int(value: int) -> bytes:
    return b"i%d;" % value if -(2**63) <= value < 2**64 else _float(float(value))


_SCALARS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"n",
    bool: lambda value: b"t" if value else b"f",
    int: _int,
    float: _float,
    str: _text,
}


def _floats(values: list[float]) -> bytes:
    """As _float() of each. Where none of them is whole, as in most columns of samples, the digits
    of all are taken at once."""
    if any(map(float.is_integer, values)):
        return b"".join(map(_float, values))
    digits = struct.pack(f">{len(values)}d", *values).hex(";", 8)
    return b"d%s;" % digits.replace(";", ";d").encode("ascii")


def _ints(values: list[int]) -> bytes:
    """As _int() of each."""
    if min(values) < -(2**63) or max(values) >= 2**64:
        return b"".join(map(_int, values))
    return b"i%s;" % ";i".join(map(str, values)).encode("ascii")


# Columns of samples, which are most of a file: all items of one type.
_COLUMNS: dict[type, Callable[[Any], bytes]] = {
    bool: lambda values: b"".join(map(_SCALARS[bool], values)),
    int: _ints,
    float: _floats,
}


def _add(parts: list[bytes], value: Any) -> None:
    kind = type(value)
    if kind in _SCALARS:
        parts.append(_SCALARS[kind](value))
    elif isinstance(value, dict):
        _add_members(parts, value)
    elif isinstance(value, list):
        parts.append(b"a%d:" % len(value))
        kinds = set(map(type, value))
        column = _COLUMNS.get(kinds.pop()) if len(kinds) == 1 else None
        if column is not None:
            parts.append(column(value))
        else:
            for item in value:
                _add(parts, item)
    else:
        raise TypeError(f"{kind.__qualname__} is no JSON value")


def _add_members(parts: list[bytes], members: dict[str, Any]) -> None:
    parts.append(b"o%d:" % len(members))
    for name, item in members.items():
        parts.append(_text(name))
        scalar = _SCALARS.get(type(item))  # which most members are
        if scalar is not None:
            parts.append(scalar(item))
        else:
            _add(parts, item)


def content_digest(document: dict[str, Any]) -> str:
    """ "sha256:" and 64 hexadecimal digits, over every member of a JSON document but its digest.

    Raises UnicodeEncodeError for text with half a surrogate pair.
    """
    parts: list[bytes] = []
    _add_members(parts, {name: item for name, item in document.items() if name != MEMBER})
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()
