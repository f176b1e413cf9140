"""Whether a document is valid by the schema: quickly, and each content only once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
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


_NUMBERS = {int, float}


@dataclass(frozen=True)
class _Plain:
    """What a schema asks of a value that is a number or a word: types, least values, words."""

    schema: Any  # kept, so that its id is not given to another one
    types: frozenset[type]
    least: float
    above: float
    words: frozenset[str] | None

    def holds(self, value: Any) -> bool:
        """Whether the value is as wanted; False also where that takes a closer look."""
        kind = type(value)
        return kind in self.types and (
            (value >= self.least and value > self.above)
            if kind in _NUMBERS
            else self.words is None or value in self.words
        )


_plain_of: dict[int, _Plain] = {}
_NOTHING = frozenset[type]()


def _plain(wanted: Any) -> _Plain:
    """What ``wanted`` asks of a plain value; nothing holds for a schema that asks for more."""
    found = _plain_of.get(id(wanted))
    if found is None or found.schema is not wanted:
        of = wanted if isinstance(wanted, dict) else {"": wanted}
        types = of.get("type", [])
        types = [types] if isinstance(types, str) else types
        known = {"type", "minimum", "exclusiveMinimum", "enum", "description"}
        words = of.get("enum")
        simple = of.keys() <= known and (words is None or types == ["string"])
        kinds = frozenset(kind for name in types for kind in _KINDS.get(name, ()))
        found = _plain_of[id(wanted)] = _Plain(
            wanted,
            kinds if simple else _NOTHING,
            of.get("minimum", -math.inf),
            of.get("exclusiveMinimum", -math.inf),
            None if words is None else frozenset(map(str, words)),
        )
    return found


def _items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Samples are most of a file: thousands of numbers, each of which costs the validator as much
    as an object does."""
    if not (isinstance(instance, list) and all(map(_plain(wanted).holds, instance))):
        yield from _PLAIN.VALIDATORS["items"](validator, wanted, instance, schema)


def _properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Members that are plain numbers and words, without a validator of their own."""
    if isinstance(instance, dict):
        rest = {
            name: of
            for name, of in wanted.items()
            if name in instance and not _plain(of).holds(instance[name])
        }
        yield from _PLAIN.VALIDATORS["properties"](validator, rest, instance, schema)


def _additional(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Tables of counts."""
    known = schema.get("properties", {})
    if "patternProperties" in schema or not (
        isinstance(instance, dict)
        and all(_plain(wanted).holds(v) for name, v in instance.items() if name not in known)
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
