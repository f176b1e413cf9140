"""Whether a document is valid by the schema: quickly, and each content only once."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastjsonschema

from plots.data.cache import Cache, default_folder

if TYPE_CHECKING:
    import jsonschema


@cache
def compiled(schema: Path) -> Callable[[Any], Any]:
    """The schema as a function of Python, which tells valid from invalid and little more."""
    document = json.loads(schema.read_text(encoding="utf-8"))
    return fastjsonschema.compile(document, use_default=False, use_formats=False)


def is_valid(document: Any, schema: Path) -> bool:
    try:
        compiled(schema)(document)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


def first_error(
    document: Any, content: bytes | str, schema: Path
) -> jsonschema.exceptions.ValidationError | None:
    """The error that says most about what is wrong with a document; None when it is valid.

    ``content`` is the text that it was read from, or a digest of it: a text that was found valid is
    not looked at again, as long as schema and code are what they were.
    """
    remembered = Cache(default_folder())
    key = remembered.key("valid", schema.read_bytes(), content)
    if remembered.find(key) is not None:
        return None
    error = None
    if not is_valid(document, schema):
        # Ten times slower, and needed by nobody whose files are right.
        import jsonschema

        plain = jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))
        error = jsonschema.exceptions.best_match(plain.iter_errors(document))
    if error is None:
        remembered.keep(key, b"valid")
    return error
