"""schema/result.schema.json: validates files and gives the frames their columns.

The harness generates it from the declarations of its fields, so that a field of a result is
written down once, over there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from plots.tree import ROOT

if TYPE_CHECKING:
    import jsonschema

SCHEMA_PATH = ROOT / "schema" / "result.schema.json"


@cache
def schema() -> dict[str, Any]:
    return json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))


def version() -> int:
    """The newest version of result files."""
    return schema()["properties"]["version"]["const"]


def members(definition: str) -> dict[str, Any]:
    """Name -> schema of the members of a definition, in the order of the file."""
    return schema()["$defs"][definition]["properties"]


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


def values_of(definition: str, record: dict[str, Any] | None) -> dict[str, Any]:
    """The scalars of a record; where the record or a member is absent, what stands for it."""
    record = record or {}
    return {
        name: absent if record.get(name) is None else record[name]
        for name, absent in scalars(definition).items()
    }


def columns(*names: Iterable[str]) -> list[str]:
    """The names in order, each once."""
    return list(dict.fromkeys(name for group in names for name in group))


def explain(error: jsonschema.ValidationError) -> str:
    """What the schema expected, in a few words, without dumping the whole instance."""
    while error.context:  # of a oneOf: the branch that is not "null"
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    found = json.dumps(error.instance)
    found = found if len(found) <= 40 else found[:37] + "..."
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            wanted = "member " + ", ".join(f'"{name}"' for name in missing)
            return f"expected {wanted} in {_json_path(error)}"
        case "additionalProperties" if error.validator_value is False:
            extra = sorted(set(error.instance) - set(error.schema.get("properties", {})))
            return f"expected no member {', '.join(extra)} in {_json_path(error)}"
        case "enum":
            wanted = "one of " + ", ".join(json.dumps(v) for v in error.validator_value)
        case "type":
            types = error.validator_value
            wanted = "type " + (types if isinstance(types, str) else " or ".join(types))
        case "exclusiveMinimum":
            wanted = f"a number above {error.validator_value}"
        case "minimum":
            wanted = f"a number of at least {error.validator_value}"
        case _:
            wanted = f"{error.validator} {json.dumps(error.validator_value)[:60]}"
    return f"expected {wanted} at {_json_path(error)}, found {found}"


def _json_path(error: jsonschema.ValidationError) -> str:
    text = ""
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "the file"
