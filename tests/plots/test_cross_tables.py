"""Tables of amasia run --roles cross: who is fastest with which schedule."""

from __future__ import annotations

import pytest
import synthetic

from plots.judge.cross_tables import table_of, without_time


def tabled(load_groups, **options):
    results = load_groups(synthetic.cross_group("nw", {"n": 64}, **options)).cross
    return table_of(results, results.groups.iloc[0]["group"])


def test_every_strategy_and_schedule_has_its_cell(load_groups):
    t = tabled(load_groups)
    assert t.strategies == ("baseline", "overlap", "tma", "dsm")
    assert t.schedules == ("iso", "wide", "tall")  # as the app names them
    assert len(t.cells) == 12
    cell = t.cells["tma", "tall"]
    assert cell.kind == "ok" and abs(cell.median - 1) < 0.01
    assert cell.movement.ratio == pytest.approx(1.6) and cell.movement.claim == "faster"
    assert t.cells["baseline", "tall"].movement is None  # its control is no gain
    assert t.cells["dsm", "tall"].movement.claim == "not resolved"


def test_winners_and_those_not_told_apart_from_them(load_groups):
    t = tabled(load_groups)
    assert t.winners == {"iso": "tma", "wide": "tma", "tall": "tma"}
    assert t.even == {"iso": (), "wide": ("overlap",), "tall": ()}


def test_a_lead_that_is_not_resolved_is_said(load_groups):
    crossed = {"baseline": {"iso": 1.0}, "tma": {"iso": 1.0001}}
    t = tabled(load_groups, crossed=crossed)
    assert "are not statistically distinguishable" in t.sentence()
    assert not t.lead.resolved and t.even["iso"] == (t.second.strategy,)


def test_cells_without_a_time_say_why_once(load_groups):
    crossed = {
        "baseline": {"iso": 1.0, "wide": 1.0, "tall": 1.0},
        "dsm": {
            "iso": "schedule iso: nothing to share", "wide": "schedule wide: nothing to share",
            "tall": "needs sm_90, this GPU is sm_80",
        },
    }  # fmt: skip
    t = tabled(load_groups, crossed=crossed)
    assert {t.cells["dsm", s].kind for s in ("iso", "wide")} == {"declined"}
    assert t.cells["dsm", "tall"].kind == "skipped"  # the GPU cannot; the strategy could
    assert without_time(t) == [
        ("dsm declines: nothing to share", ["iso", "wide"]),
        ("dsm skipped: needs sm_90, this GPU is sm_80", ["tall"]),
    ]
    fastest, left_out = t.sentence().split("\n")
    assert fastest.endswith("no other strategy has a time.")
    assert left_out == "dsm runs with no schedule: nothing to share."
    assert t.strategies == ("baseline",) and t.never_ran == ("dsm",)


OTHER = "computes in mode bf16, not fp32"


def test_schedules_that_run_with_no_strategy_are_a_sentence_and_no_columns(load_groups):
    """As of gemm, most schedules of which compute in another mode than that of the table."""
    t = tabled(
        load_groups,
        crossed={
            "baseline": {"iso": 2.0, "a": OTHER, "b": OTHER, "c": "too large"},
            "tma": {"iso": 1.0, "a": OTHER, "b": "schedule b: own", "c": "too large"},
            "dsm": {"iso": 1.1, "a": OTHER, "b": OTHER, "c": "schedule c: own"},
        },
    )
    assert t.schedules == ("iso",) and t.left_out == ("a", "b", "c")
    said = t.sentence().replace("\n", " ")
    assert said.endswith(f"3 of 4 schedules run with no strategy: {OTHER} (2); too large (1).")
    assert len(t.cells) == 12  # nothing is lost
    assert without_time(t) == [
        (f"baseline, dsm skipped: {OTHER}", ["a", "b"]),
        (f"tma skipped: {OTHER}", ["a"]),
        ("tma declines: own", ["b"]),
        ("baseline, tma skipped: too large", ["c"]),
        ("dsm declines: own", ["c"]),
    ]


def test_a_column_with_a_failure_stays(load_groups):
    group = synthetic.cross_group(
        "nw", {"n": 64}, crossed={"baseline": {"iso": 2.0, "a": OTHER}, "tma": {"iso": 1.0, "a": 1}}
    )
    row = next(r for r in group["rows"] if r["variant"] == "nw/tma" and r["schedule"] == "a")
    synthetic.fail(row, "crashed", "hung")
    results = load_groups(group).cross
    t = table_of(results, results.groups.iloc[0]["group"])
    assert t.schedules == ("iso", "a") and t.left_out == ()
