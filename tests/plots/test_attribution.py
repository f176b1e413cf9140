"""Attribution: which counters explain a difference, by the rule, on synthetic counters."""

from __future__ import annotations

import json
import math

import known_effects
import pytest
import synthetic
import synthetic_profiles

from plots.attribution import (
    CAUSES,
    SHARE,
    attributions,
    cycle_parts,
    dose_checks,
    explain,
    main_cause,
    sums_up,
)
from plots.cli import main
from plots.load import load
from plots.profiles import Profile, load_profiles

KEY = ("NVIDIA H200", "nw", "n=64", "cold", "stream", "nw/tma", "iso", "ab")


def profile(stalls=None, **changes):
    values = synthetic_profiles.counters(stalls, **changes)
    shares = values.pop("stalls")
    return Profile(KEY, {name: v for name, v in values.items() if v is not None}, shares)


def said(mine, theirs, ratio=None):
    """What is said of a row whose time follows its cycles, unless told otherwise."""
    ratio = theirs["cycles"] / mine["cycles"] if ratio is None else ratio
    verdict, parts, text = explain(mine, theirs, ratio)
    return verdict, [part.cause.name for part in parts], text


def test_the_parts_of_the_cycles_add_up_to_them():
    parts = cycle_parts(profile())
    assert sum(parts.values()) == pytest.approx(1000)
    assert parts["idle"] == pytest.approx(100)
    assert parts["issue"] == pytest.approx(225)
    # 675 cycles without an issue, by waits of 0.5, 0.2 and 0.1
    assert parts["memory"] == pytest.approx(675 * 0.5 / 0.8)
    assert parts["barriers"] == pytest.approx(675 * 0.2 / 0.8)
    assert parts["dependences"] == pytest.approx(675 * 0.1 / 0.8)


def test_a_reason_that_is_not_known_is_something_else():
    parts = cycle_parts(profile({"selected": 0.5, "of_a_later_gpu": 0.5}))
    assert parts["other"] == pytest.approx(675)


@pytest.mark.parametrize("missing", ["cycles", "sm_busy", "issue_slots", "stalls"])
def test_without_what_divides_cycles_nothing_is_explained(missing):
    changes = {"stalls": {}} if missing == "stalls" else {missing: None}
    bare = profile(**changes)
    assert cycle_parts(bare) is None and main_cause(bare) is None
    assert explain(bare, profile(), 1.5)[0] == "no counters"
    assert explain(None, profile(), 1.5)[0] == "no counters"


def test_fewer_instructions_are_named_where_issuing_takes_the_time():
    # Both issue in nine of ten cycles; one has 38 % fewer to issue.
    theirs = profile(issue_slots=0.9, sm_busy=1.0)
    mine = profile(issue_slots=0.9, sm_busy=1.0, cycles=620.0, instructions=62_000.0)
    verdict, causes, text = said(mine, theirs)
    assert verdict == "explained" and causes == ["issue"]
    assert "it issues 38 % fewer instructions (90 % of the difference)" in text
    assert text.endswith("Both mostly issue instructions (90 % and 90 %).")


def test_a_counter_that_differs_where_no_time_is_spent_is_not_named():
    # A tenth of the instructions, in a kernel that hardly issues: the difference is in waiting.
    theirs = profile(issue_slots=0.02, sm_busy=1.0)
    mine = profile(issue_slots=0.004, sm_busy=1.0, cycles=700.0, instructions=10_000.0)
    _, causes, text = said(mine, theirs)
    assert causes == ["memory"] or causes == ["memory", "barriers"]
    assert "instructions" not in text


def test_bytes_are_named_behind_waits_for_memory_and_only_if_they_differ():
    theirs = profile()
    fewer = profile(cycles=600.0, dram_read_bytes=2e6)
    _, causes, text = said(fewer, theirs)
    assert causes[0] == "memory"
    assert "less for data from L1, L2 or DRAM with 40 % fewer bytes from and to DRAM" in text
    _, _, text = said(profile(cycles=600.0, dram_read_bytes=4.1e6), theirs)
    assert "bytes" not in text


