"""Profiles: found, refused, joined to rows; which counters explain a difference."""

import json
import math
import re
from types import SimpleNamespace

import planted
import pytest

from plots.data.documents import find_files
from plots.data.load import load
from plots.data.profiles import Profile, find_profiles, load_profiles, profiles_beside
from plots.data.strategies import ROOT
from plots.errors import PlotsError, ResultFileError
from plots.judge.attribution import (
    LEAST,
    SHARE,
    Run,
    attributions,
    cancelled,
    cycle_parts,
    explain,
    run_of,
)


@pytest.fixture
def results(save):
    return save(planted.document([planted.group("nw", {"n": 64}, 1.0)]), "r/results.json")


def save_profile(save, path, name="r/profile.json", **changes):
    document = json.loads(path.read_text())
    return save(planted.profile(document, lambda row: planted.counters(**changes)), name)


def test_a_profile_is_found_beside_results_and_is_none_itself(save, results):
    profile = save_profile(save, results)
    assert find_profiles([results.parent]) == [profile] == find_profiles([results, profile])
    assert len(profiles_beside(load([results]))) == len(load_profiles([profile])) > 0
    found, notes = find_files([results.parent])
    assert found == [results] and notes == []
    assert find_files([results, profile])[0] == [results]
    assert load([results, profile]).notes == load([results]).notes
    with pytest.raises(PlotsError, match="a profile, which python -m plots why reads"):
        find_files([profile])


def test_counters_come_to_the_row_they_were_counted_of(save, results):
    document = json.loads(results.read_text())

    def counted(row):
        best_tma = row["variant"] == "nw/tma" and row["role"] == "best"
        return planted.counters(instructions=7.0 if best_tma else 9.0, dram_use=None)

    profiles = load_profiles([save(planted.profile(document, counted), "r/profile.json")])
    found = {
        (r.variant, r.role): profiles.of(r)["instructions"]
        for r in load([results]).rows.itertuples()
        if r.repeat == 0
    }
    assert found["nw/tma", "best"] == 7
    assert found["nw/tma", "iso"] == found["nw/baseline", "best"] == 9
    profile = next(iter(profiles.by_key.values()))
    assert profile["dram_use"] is None and profile.stalls["barrier"] == 0.2


def change_rows(**changed):
    return lambda d: [row.update(changed) for row in d["groups"][0]["rows"]]


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        (change_rows(variant="nw/dsm"), False),
        (change_rows(config="other"), False),
        (change_rows(source_digest="cd" * 32), True),
        (lambda d: d["groups"][0]["key"].update(size={"n": 65}), False),
        (lambda d: d["groups"][0]["key"].update(cache="hot"), False),
        (lambda d: d["groups"][0]["key"].update(launch="graph"), False),
        (lambda d: d["provenance"].update(device=planted.A100), False),
    ],
)
def test_of_another_row_nothing_is_taken(save, results, change, is_stale):
    document = planted.profile(json.loads(results.read_text()), lambda row: planted.counters())
    document = json.loads(json.dumps(document))
    change(document)
    profiles = load_profiles([save(document, "r/profile.json")])
    rows = load([results]).rows
    (tma,) = rows[(rows["variant"] == "nw/tma") & (rows["role"] == "best")].itertuples()
    assert len(profiles) and profiles.of(tma) is None
    assert bool(profiles.of_other_code(load([results]))) == is_stale


def test_a_damaged_or_foreign_file_is_refused_in_one_line(save, results):
    path = save_profile(save, results)
    whole = path.read_text()
    wrong = json.loads(whole)
    wrong["groups"][0]["rows"][0]["role"] = "isso"
    for text, expected in (
        (whole.replace("100000.0", "100001.0", 1), "was changed or damaged"),
        (planted.sealed(wrong), "Invalid enum value 'isso'"),
        (whole[:-20], "was changed or damaged"),
        (whole.replace('"version":2', '"version":3', 1), "version 3 is newer than this program"),
        (whole.replace('"version":2', '"version":1', 1), "is a profile file of format 1, which"),
    ):
        path.write_text(text)
        with pytest.raises(ResultFileError, match=expected) as error:
            load_profiles([path])
        assert str(path) in str(error.value) and "\n" not in str(error.value)


# --- Which counters explain a difference ----------------------------------------------------------


KEY = ("NVIDIA H200", "nw", "n=64", "cold", "stream", "nw/tma", "iso", "ab")


