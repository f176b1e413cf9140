"""between-runs.md, and whether predictive intervals hold on sessions that were not used."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_sessions import three
from whole_record import whole_record

from plots.data.load import Results, load
from plots.data.sessions import Measured, Sessions, pool_of
from plots.errors import PlotsError
from plots.judge import between_runs
from plots.judge.between_runs import coverage, left_out
from plots.report import references
from plots.statistics.between import LEAST_ROWS, Components, SessionValue


@pytest.fixture(scope="module")
def recorded() -> Results:
    return whole_record()


def test_references_are_the_predictive_intervals_of_the_rows_of_a_study(recorded):
    found = references.references(recorded, "quick")["gpus"]
    assert found
    for gpu, entries in found.items():
        rows = recorded.rows[(recorded.rows["gpu"] == gpu) & (recorded.rows["repeat"] == 0)]
        known = rows.set_index([*references.KEY])
        for entry in entries:
            row = known.loc[[tuple(entry[name] for name in references.KEY)]].iloc[0]
            time = entry["time_ms"]
            assert time["low"] <= time["value"] <= time["high"]
            assert time["low"] == pytest.approx(row["next_low"], rel=1e-5)
            assert time["high"] == pytest.approx(row["next_high"], rel=1e-5)
    assert not [e for entries in found.values() for e in entries if e["role"] == "cross"]
    with pytest.raises(PlotsError, match='"quik"; nearest: quick'):
        references.references(recorded, "quik")


@pytest.fixture(scope="module")
def all_left_out(recorded):
    return list(left_out(recorded.sessions))


@pytest.mark.parametrize("quantity", ["time", "ratio"])
def test_sessions_on_gpus_that_were_left_out_fall_inside(all_left_out, quantity):
    """Of every GPU in turn, predicted from the others alone: at least as many as promised, and
    where four GPUs or more are behind a ratio, it is known to a percent."""
    checked = [c for c in all_left_out if c.measured.quantity == quantity]
    found = coverage(checked)
    assert found.all >= 500
    assert found.share >= 0.9
    if quantity == "ratio":
        known = coverage([c for c in checked if c.predicted.gpus >= 4])
        assert known.all >= 100
        assert known.share >= 0.9 and known.half_width <= 0.01


def test_what_is_left_out_is_not_used():
    """A GPU far from the others is outside; were it part of its own prediction, it would not be."""
    sessions = Sessions()
    for row in range(8):
        for gpu, value in (("a", 0.0), ("b", 0.001), ("far", 0.5)):
            session = SessionValue(gpu, value + 0.0001 * row)
            identity = f"row {row}"
            sessions.add(
                Measured("time", "H", "nw", "nw n=1", identity, "best", identity, session, gpu)
            )
    checked = list(left_out(sessions))
    outside = {c.measured.session.gpu for c in checked if not c.inside}
    assert outside == {"far"} and len(checked) == 24


def test_the_page_says_how_far_rows_move(save):
    text = between_runs.page(load([save(doc, f"{i}.json") for i, doc in enumerate(three())]))
    assert "rows on three GPUs are needed" in text
    for heading in ("How far rows move", "Do the intervals hold?", "What moved most"):
        assert f"### {heading}" in text


def a_row(app: str, name: str, *gpus: str) -> list[Measured]:
    """A time on so many GPUs, once on each."""
    return [
        Measured("time", "GPU", app, f"{app} n=1 cold stream", name, "best", f"{app} {name}",
                 SessionValue(gpu, 0.01 * i, 0.002), f"2026-11-2{i}T10:00:00Z")
        for i, gpu in enumerate(gpus)
    ]  # fmt: skip


def test_two_gpus_that_are_alike_do_not_say_that_all_are():
    """As pathfinder's on the H200 were until 2026-11-29: whatever number of rows shows it."""
    sessions = Sessions()
    for measured in (m for i in range(100) for m in a_row("lud", f"{i}", *"abc")):
        sessions.add(measured)
    alike = [
        replace(m, session=m.session._replace(value=0.0))
        for i in range(100) for m in a_row("nw", f"{i}", "a", "b")
    ]  # fmt: skip
    for measured in alike:
        sessions.add(measured)
    assert sessions.has_own_kind("time", "GPU", "lud")
    assert not sessions.has_own_kind("time", "GPU", "nw")
    found = sessions.predicted("nw 0")
    assert found is not None and found.half_width > 0.02
    for i in range(100):
        sessions.add(replace(alike[0], identity=f"nw {i}", session=SessionValue("c", 0.0, 0.002)))
    assert sessions.has_own_kind("time", "GPU", "nw")


def test_what_tensor_cores_compute_has_a_pool_of_its_own():
    sessions = Sessions()
    for i in range(LEAST_ROWS):
        for measured in a_row("gemm", f"{i}", "a", "b", "c"):
            value = measured.session.value
            moved = measured.session._replace(value=10 * value)
            sessions.add(measured)
            sessions.add(
                replace(measured, session=moved, identity=f"{i} bf16", pool=pool_of("gemm", "bf16"))
            )
    plain = sessions.kind("time", "GPU", "gemm")
    assert sessions.kind_of("gemm 0").gpu_variance == pytest.approx(plain.gpu_variance)
    assert sessions.kind_of("0 bf16").gpu_variance > 50 * plain.gpu_variance > 0
    assert sessions.kind_of("gemm 0", "gemm 1").gpu_rows == LEAST_ROWS - 2
    assert sessions.kind_of("unknown") == Components()
    # So have those of an app that nothing is known of: by which cores they compute.
    assert sessions.kind("time", "GPU", "nw").gpu_variance == pytest.approx(plain.gpu_variance)
    assert sessions.kind("time", "GPU", "nw tf32").gpu_variance > 50 * plain.gpu_variance
    assert pool_of("gemm", "fp32") == "gemm" and pool_of("nw", "int32") == "nw"
    assert [line.split(" | ")[0] for line in
            between_runs._components(sessions, "GPU", ["gemm", "gemm bf16"]).splitlines()[2:4]
            ] == ["| gemm", "| gemm bf16"]  # fmt: skip
