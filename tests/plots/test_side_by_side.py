"""Times and ratios that stand side by side are of the same sessions: they divide, wherever both are
printed."""

from __future__ import annotations

import pytest
import synthetic
import test_sessions
from whole_record import whole_record

from plots.advice.advise import advise
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.judge.beside import rows_beside, times_beside
from plots.papers.generations import steps
from plots.report.tables import row_records


def recorded():
    if not any((ROOT / "results").rglob("*.json.gz")):
        pytest.skip("nothing is recorded here")
    return whole_record()


def reference_of(record, times):
    """The time that a row's ratio is over, by what the page says of roles, or None."""
    group, schedule = record["group"], record["speedup"].against_schedule
    for role in {"comparator": ("best",), "matched": ("best", "matched")}.get(
        record["role"], (record["role"],)
    ):
        found = times.get((group, record["speedup"].against, role, schedule))
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("kind", ["compared", "cross"])
def test_the_table_of_all_rows_divides(kind):
    results = recorded() if kind == "compared" else recorded().cross
    records = row_records(results)
    times = {
        (r["group"], r["variant"], r["role"], r["speedup"].schedule if r["speedup"] else s): t
        for r in records
        for s, t in [(r["schedule"], r["beside_ms"])]
        if r["repeat"] == 0
    }
    count = 0
    for record in records:
        if record["speedup"] is None or record["repeat"]:
            continue
        reference = reference_of(record, times)
        assert reference is not None, record["row"]
        count += 1
        quotient = reference / record["beside_ms"]
        assert quotient == pytest.approx(record["speedup"].ratio, rel=1e-9), record["row"]
        if record["floor_fraction"] > 0:
            share = record["floor_ms"] / record["beside_ms"]
            assert record["reached"] == pytest.approx(share, rel=1e-6)
    assert count > 250


def test_between_two_gpus_times_and_ratios_divide_and_there_is_one_judge():
    results = recorded()
    gpus = [gpu for gpu in results.by_generation if (results.groups["gpu"] == gpu).any()]
    if len(gpus) < 2:
        pytest.skip("one GPU is recorded")
    new, old = (results.where(gpu=gpu) for gpu in gpus[:2])
    (step,) = steps([(new, old)])
    rows = step.measured.rows
    assert len(rows) > 50
    for r in rows.itertuples():
        assert r.old_ms / r.new_ms == pytest.approx(r.ratio, rel=1e-9)
    keys = ["app", "size_label", "cache", "launch", "strategy"]
    told = rows[rows["role"] == "best"].set_index(keys)
    same = 0
    for b in step.best.itertuples():
        product = b.hardware * b.new_software / b.old_software
        assert b.ratio == pytest.approx(product, rel=1e-9)
        if b.new_strategy == b.old_strategy:
            same += 1
            row = told.loc[(b.app, b.size_label, b.cache, b.launch, b.new_strategy)]
            for name in ("ratio", "low", "high", "resolved"):
                assert getattr(b, name) == row[name]
    assert same > 5


# --- Where sessions differ ------------------------------------------------------------------------


def later_session(save, clock=1.2):
    """tma was measured in a later session of the file alone, beside the baseline, at another clock:
    every time there is longer."""

    def of(ms, variant, date, best):
        speedups = {"baseline": (1.0, 1.0), variant: (1.1, best)}
        group = synthetic.group("nw", {"n": 64}, ms, speedups=speedups)
        return synthetic.document([group], date=date)

    first = of(3.0, "overlap", "2026-11-20T10:00:00Z", 1.2)
    later = of(3.0 * clock, "tma", "2026-11-21T10:00:00Z", 1.3)
    return load([save(test_sessions.sessions_of(first, later), "sessions.json")])


def test_a_row_of_a_later_session_divides_by_its_own_ratio(save):
    results = later_session(save)
    rows = rows_beside(results)
    rows = rows[rows["repeat"] == 0].set_index(["strategy", "role"])
    compared = results.comparisons[~results.comparisons["control"]]
    compared = compared.set_index(["strategy", "role"])
    for role in ("iso", "best"):
        base, tma, ratio = ("baseline", role), ("tma", role), compared.loc[("tma", role), "ratio"]
        assert rows.loc[base, "beside_ms"] / rows.loc[tma, "beside_ms"] == pytest.approx(ratio)
        # The medians alone say otherwise.
        assert rows.loc[base, "median"] / rows.loc[tma, "median"] < 0.9 * ratio
    (found,) = advise(results)
    assert found.strategy == "tma" and found.ratio == pytest.approx(1.3)
    assert found.baseline_ms / found.median_ms == pytest.approx(1.3)


def test_a_row_without_a_comparison_has_the_time_of_its_run(load_groups):
    results = load_groups(synthetic.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1)}))
    times = times_beside(results)
    base = results.rows[results.rows["repeat"] == 0]
    for row in base.itertuples():
        assert times[row.row] == pytest.approx(row.median)