def test_the_same_bytes_in_less_time_keep_dram_busier():
    theirs, mine = profile(dram_use=0.61), profile(cycles=700.0, dram_use=0.84)
    _, _, text = said(mine, theirs)
    assert "with the same bytes, DRAM used at 84 % against 61 %" in text
    assert text.endswith("Both wait for DRAM (84 % and 61 % of its peak).")


def test_what_goes_the_other_way_is_said_too():
    # Twice the instructions at the same cost each, and all waiting gone.
    theirs = profile({"selected": 0.1, "barrier": 0.9}, issue_slots=0.2, sm_busy=1.0)
    mine = profile(
        {"selected": 1.0}, issue_slots=1.0, sm_busy=1.0, cycles=400.0, instructions=200_000.0
    )
    verdict, causes, text = said(mine, theirs)
    assert verdict == "explained" and causes == ["barriers", "issue"]
    assert "waits 100 % less for other warps at barriers" in text
    assert ", although it issues 2.0 times the instructions (33 %)" in text


def test_conflicts_of_banks_stand_behind_waits_for_shared_memory():
    stalls = {"selected": 0.2, "short_scoreboard": 0.8}
    theirs = profile(stalls, shared_passes=40_000.0, shared_conflicts=20_000.0)
    mine = profile(stalls, cycles=500.0, shared_passes=20_000.0, shared_conflicts=0.0)
    _, causes, text = said(mine, theirs)
    assert causes[0] == "shared memory"
    assert "50 % fewer passes through shared memory" in text
    assert "conflicts of banks in 0 % of them against 50 %" in text


def test_idle_sms_are_named():
    theirs = profile(sm_busy=0.5)
    mine = profile(sm_busy=1.0, cycles=500.0)
    verdict, causes, text = said(mine, theirs)
    assert (verdict, causes) == ("explained", ["idle"])
    assert "it leaves SMs without work 100 % less (100 % of the difference)" in text


# Contradictions.


@pytest.mark.parametrize(
    ("cycles", "how"),
    [(1100.0, "10 % more cycles"), (1000.0, "as many cycles"), (960.0, "4 % fewer cycles")],
)
def test_a_difference_that_the_profiler_does_not_see_has_no_explanation(cycles, how):
    # Measured 1.3 times as fast; whatever the counters say, it is not that.
    mine = profile(cycles=cycles, instructions=10.0, dram_read_bytes=1.0)
    verdict, parts, text = said(mine, profile(), ratio=1.3)
    assert (verdict, parts) == ("unexplained", [])
    assert text == f"no counter explains it: under the profiler it took {how}."


def test_half_of_a_difference_is_enough_to_be_seen_and_less_is_not():
    seen = profile(cycles=1000 / math.sqrt(1.21) * 0.999)
    assert said(seen, profile(), ratio=1.21)[0] == "explained"
    assert said(profile(cycles=1000 / 1.0999), profile(), ratio=1.21)[0] == "unexplained"


def test_a_difference_spread_over_many_parts_has_no_explanation():
    # Of each of five parts a fifth less.
    stalls = {
        "selected": 0.1, "long_scoreboard": 0.2, "barrier": 0.2, "short_scoreboard": 0.2,
        "wait": 0.2, "no_instruction": 0.2,
    }  # fmt: skip
    theirs = profile(stalls, issue_slots=0.05, sm_busy=1.0)
    mine = profile(stalls, issue_slots=0.05, sm_busy=1.0, cycles=800.0)
    verdict, parts, text = said(mine, theirs)
    assert (verdict, parts) == ("unexplained", [])
    assert text.startswith("no counter explains it: the difference is spread")
    assert SHARE > 0.95 / 5


def test_slower_rows_are_explained_by_more():
    theirs, mine = profile(), profile(cycles=2000.0, dram_read_bytes=9e6)
    _, causes, text = said(mine, theirs)
    assert causes[0] == "memory"
    assert "waits 2.0 times as long for data from L1, L2 or DRAM with 2.0 times the bytes" in text


def test_every_cause_can_be_said():
    for cause in CAUSES:
        assert cause.waits_for


# Over results.


