"""Whether a result file is what was written: harness/results/content_digest.hpp says how.

A digest over names, values and their order, not over the text, so that a file may be indented anew.
"""

from __future__ import annotations

import hashlib
import marshal
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
    """As _float() of each, but the digits of all are taken at once."""
    digits = struct.pack(f">{len(values)}d", *values).hex(";", 8)
    if not any(map(float.is_integer, values)):  # as in most columns of samples
        return b"d%s;" % digits.replace(";", ";d").encode("ascii")
    parts = [
        f"i{int(value)};" if value.is_integer() and abs(value) < _EXACT else f"d{digits_of};"
        for value, digits_of in zip(values, digits.split(";"), strict=True)
    ]
    return "".join(parts).encode("ascii")


def _numbers(values: list[float]) -> bytes:
    """As _int() or _float() of each: a whole number counts as the same in both, as long as a double
    holds it."""
    if min(values) <= -_EXACT or max(values) >= _EXACT:
        return _scalars(values)
    return _floats(list(map(float, values)))


def _scalars(values: list[Any]) -> bytes:
    return b"".join([_SCALARS[type(value)](value) for value in values])


def _ints(values: list[int]) -> bytes:
    """As _int() of each."""
    if min(values) < -(2**63) or max(values) >= 2**64:
        return b"".join(map(_int, values))
    return b"i%s;" % str(values)[1:-1].replace(", ", ";i").encode("ascii")


_TRUE_OR_FALSE = bytes.maketrans(b"\0\1", b"ft")


def _bools(values: list[bool]) -> bytes:
    return bytes(values).translate(_TRUE_OR_FALSE)


# Columns of samples, which are most of a file, by the types of their items.
_COLUMNS: dict[frozenset[type], Callable[[Any], bytes]] = {
    frozenset({bool}): _bools,
    frozenset({int}): _ints,
    frozenset({float}): _floats,
    frozenset({int, float}): _numbers,
}
_SCALAR_TYPES = frozenset(_SCALARS)

# What a build decides stands in each of its rows again: of three such records two are known.
_REPEATED = frozenset({"evidence", "geometry", "movement", "proof", "sources", "verdict"})
_Known = dict[bytes, bytes]  # marshalled value -> what it adds to the digest


def _add(parts: list[bytes], value: Any, known: _Known) -> None:
    kind = type(value)
    if kind in _SCALARS:
        parts.append(_SCALARS[kind](value))
    elif isinstance(value, dict):
        _add_members(parts, value, known)
    elif isinstance(value, list):
        parts.append(b"a%d:" % len(value))
        kinds = frozenset(map(type, value))
        if kinds and kinds <= _SCALAR_TYPES:
            parts.append(_COLUMNS.get(kinds, _scalars)(value))
        else:
            for item in value:
                _add(parts, item, known)
    else:
        raise TypeError(f"{kind.__qualname__} is no JSON value")


def _add_members(parts: list[bytes], members: dict[str, Any], known: _Known) -> None:
    parts.append(b"o%d:" % len(members))
    for name, item in members.items():
        parts.append(_text(name))
        scalar = _SCALARS.get(type(item))  # which most members are
        if scalar is not None:
            parts.append(scalar(item))
        elif name in _REPEATED:
            parts.append(_repeated(item, known))
        else:
            _add(parts, item, known)


def _repeated(value: Any, known: _Known) -> bytes:
    """What a record adds, taken once for all that are equal. By its marshalled form, which is made
    in a tenth of the time and tells 1 from true; version 2 does not depend on which of its parts
    are one object."""
    key = marshal.dumps(value, 2)
    if key not in known:
        parts: list[bytes] = []
        _add(parts, value, known)
        known[key] = b"".join(parts)
    return known[key]


def content_digest(document: dict[str, Any]) -> str:
    """ "sha256:" and 64 hexadecimal digits, over every member of a JSON document but its digest.

    Raises UnicodeEncodeError for text with half a surrogate pair.
    """
    parts: list[bytes] = []
    _add_members(parts, {name: item for name, item in document.items() if name != MEMBER}, {})
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()
