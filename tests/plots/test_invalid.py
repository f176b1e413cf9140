"""A group that is not valid makes no claim, and the reason is shown."""

from __future__ import annotations

import copy

import msgspec
import pytest
import synthetic

from plots.advice.twin import recorded_twins
from plots.cli import main
from plots.data.documents import read_document
from plots.data.load import load
from plots.papers.ours import own_value
from plots.statistics.claims import INVALID

WHY = {
    "kind": "company",
    "reason": "another process computed on this GPU",
    "remedy": "end it and measure again",
}


def disturbed(document: dict, index: int = 0) -> dict:
    """The document with one group that is not valid."""
    found = copy.deepcopy(document)
    group = found["groups"][index]
    group["invalid"] = [WHY]
    group["probe"] = {
        "round": [-1, 3], "wait_us": [6.5, 2400.0],
        "arithmetic_cycles": [8560, 8561], "memory_us": [11.3, 15.0],
    }  # fmt: skip
    for comparison in group["comparisons"]:
        comparison["claim"] = INVALID
    return found


@pytest.fixture
def two() -> dict:
    """A file of two groups of one app."""
    sizes = (synthetic.hotspot_size(n) for n in (1024, 8192))
    return synthetic.document([synthetic.group("hotspot", size, 1.0) for size in sizes])


def test_an_invalid_group_is_read_and_left_out(two, save):
    path = save(disturbed(two))
    assert msgspec.to_builtins(read_document(path).groups[0].invalid) == [WHY]
    results = load([path])
    assert list(results.groups["group"]) == ["0.1"]
    for frame in (results.rows, results.comparisons, results.samples):
        assert set(frame["group"]) == {"0.1"}
    notes = [note for note in results.notes if "is left out" in note]
    assert len(notes) == 1 and "rows=1024" in notes[0] and str(path) in notes[0]
    assert "another process computed on this GPU; end it and measure again." in notes[0]


def test_a_valid_measurement_stands_for_an_invalid_later_one(two, save):
    later = disturbed(two)
    later["provenance"]["date_utc"] = "2026-11-22T10:15:00Z"
    results = load([save(two, "a.json"), save(later, "b.json")])
    dates = dict(zip(results.groups["size_label"], results.groups["date"], strict=True))
    assert sorted(dates.values()) == ["2026-11-21T10:15:00Z", "2026-11-22T10:15:00Z"]


def test_a_disturbed_microbenchmark_is_left_out_and_told(save):
    names = ("memory/latency", "twin/strategies")
    made = synthetic.document([])
    at = {"strategy": "tma", "rows": "16", "row_bytes": "512", "threads": "256"}
    made["microbenchmarks"] = [
        synthetic.microbenchmark(name, [synthetic.micro_row(at, 1.0, "speedup", "x")])
        for name in names
    ]
    whole = save(made, "whole.json")
    assert list(load([whole]).points["microbenchmark"]) == list(names)
    assert len(recorded_twins([whole])) == 1
    for of in made["microbenchmarks"]:
        of["invalid"] = [WHY]
    path = save(made, "disturbed.json")
    results = load([path])
    assert results.points.empty and results.findings.empty
    assert [note for note in results.notes if "is left out" in note] == [
        f"{name} in {path} is left out, because its measurement is not valid: company: "
        "another process computed on this GPU; end it and measure again."
        for name in names
    ]
    assert recorded_twins([path]) == []


def test_advice_and_report_are_made_from_the_others(two, save, capsys, tmp_path):
    path, page = save(disturbed(two)), tmp_path / "report.html"
    assert main(["advise", str(path)]) == 0
    said = capsys.readouterr().out
    assert "8192" in said and "1024" not in said
    assert main(["report", str(path), "--out", str(page)]) == 0
    assert "another process computed on this GPU" in page.read_text(encoding="utf-8")
    capsys.readouterr()


def test_no_published_value_is_compared_with_it(two, save):
    size = ";".join(f"{k}={v}" for k, v in two["groups"][0]["key"]["size"].items())
    wanted = f"speedup hotspot/tma best {size};cache=cold;launch=stream"
    assert own_value(load([save(two)]).recorded, wanted)[0] is not None
    assert own_value(load([save(disturbed(two))]).recorded, wanted)[0] is None
