"""Whether a document is valid by the schema: quickly, and each content only once."""

from __future__ import annotations

import json
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


@cache
def validator(schema: Path) -> jsonschema.Draft202012Validator:
    """The validator of a schema without recursion."""
    document = json.loads(schema.read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(_without_references(document, document.get("$defs", {})))


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
