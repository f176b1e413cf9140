"""schema/result.schema.json: the types that files are decoded into, and the columns of the frames.

The harness generates it from the declarations of its fields, so that a field of a result is
written down once, over there.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal

import msgspec

from plots.tree import ROOT

SCHEMA_PATH = ROOT / "schema" / "result.schema.json"


@cache
def schema() -> dict[str, Any]:
    return json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))


def members(definition: str) -> dict[str, Any]:
    """Name -> schema of the members of a definition, in the order of the file."""
    return schema()["$defs"][definition]["properties"]


# --- Types ----------------------------------------------------------------------------------------

# What a member means by its absence, by its JSON type; a number that is absent is not known.
_ABSENT: dict[str, Any] = {"string": "", "boolean": False, "array": list, "object": dict}
_COUNTS_FROM_0 = ("repeat",)  # the one number whose absence means 0
_PLAIN = {"string": str, "boolean": bool, "integer": int, "number": float, "null": None}
_CONSTRAINTS = {
    "minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "pattern": "pattern",
    "minLength": "min_length", "maxItems": "max_length", "minProperties": "min_length",
}  # fmt: skip


def _constrained(type_: Any, of: dict[str, Any]) -> Any:
    limits = {name: of[key] for key, name in _CONSTRAINTS.items() if key in of}
    return Annotated[type_, msgspec.Meta(**limits)] if limits else type_


def _type(of: dict[str, Any]) -> Any:
    if "$ref" in of:
        return struct(of["$ref"].rpartition("/")[2])
    if "const" in of or "enum" in of:
        return Literal[tuple(of.get("enum", (of.get("const"),)))]
    match of["type"]:
        case "array":
            return _constrained(list[_type(of["items"])], of)  # type: ignore[misc]
        case "object":
            return _constrained(dict[str, _type(of["additionalProperties"])], of)  # type: ignore[misc]
        case str(name):
            return _constrained(_PLAIN[name], of)
        case names:
            of_numbers = {key: value for key, value in of.items() if key != "type"}
            either = [_type({**of_numbers, "type": n}) if n != "null" else None for n in names]
            type_ = either[0]
            for other in either[1:]:
                type_ |= other
            return type_


def _field(name: str, of: dict[str, Any], required: bool) -> Any:
    if required:
        return name, _type(of)
    absent = 0 if name in _COUNTS_FROM_0 else _ABSENT.get(str(of.get("type")))
    if "$ref" in of or absent is None:
        return name, _type(of) | None, None
    if absent in (list, dict):
        return name, _type(of), msgspec.field(default_factory=absent)
    return name, _type(of), absent


def _struct(name: str, of: dict[str, Any]) -> Any:
    fields = [
        _field(member, schema, member in of["required"])
        for member, schema in of["properties"].items()
    ]
    return msgspec.defstruct(
        name, fields, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False
    )


@cache
def struct(definition: str) -> Any:
    """The class of a definition."""
    return _struct(definition, schema()["$defs"][definition])


@cache
def result_file() -> Any:
    """The class of a whole result file."""
    return _struct("result_file", schema())


# --- Columns --------------------------------------------------------------------------------------


def _types(member: dict[str, Any]) -> set[str]:
    if "enum" in member:
        return {"string"}
    types = member.get("type", [])
    return {types} if isinstance(types, str) else set(types)


@cache
def scalars(definition: str) -> dict[str, Any]:
    """Name -> what stands in a frame for an absent value, of the members that hold one value each:
    NaN for numbers, "" for text, None for true or false."""
    absent: dict[str, Any] = {}
    for name, member in members(definition).items():
        types = _types(member)
        if types & {"number", "integer"}:
            absent[name] = float("nan")
        elif "string" in types:
            absent[name] = ""
        elif "boolean" in types:
            absent[name] = None
    return absent


def columns_of(definition: str, records: Iterable[Any]) -> dict[str, list[Any]]:
    """The scalars of records as columns; where a record is None or lacks a member, what stands for
    it."""
    records = list(records)
    columns = {}
    for name, absent in scalars(definition).items():
        values = [None if of is None else getattr(of, name) for of in records]
        columns[name] = [absent if value is None else value for value in values]
    return columns
