"""The fast validator agrees with the plain one, and what it remembers is the content."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest
import synthetic

from plots.errors import PlotsError
from plots.load import load
from plots.schema import SCHEMA_PATH
from plots.validation import validator


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
    fast = validator(SCHEMA_PATH)
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    assert fast.is_valid(document)
    for broken in breakages(document):
        expected = {(tuple(e.absolute_path), e.validator) for e in plain.iter_errors(broken)}
        assert {(tuple(e.absolute_path), e.validator) for e in fast.iter_errors(broken)} == expected
        assert expected


def test_a_file_found_valid_is_looked_at_again_when_it_changed(save):
    document = synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)])
    path = save(document)
    load([path])
    load([path])
    document["groups"][0]["rounds"] = -1
    save(document)
    with pytest.raises(PlotsError, match="rounds"):
        load([path])
