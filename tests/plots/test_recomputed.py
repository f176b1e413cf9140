"""What does not follow from the samples is refused, by the same rules as in the harness."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import synthetic

from plots.cli import main
from plots.data import recomputed
from plots.data.documents import read_document
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import ResultFileError

RECORDED = sorted((ROOT / "results").rglob("*.json"))


def at(document, path):
    """The object that holds the last step of a path such as "groups[0].rows[2].gflops", and that
    step."""
    *steps, last = re.findall(r"[^.\[\]]+", path)
    place = document
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    return place, int(last) if isinstance(place, list) else last


def document():
    micro = synthetic.memory_like()["microbenchmarks"]
    found = synthetic.document([synthetic.matched_group("nw", {"n": 64}, 1.0, comparator="lib")])
    found["microbenchmarks"] = micro
    return found


CHANGES = {
    "ceilings[0].value": lambda v: 1.01 * v,
    "ceilings[0].samples": lambda v: [],
    "groups[0].floor.bytes_ms": lambda v: 0.9 * v,
    "groups[0].floor.operations_ms": lambda v: 1.01 * v,
    "groups[0].floor.dependency_ms": lambda v: 2 * v,
    "groups[0].floor.floor_ms": lambda v: 1.01 * v,
    "groups[0].floor.bound_by": lambda v: "operations",
    "groups[0].rounds": lambda v: 22,
    "groups[0].rows[1].time_ms.median": lambda v: 0.99 * v,
    "groups[0].rows[1].time_ms.low": lambda v: 0.999 * v,
    "groups[0].rows[1].time_ms.coverage": lambda v: 0.999,
    "groups[0].rows[1].time_ms.n": lambda v: 20,
    "groups[0].rows[1].time_ms.minimum": lambda v: 0.99 * v,
    "groups[0].rows[1].time_ms.maximum": lambda v: 1.01 * v,
    "groups[0].rows[1].time_ms": lambda v: None,
    "groups[0].rows[1].floor_fraction": lambda v: 1.01 * v,
    "groups[0].rows[1].gflops": lambda v: 1.01 * v,
    "groups[0].rows[1].gbytes_per_s": lambda v: None,
    "groups[0].comparisons[0].speedup.ratio": lambda v: 9.99,
    "groups[0].comparisons[0].speedup.low": lambda v: 0.99 * v,
    "groups[0].comparisons[0].speedup.high": lambda v: 1.01 * v,
    "groups[0].comparisons[0].speedup.coverage": lambda v: 0.95,
    "groups[0].comparisons[0].speedup.n": lambda v: 20,
    "groups[0].comparisons[0].speedup.resolved": lambda v: not v,
    "groups[0].comparisons[0].verdict": lambda v: "slower",
    "groups[0].comparisons[0].claim": lambda v: "within A/A noise",
    "microbenchmarks[0].rows[0].value.median": lambda v: 1.01 * v,
    "microbenchmarks[0].rows[0].value": lambda v: None,
    "microbenchmarks[0].rows[0].cycles": lambda v: v + 1,
    "microbenchmarks[0].rows[0].time_ns": lambda v: 5.0,
    "microbenchmarks[0].rows[0].clock_mhz": lambda v: None,
}


@pytest.mark.parametrize("path", CHANGES)
def test_each_member_that_follows_is_named_when_it_was_changed(save, path):
    changed = document()
    recomputed.check(changed)
    place, last = at(changed, path)
    place[last] = CHANGES[path](place[last])
    with pytest.raises(ResultFileError) as caught:
        load([save(changed)])
    message = str(caught.value)
    shown = "ceilings[0].value" if path == "ceilings[0].samples" else path
    assert f" at {shown} (" in message and "expected " in message and ", found " in message
    assert " have it, at " in message and "\n" not in message


@pytest.mark.parametrize("path", ["groups[0].comparisons", "groups[0].rows"])
def test_what_is_not_compared_any_more_is_missed(save, path):
    changed = document()
    place, last = at(changed, path)
    place[last] = place[last][:1] + place[last][2:]
    with pytest.raises(ResultFileError, match=r"have it, at groups\[0\].comparisons"):
        load([save(changed)])


def test_a_sample_that_was_changed_is_missed(save):
    changed = document()
    times = changed["groups"][0]["rows"][1]["samples"]["time_ms"]
    times[times.index(min(times))] *= 0.999
    with pytest.raises(ResultFileError, match=r"rows\[1\].time_ms.minimum"):
        load([save(changed)])


def test_a_row_that_is_not_right_has_no_samples(save):
    changed = document()
    changed["groups"][0]["rows"][1]["status"] = "crashed"
    with pytest.raises(ResultFileError, match="expected no samples of a row that is crashed"):
        load([save(changed)])
    changed = document()
    changed["groups"][0]["rows"][1]["verdict"]["passed"] = False
    with pytest.raises(ResultFileError, match=r"expected failed, as its verdict .* found ok"):
        load([save(changed)])


@pytest.mark.parametrize("column", ["value", "cycles", "time_ns", "clock_mhz"])
def test_columns_of_readings_have_one_length(save, column):
    changed = document()
    changed["microbenchmarks"][0]["rows"][0]["samples"][column].pop()
    with pytest.raises(ResultFileError, match=r"columns of one length at microbenchmarks\[0\]"):
        load([save(changed)])


def test_rounds_ascend(save):
    changed = document()
    changed["groups"][0]["rows"][1]["samples"]["round"][5] = 4
    with pytest.raises(ResultFileError, match=r"because rounds ascend, at .*samples.round\[5\]"):
        load([save(changed)])


@pytest.mark.parametrize("wrong", ["", "95 %", "nan", "1", "0", "-1"])
def test_the_confidence_is_a_number(save, wrong):
    changed = document()
    changed["provenance"]["settings"]["confidence"] = wrong
    with pytest.raises(ResultFileError, match="expected a number between 0 and 1"):
        load([save(changed)])


def test_the_confidence_is_the_one_that_was_asked_for(save):
    changed = document()
    changed["provenance"]["settings"]["confidence"] = "0.9"
    with pytest.raises(ResultFileError, match="time_ms"):
        load([save(changed)])


def test_a_floor_may_come_from_any_sample_of_a_ceiling(save):
    """As in a merged file, whose floors are those of its parts."""
    changed = document()
    (group,) = changed["groups"]
    part = {c["name"]: min(c["samples"]) for c in changed["ceilings"]}
    group["floor"] = recomputed.floor_of(group["work"], part)
    synthetic.summarise(group)
    load([save(changed)])
    part = {name: 0.999 * value for name, value in part.items()}
    group["floor"] = recomputed.floor_of(group["work"], part)
    synthetic.summarise(group)
    with pytest.raises(ResultFileError, match=r"as the ceilings have it, at groups\[0\].floor"):
        load([save(changed)])


def test_a_name_from_a_file_neither_breaks_nor_floods_the_line(save):
    name = "x\n\x1b[2J" + 5000 * "y"
    changed = synthetic.document([synthetic.group("nw", {"file": name}, 1.0)])
    changed["groups"][0]["rounds"] = 22
    with pytest.raises(ResultFileError) as caught:
        load([save(changed)])
    assert "(nw file=x??[2Jyyy" in str(caught.value) and len(str(caught.value)) < 700


def test_times_without_a_quotient_are_one_line(save):
    changed = document()
    rows = changed["groups"][0]["rows"]
    rows[0]["samples"]["time_ms"] = [1e308] * 21
    rows[1]["samples"]["time_ms"] = [5e-324] * 21
    changed["groups"][0]["floor"] = None
    summaries = recomputed.row_summaries(changed["groups"][0], 0.95)
    for row, summary in zip(rows[:2], summaries[:2], strict=True):
        row.update(summary)
    for row in rows:
        row["floor_fraction"] = None
    with pytest.raises(ResultFileError, match=r"samples that can be compared at groups\[0\]"):
        load([save(changed)])


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_recorded_files_follow_from_their_samples(path: Path):
    if json.loads(path.read_text(encoding="utf-8"))["schema"] == "amasia-result":
        read_document(path)


def test_an_edited_ratio_in_a_recorded_file_is_status_2(tmp_path, capsys):
    changed = json.loads((ROOT / "results" / "h200" / "sweep-nw.json").read_text(encoding="utf-8"))
    comparison = changed["groups"][0]["comparisons"][1]
    right = comparison["speedup"]["ratio"]
    comparison["speedup"]["ratio"] = 9.99
    file = tmp_path / "sweep-nw.json"
    file.write_text(json.dumps(changed), encoding="utf-8")
    assert main(["advise", str(file)]) == 2
    err = capsys.readouterr().err
    assert re.match(rf"plots: {re.escape(str(file))}: expected {str(right)[:12]}\d*, as the ", err)
    assert "at groups[0].comparisons[1].speedup.ratio (nw " in err
    assert err.endswith(", found 9.99\n") and err.count("\n") == 1