def faster_by_instructions(row):
    """tma has half the instructions of the others, and takes the time it took."""
    tma = row["variant"].endswith("/tma")
    cycles = 1e6 * row["time_ms"]["median"]
    return synthetic_profiles.counters(
        {"selected": 1.0}, cycles=cycles, issue_slots=1.0, sm_busy=1.0,
        instructions=5e4 if tma else 1e5,
    )  # fmt: skip


@pytest.fixture
def matched(save):
    groups = [synthetic.matched_group("nw", {"n": n}, 1.0, seed=n) for n in (2048, 4096)]
    document = synthetic.document(groups)
    path = save(document, "r/results.json")
    save(synthetic_profiles.document(document, faster_by_instructions), "r/profile.json")
    return path


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


def test_a_matched_row_that_would_repeat_the_best_is_that_one(matched):
    found = attributions(load([matched]), load_profiles([matched.parent]))
    assert not [a.sentence for a in found if a.verdict == "no counters"]


def test_what_is_not_resolved_is_not_explained(save):
    document = synthetic.document([synthetic.group("nw", {"n": 64}, 1.0, half=2.0)])
    path = save(document, "r/results.json")
    assert attributions(load([path]), load_profiles([path.parent])) == []


def test_the_counts_are_of_the_sentences(matched):
    found = attributions(load([matched]), load_profiles([matched.parent]))
    first, second = sums_up(found, [])
    assert first.startswith(f"{len(found)} resolved differences: {len(found)} explained, 0 that no")
    assert "is not checked" in second


# Against doses.


@pytest.fixture
def effects(save):
    document = known_effects.recording(known_effects.dosed_groups())
    path = save(document, "r/effects.json")

    def counted(row):
        return synthetic_profiles.counters()  # all of them wait for memory

    save(synthetic_profiles.document(document, counted), "r/profile.json")
    return path


def test_counters_are_held_against_what_doses_say(effects):
    results = load([effects])
    checks = dose_checks(results.effects, load_profiles([effects.parent]))
    assert {(c.base, c.by_doses, c.agrees) for c in checks} == {
        ("bytes", "bytes", True),
        ("operations", "operations", False),
        ("barriers", "barriers", False),
        ("barriers_beside", "barriers", False),
    }
    wrong = next(c for c in checks if c.base == "operations")
    assert wrong.sentence() == (
        "operations: its doses name operations, its counters memory (bytes): they do not agree"
    )
    assert "Of 4 kernels with a known answer the counters name in 1 the" in sums_up([], checks)[1]


def test_without_the_study_or_its_profile_nothing_is_checked(effects, matched):
    assert dose_checks(None, load_profiles([effects.parent])) == []
    assert dose_checks(load([effects]).effects, load_profiles([])) == []


# The command.


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    return status, capsys.readouterr()


def test_why_prints_a_sentence_for_each_and_their_number(capsys, matched):
    status, said_ = run(capsys, "why", matched.parent)
    assert status == 0 and said_.err == ""
    assert "nw n=2048 on NVIDIA H200, cold, stream:" in said_.out and "n=4096" not in said_.out
    assert "it issues 50 % fewer instructions" in said_.out
    assert "resolved differences: " in said_.out
    _, best = run(capsys, "why", matched.parent, "--role", "best")
    assert len(best.out) < len(said_.out)
    _, every = run(capsys, "why", matched.parent, "--all")
    assert "n=4096" in every.out


def test_why_without_a_profile_says_how_to_get_one(capsys, matched):
    status, said_ = run(capsys, "why", matched)
    assert status == 0
    assert said_.out.endswith("No profile is among these files: make one with amasia profile.\n")
    assert "no counters of both rows" not in said_.out


def test_why_names_profiles_of_other_code(capsys, matched, save):
    document = json.loads((matched.parent / "profile.json").read_text())
    for group in document["groups"]:
        for row in group["rows"]:
            row["source_digest"] = "cd" * 32
    save(document, "r/profile.json")
    _, said_ = run(capsys, "why", matched.parent)
    assert "Profiles of other code than was measured, which explain nothing: nw/base" in said_.out


def test_why_refuses_a_damaged_profile(capsys, matched):
    path = matched.parent / "profile.json"
    path.write_text(path.read_text().replace("100000.0", "1.0", 1))
    status, said_ = run(capsys, "why", matched.parent)
    assert status == 2 and "was changed or damaged" in said_.err
