"""Total gain = schedule gain x movement gain."""

from __future__ import annotations

import pytest
import synthetic

from plots.judge.gains import gains_of


@pytest.fixture
def gains(load_groups):
    """Strategy -> its gain, in the synthetic group."""
    results = load_groups(synthetic.matched_group("nw", {"n": 64}, 1.0))
    return {gain.strategy: gain for gain in gains_of(results)}


def test_each_part_is_the_comparison_that_it_should_be(gains):
    assert list(gains) == ["register_bypass", "overlap", "drop_off", "tma", "dsm"]
    for name, (schedule, by_schedule, by_movement, at_baseline) in synthetic.DIVIDED.items():
        gain = gains[name]
        assert (gain.schedule, gain.baseline_schedule) == (schedule, "wide")
        assert gain.total.ratio == pytest.approx(by_schedule * by_movement)
        assert gain.by_schedule.ratio == pytest.approx(by_schedule)
        assert gain.by_movement.ratio == pytest.approx(by_movement)
        assert gain.by_movement.low < by_movement < gain.by_movement.high
        if at_baseline is None:
            assert gain.at_baseline_schedule is None
        else:
            assert gain.at_baseline_schedule.ratio == pytest.approx(at_baseline)


def test_what_a_total_mostly_is(gains):
    assert {name: gain.nature for name, gain in gains.items()} == {
        "register_bypass": "movement", "overlap": "schedule", "drop_off": "not resolved",
        "tma": "movement", "dsm": "movement",
    }  # fmt: skip
    assert [name for name, gain in gains.items() if gain.opposed] == ["dsm"]


def test_a_matched_gain_inside_the_noise_is_not_claimed(load_groups):
    divided = {"tma": ("tall", 1.2, 1.002, 1.0)}  # the A/A interval reaches to 1.0034
    (gain,) = gains_of(
        load_groups(synthetic.matched_group("nw", {"n": 64}, 1.0, divided=divided, half=0.001))
    )
    assert gain.by_movement.low > 1 and gain.by_movement.claim == "within A/A noise"
    assert gain.nature == "not resolved"


def test_without_the_rows_that_tell_there_is_no_gain(load_groups, paper):
    assert gains_of(paper) == []
    group = synthetic.matched_group("nw", {"n": 64}, 1.0)
    group["rows"] = [
        r
        for r in group["rows"]
        if (r["variant"], r.get("schedule"), r["role"]) != ("nw/baseline", "tall", "matched")
    ]
    assert [g.strategy for g in gains_of(load_groups(group))] == [
        "register_bypass", "drop_off", "dsm",
    ]  # fmt: skip
