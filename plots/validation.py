"""Whether a document is valid by the schema: quickly, and each content only once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from plots.cache import Cache, default_folder


def _without_references(node: Any, definitions: dict[str, Any]) -> Any:
    """A schema with each "$ref" to "#/$defs/..." replaced by what it names. The validator looks
    every reference up anew for every value, which takes most of its time."""
    if isinstance(node, list):
        return [_without_references(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {
        key: _without_references(value, definitions)
        for key, value in node.items()
        if key not in ("$ref", "$defs")
    }
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        plain["allOf"] = [_without_references(definitions[name], definitions)]
        if plain.keys() <= {"allOf", "description"}:
            plain = plain["allOf"][0]
    return plain


_PLAIN = jsonschema.Draft202012Validator
_KINDS = {"integer": {int}, "number": {int, float}, "null": {type(None)}, "string": {str},
          "boolean": {bool}}  # fmt: skip


def _plainly_valid(values: Collection[Any], wanted: Any) -> bool:
    """Whether all values are numbers or words as a schema of a type and a least value wants them;
    False also where that takes a closer look."""
    if not isinstance(wanted, dict) or not wanted.keys() <= {
        "type", "minimum", "exclusiveMinimum", "description",
    }:  # fmt: skip
        return False
    types = wanted.get("type", [])
    types = [types] if isinstance(types, str) else types
    allowed = {kind for name in types for kind in _KINDS.get(name, ())}
    if not set(map(type, values)) <= allowed:
        return False
    numbers = [v for v in values if type(v) in (int, float)]
    return not numbers or (
        min(numbers) >= wanted.get("minimum", float("-inf"))
        and min(numbers) > wanted.get("exclusiveMinimum", float("-inf"))
    )


def _items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Samples are most of a file: thousands of numbers, each of which costs the validator as much
    as an object does."""
    if not (isinstance(instance, list) and _plainly_valid(instance, wanted)):
        yield from _PLAIN.VALIDATORS["items"](validator, wanted, instance, schema)


def _properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Members that are plain numbers and words, without a validator of their own."""
    if isinstance(instance, dict):
        rest = {
            name: of
            for name, of in wanted.items()
            if name in instance and not _plainly_valid((instance[name],), of)
        }
        yield from _PLAIN.VALIDATORS["properties"](validator, rest, instance, schema)


def _additional(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Tables of counts."""
    known = schema.get("properties", {})
    if "patternProperties" in schema or not (
        isinstance(instance, dict)
        and _plainly_valid([v for name, v in instance.items() if name not in known], wanted)
    ):
        yield from _PLAIN.VALIDATORS["additionalProperties"](validator, wanted, instance, schema)


@cache
def validator(schema: Path) -> jsonschema.Draft202012Validator:
    """The validator of a schema without recursion."""
    document = json.loads(schema.read_text(encoding="utf-8"))
    quick = {"items": _items, "properties": _properties, "additionalProperties": _additional}
    kind = jsonschema.validators.extend(_PLAIN, quick)
    return kind(_without_references(document, document.get("$defs", {})))


def first_error(
    document: Any, content: str, schema: Path
) -> jsonschema.exceptions.ValidationError | None:
    """The error that says most about what is wrong with a document; None when it is valid.

    ``content`` is the text that it was read from: a text that was found valid is not looked at
    again, as long as schema and code are what they were.
    """
    remembered = Cache(default_folder())
    key = remembered.key("valid", schema.read_bytes(), content)
    if remembered.find(key) is not None:
        return None
    error = jsonschema.exceptions.best_match(validator(schema).iter_errors(document))
    if error is None:
        remembered.keep(key, b"valid")
    return error
