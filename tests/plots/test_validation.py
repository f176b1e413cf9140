"""The fast validator agrees with the plain one, and what it remembers is the content."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
import synthetic

from plots.data.load import load
from plots.data.schema import SCHEMA_PATH
from plots.data.validation import first_error, is_valid
from plots.errors import PlotsError


def breakages(document):
    """Documents with one mistake each, at every depth."""
    row = ("groups", 0, "rows", 0)
    for path, value in (
        (("groups", 0, "rounds"), -1),
        (("groups", 0, "work", "bytes_read"), "many"),
        ((*row, "evidence", 0, "registers"), 1.5),
        ((*row, "time_ms", "median"), 0),
        ((*row, "verdict", "passed"), None),
        (("groups", 0, "comparisons", 0, "speedup", "ratio"), None),
        (("provenance", "device", "sm_count"), []),
        (("ceilings", 0, "samples"), {}),
        (("ceilings", 0, "samples"), [1, 2.5, "3"]),
        (("ceilings", 0, "samples"), [1, True]),
        ((*row, "status"), "okay"),
        ((*row, "status"), 1),
        (("groups", 0, "comparisons", 0, "claim"), None),
        ((*row, "evidence", 0, "instructions", "total"), -1),
        ((*row, "evidence", 0, "instructions", "LDG"), "3"),
        ((*row, "samples", "time_ms"), [1, 0.5, 0]),
        ((*row, "samples", "round"), [0, 1.5]),
        ((*row, "samples", "round"), [0, -1]),
        ((*row, "samples", "sm_clock_mhz"), [None, 1, 0]),
        ((*row, "samples", "throttled"), [True, None]),
        ((*row, "samples", "throttled"), [True, 1]),
        (("provenance", "nobody_knows"), 1),
    ):
        broken = copy.deepcopy(document)
        place = broken
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        yield broken


def test_it_finds_what_the_plain_one_finds():
    plain = jsonschema.Draft202012Validator(json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    assert is_valid(document, SCHEMA_PATH) and first_error(document, "right", SCHEMA_PATH) is None
    for number, broken in enumerate(breakages(document)):
        expected = jsonschema.exceptions.best_match(plain.iter_errors(broken))
        found = first_error(broken, f"broken {number}", SCHEMA_PATH)
        assert not is_valid(broken, SCHEMA_PATH) and expected and found
        assert list(found.absolute_path) == list(expected.absolute_path)


@pytest.mark.parametrize("path", sorted(SCHEMA_PATH.parent.glob("*.json")), ids=lambda p: p.stem)
def test_a_reference_says_nothing_beside_itself(path):
    """The fast validator is of an older draft, in which what stands beside one does not count."""

    def references(node):
        if isinstance(node, dict):
            if "$ref" in node:
                yield node
            node = list(node.values())
        if isinstance(node, list):
            for item in node:
                yield from references(item)

    found = list(references(json.loads(path.read_text(encoding="utf-8"))))
    assert found and all(node.keys() <= {"$ref", "description"} for node in found)


def test_keywords_are_those_that_both_drafts_have():
    known = {
        "type", "description", "minimum", "maximum", "exclusiveMinimum", "enum", "const", "pattern",
        "items", "maxItems", "minLength", "minProperties", "required", "properties",
        "additionalProperties", "oneOf", "$ref", "$defs", "$schema", "$id", "title",
    }  # fmt: skip

    def keywords(schema):
        if not isinstance(schema, dict):
            return
        yield from schema
        for name in ("properties", "$defs"):
            for of in schema.get(name, {}).values():
                yield from keywords(of)
        for name in ("items", "additionalProperties"):
            yield from keywords(schema.get(name))
        for of in schema.get("oneOf", ()):
            yield from keywords(of)

    for path in SCHEMA_PATH.parent.glob("*.json"):
        used = set(keywords(json.loads(path.read_text(encoding="utf-8"))))
        assert used <= known, used - known


def test_a_file_found_valid_is_looked_at_again_when_it_changed(save):
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    path = save(document)
    load([path])
    load([path])
    document["groups"][0]["rounds"] = -1
    save(document)
    with pytest.raises(PlotsError, match="rounds"):
        load([path])