def run(stalls=None, cycles=1000.0, busy=0.9, **changes):
    """A run of so many cycles, in a share of which its busiest SM holds a warp."""
    known = {"cycles": cycles, "time_ms": 1e-6 * cycles, "busiest_cycles": busy * cycles}
    values = planted.counters(stalls, **{**known, **changes})
    shares = values.pop("stalls")
    profile = Profile(KEY, {n: v for n, v in values.items() if v is not None}, shares)
    return Run(profile, cycles, 1e-6 * cycles)  # at 1000 MHz


def said(mine, theirs):
    verdict, parts, text = explain(mine, theirs)
    return verdict, [part.cause.name for part in parts], text


def test_the_parts_of_the_cycles_add_up_to_them():
    parts = cycle_parts(run())
    assert sum(parts.values()) == pytest.approx(1000)
    assert parts["idle"] == pytest.approx(100)
    assert parts["issue"] == pytest.approx(225)
    # 675 cycles without an issue, by waits of 0.5, 0.2 and 0.1
    assert parts["memory"] == pytest.approx(675 * 0.5 / 0.8)
    assert parts["barriers"] == pytest.approx(675 * 0.2 / 0.8)
    assert parts["dependences"] == pytest.approx(675 * 0.1 / 0.8)


@pytest.mark.parametrize("missing", ["busiest_cycles", "issue_slots", "stalls"])
def test_without_what_divides_cycles_nothing_is_explained(missing):
    changes = {"stalls": {}} if missing == "stalls" else {missing: None}
    bare = run(**changes)
    assert cycle_parts(bare) is None
    assert explain(bare, run(cycles=1500.0))[0] == "no counters"
    assert explain(None, run(cycles=1500.0))[0] == "no counters"


# What the other row counts, what this one counts, the causes that are named, and words of it.
WAITS = {"selected": 0.2, "short_scoreboard": 0.8}
EXPLAINED = {
    "fewer instructions": (
        run(issue_slots=0.9, busy=1.0),
        run(issue_slots=0.9, busy=1.0, cycles=620.0, instructions=62_000.0),
        ["issue"], "it issues 38 % fewer instructions (90 % of the difference)",
    ),
    "fewer instructions in a kernel that waits": (
        run(issue_slots=0.02, busy=1.0),
        run(issue_slots=0.004, busy=1.0, cycles=700.0, instructions=10_000.0),
        ["memory"], "it waits",
    ),
    "fewer bytes": (
        run(), run(cycles=600.0, dram_read_bytes=2e6),
        ["memory"],
        "less for L1, L2 or DRAM (long scoreboard) with 40 % fewer bytes from and to DRAM",
    ),
    "the same bytes in less time": (
        run(dram_use=0.61), run(cycles=700.0, dram_use=0.84),
        ["memory"], "with the same bytes, DRAM used at 84 % against 61 %",
    ),
    "what goes the other way": (
        run({"selected": 0.1, "barrier": 0.9}, issue_slots=0.2, busy=1.0),
        run({"selected": 1.0}, issue_slots=1.0, busy=1.0, cycles=400.0, instructions=200_000.0),
        ["barriers", "issue"], ", although it issues 2.0 times the instructions (33 %)",
    ),
    "bank conflicts": (
        run(WAITS, shared_passes=40_000.0, shared_conflicts=20_000.0),
        run(WAITS, cycles=500.0, shared_passes=20_000.0, shared_conflicts=0.0),
        ["shared memory"], "bank conflicts in 0 % of them against 50 %",
    ),
    "idle SMs": (
        run(busy=0.5), run(busy=1.0, cycles=500.0),
        ["idle"], "it leaves its busiest SM without work 100 % less (100 % of the difference)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("theirs", "mine", "causes", "words"), EXPLAINED.values(), ids=EXPLAINED)
def test_the_cause_is_named(theirs, mine, causes, words):
    verdict, named, text = said(mine, theirs)
    assert (verdict, named) == ("explained", causes)
    assert words in text
    if "instructions" not in words:
        assert "instructions" not in text


def test_shares_of_a_peak_are_of_the_run_and_not_of_what_the_profiler_adds():
    # Three quarters of what was counted is between the marks and not of the run.
    stretched = run(dram_use=0.2)
    counters = {**stretched.profile.counters, "cycles": 4000.0}
    stretched = Run(Profile(KEY, counters, {}), stretched.cycles, stretched.milliseconds)
    assert stretched.use("dram_use") == pytest.approx(0.8)
    assert stretched.use("tma_use") is None


def test_the_cycles_are_those_of_the_measured_time_at_its_clock():
    profile = run(busy=0.5).profile  # at 1000 MHz
    row = SimpleNamespace(median=2e-3, sm_clock_mhz=800.0)
    assert run_of(profile, row).cycles == pytest.approx(1600)
    assert run_of(profile, row, 4e-3).cycles == pytest.approx(3200)
    unknown = SimpleNamespace(median=2e-3, sm_clock_mhz=math.nan)
    assert run_of(profile, unknown).cycles == pytest.approx(2000)
    assert cycle_parts(run_of(profile, row))["idle"] == pytest.approx(1600 - 500)
    assert run_of(None, row) is None


# Contradictions.


def at_1250_mhz(cycles):
    return Run(run(cycles=cycles).profile, cycles, 1e-6 * cycles / 1.25)


BUSIER = "busiest SM had work for 12 % more cycles than the measured time has."
OF_CLOCKS = "most of it is the SM clock, 1250 MHz against 1000."
# Of each of five parts a fifth less.
FIFTHS = dict.fromkeys(
    ("long_scoreboard", "barrier", "short_scoreboard", "wait", "no_instruction"), 0.2
)
SPREAD = {"stalls": {"selected": 0.1, **FIFTHS}, "issue_slots": 0.05, "busy": 1.0}
UNEXPLAINED = {
    "busier than it is long": (
        run(), run(cycles=800.0, busy=1.12), f"under the profiler its {BUSIER}",
    ),
    "so is the other": (
        run(cycles=800.0, busy=1.12), run(), f"under the profiler the other's {BUSIER}",
    ),
    **{f"clocks, {n:g} cycles": (run(), at_1250_mhz(n), OF_CLOCKS) for n in (1000, 1010, 960)},
    "as small as counting twice differs by": (
        run(), run(cycles=1012.0, busy=0.9 / 1.012),
        "the difference, 1.2 % of the cycles, is smaller than what counting twice differs by.",
    ),
    "spread over many parts": (
        run(**SPREAD), run(cycles=800.0, **SPREAD), "no counter explains it: the difference is",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("theirs", "mine", "words"), UNEXPLAINED.values(), ids=UNEXPLAINED)
def test_what_has_no_explanation_is_said(theirs, mine, words):
    verdict, parts, text = said(mine, theirs)
    assert (verdict, parts) == ("unexplained", []) and words in text


def test_what_is_a_little_more_is_explained():
    assert said(at_1250_mhz(780.0), run())[0] == "explained"
    assert said(run(cycles=1018.0, busy=0.9 / 1.018), run())[1] == ["idle"]
    assert 0.012 < LEAST < 0.018 and SHARE > 0.95 / 5


def test_parts_that_cancel_are_said_to_and_have_no_percentages():
    stalls = {"selected": 0.2, "long_scoreboard": 0.6, "barrier": 0.2}
    theirs = run(stalls, busy=1.0)
    mine = run({**stalls, "long_scoreboard": 0.2, "barrier": 0.6}, busy=1.0, cycles=900.0)
    verdict, parts, text = explain(mine, theirs)
    assert verdict == "explained"
    # 750 cycles of waiting are 562 of memory and 188 of barriers; 675 are 169 and 506; the rest of
    # the difference is issuing.
    assert [round(part.share, 2) for part in parts] == [3.94, 0.25, -3.19]
    assert cancelled(parts) == pytest.approx(3.19, abs=0.01)
    assert text.startswith("parts of 3.2 times the difference cancel: it waits 70 % less for L1")
    assert ", although it waits 2.7 times as long for barriers (barrier stalls)" in text
    assert "of the difference)" not in text and "%)" not in text
    # A part of 1.25 times the difference against one of a quarter is what it was.
    _, parts, text = explain(run(stalls, cycles=900.0, busy=1.0), theirs)
    assert not cancelled(parts) and "of the difference)" in text


# Over results.


def faster_by_instructions(row):
    """tma has half the instructions of the others, and all issue for all of their time."""
    tma = row["variant"].endswith("/tma")
    busy = 1.98e6 * row["time_ms"]["median"]
    return planted.counters(
        {"selected": 1.0}, busiest_cycles=busy, cycles=3 * busy, issue_slots=1.0,
        instructions=5e4 if tma else 1e5,
    )  # fmt: skip


@pytest.fixture
def matched(save, matched_file):
    document = json.loads(matched_file.read_text())
    save(planted.profile(document, faster_by_instructions), "profile.json")
    return matched_file


def test_each_resolved_difference_has_a_sentence(matched):
    results = load([matched])
    found = attributions(results, load_profiles([matched.parent]))
    resolved = results.comparisons[
        ~results.comparisons["control"]
        & results.comparisons["claim"].isin(["faster", "slower"])
        & (results.comparisons["size"] == "n=2048")
    ]
    assert len(found) == len(resolved) > 5
    assert all(a.verdict == "explained" for a in found)
    of_tma = next(a for a in found if a.strategy == "tma" and a.schedule == a.against_schedule)
    assert "tma ran 1.30×" in of_tma.sentence and "both with the schedule tall" in of_tma.sentence
    assert "it issues 50 % fewer instructions (100 % of the difference)" in of_tma.sentence
    every = attributions(results, load_profiles([matched.parent]), every_size=True)
    assert len(every) == 2 * len(found)


# The command.


def test_why_prints_a_sentence_for_each_and_their_number(ran, matched):
    said_ = ran(0, "why", matched.parent)
    assert said_.err == ""
    assert "nw n=2048 on NVIDIA H200, cold, stream:" in said_.out and "n=4096" not in said_.out
    assert "it issues 50 % fewer instructions" in said_.out
    assert "resolved differences: " in said_.out
    assert len(ran(0, "why", matched.parent, "--role", "best").out) < len(said_.out)
    assert "n=4096" in ran(0, "why", matched.parent, "--all").out


def test_why_without_a_profile_says_how_to_get_one(ran, matched):
    said_ = ran(0, "why", matched)
    assert said_.out.endswith("No profile is among these files: make one with amasia profile.\n")
    assert "no counters of both rows" not in said_.out


def test_why_speaks_of_the_gpus_that_were_profiled(ran, matched, save):
    """The newest one is not, and is left out aloud; chosen, it is spoken of."""
    group = planted.matched_group("nw", {"n": 2048}, 1.0)
    save(planted.document([group], gpu=planted.device("NVIDIA B200", 100)), "newer.json")
    said_ = ran(0, "why", matched.parent)
    assert "nw n=2048 on NVIDIA H200" in said_.out
    assert "0 without counters" in said_.out
    left_out = "Left out, since no counters of it are among these files: NVIDIA B200.\n"
    assert said_.out.endswith(left_out)
    said_ = ran(0, "why", matched.parent, "--gpu", "NVIDIA B200")
    assert " 0 explained, " in said_.out and "Left out" not in said_.out
    assert "Profiles of other GPUs: NVIDIA H200; choose one with --gpu." in said_.out


def test_the_recorded_counters_are_of_the_recorded_code_and_explain_it():
    folder = ROOT / "results" / "h200"
    paths = find_profiles([folder])
    apps = {path.name.split(".")[0].removeprefix("paper-") for path in folder.glob("paper-*")}
    counted = {path.name.split(".")[0].removeprefix("profile-") for path in paths}
    # Counters are recorded last: an app that was recorded in part has none.
    assert counted and counted <= apps
    profiles, results = load_profiles([folder]), load([folder])
    assert profiles.of_other_code(results) == []
    # Rows that were the match of a strategy's best, which is recorded no more, were not counted.
    best = results.rows[results.rows["role"] == "best"]
    case = ["app", "size_label", "cache", "launch", "schedule"]
    matched = set(best[case].itertuples(index=False, name=None))
    # These were counted at their best configs alone.
    best_alone = {(app, "iso") for app in ("cfd", "lavamd", "lud")}
    found = [
        a
        for a in attributions(results, profiles)
        if a.app in counted
        and (a.app, a.schedule) not in best_alone
        and (a.role != "matched" or tuple(getattr(a, part) for part in case) in matched)
    ]
    assert not [a.sentence for a in found if a.verdict == "no counters"]
    assert {a.app for a in found} == counted
    # With each session smaller differences are resolved, down to what counting twice differs by.
    # From here on a part that is half of one is large enough to be named.
    large = [a for a in found if abs(math.log(a.ratio)) > 2 * LEAST]
    left = {(a.app, a.strategy, a.schedule) for a in large if a.verdict != "explained"}
    assert len(large) >= 40 and left == set()
    assert 100 * sum(a.verdict == "explained" for a in found) >= 80 * len(found)
    # A share of many times the difference would be one of what other parts cancel.
    shares = [int(s) for a in found for s in re.findall(r"\((\d+) % of the diff", a.sentence)]
    assert len(shares) > len(apps) and max(shares) <= 200
    assert not [a.sentence for a in found if "waiting for nothing" in a.sentence]
