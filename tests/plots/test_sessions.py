"""Sessions of the same rows: which count, claims, times that divide, predictions that hold."""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import planted
import pytest

from plots.advice.advise import advise
from plots.commands import references
from plots.data.load import LEAST_ROUNDS, load
from plots.data.sessions import Measured, Sessions, pool_of
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.judge.beside import rows_beside
from plots.papers.generations import steps
from plots.report.tables import row_records
from plots.statistics.between import LEAST_ROWS, Components, Prediction, SessionValue

SIZE = {"n": 512}


def run(gpu: str, date: str, factor: float = 1.0, seed: int = 1, **options) -> dict:
    """A run of one group; ``factor`` is what this GPU does to the strategies, not to baseline."""
    speedups = {
        name: (1.0, 1.0) if name == "baseline" else (a * factor, b * factor)
        for name, (a, b) in planted.TYPICAL.items()
    }
    group = planted.group("nw", SIZE, 1.0, seed=seed, speedups=speedups, **options)
    return planted.document([group], gpu={**planted.device(), "uuid_hash": gpu}, date=date)


def sessions_of(*documents: dict) -> dict:
    """The runs as one file of sessions, as `amasia merge` writes it."""
    merged = copy.deepcopy(documents[0])
    merged["groups"] = []
    merged["provenance"]["sessions"] = []
    for index, document in enumerate(documents):
        provenance = document["provenance"]
        session = {name: provenance[name] for name in ("date_utc", "commit", "device_state")}
        session |= {"dirty": False, "uuid_hash": provenance["device"]["uuid_hash"], "wall_s": 1.0}
        merged["provenance"]["sessions"].append(session)
        merged["groups"] += [{**g, "session": index} for g in copy.deepcopy(document["groups"])]
    return merged


def three() -> list[dict]:
    return [
        run("one", "2026-11-20T10:00:00Z", 1.0),
        run("two", "2026-11-20T11:00:00Z", 1.01, seed=2),
        run("one", "2026-11-20T12:00:00Z", 1.001, seed=3),
    ]


def two_sessions(clock: float) -> list[dict]:
    """tma was measured in a later session alone, beside the baseline: as where its code was new.
    Every time there is ``clock`` times as long."""
    found = []
    for day, (ms, variant, best) in enumerate(((3.0, "overlap", 1.2), (3.0 * clock, "tma", 1.3))):
        speedups = {"baseline": (1.0, 1.0), variant: (1.1, best)}
        group = planted.group("nw", {"n": 64}, ms, speedups=speedups)
        found.append(planted.document([group], date=f"2026-11-2{day}T10:00:00Z"))
    return found


def tma(results):
    c = results.comparisons
    return c[(c["variant"] == "nw/tma") & (c["role"] == "best")].iloc[0]


def test_one_run_says_so_and_predicts_nothing(save):
    results = load([save(run("one", "2026-11-20T10:00:00Z"))])
    c = tma(results)
    assert (c["sessions"], c["gpus"]) == (1, 1) and np.isnan(c["next_low"])
    assert (c["ratio"], c["low"], c["claim"]) == (c["run_ratio"], c["run_low"], c["run_claim"])
    assert "one run" in advise(results)[0].sentence()


@pytest.mark.parametrize("as_one_file", [True, False])
def test_sessions_of_one_file_or_of_several(save, as_one_file):
    documents = [sessions_of(*three())] if as_one_file else three()
    results = load([save(document, f"{i}.json") for i, document in enumerate(documents)])
    assert len(results.groups) == 1
    c = tma(results)
    assert (c["sessions"], c["gpus"]) == (3, 2)
    # The mean of the GPUs, each the mean of its sessions.
    mean = 1.31 * np.exp((np.log(1.001) / 2 + np.log(1.01)) / 2)
    assert c["ratio"] == pytest.approx(mean, rel=1e-6)
    assert c["low"] < 1.31 and c["high"] > 1.31 * 1.01
    assert c["low"] < c["run_low"] < c["run_high"] < c["high"]
    assert advise(results)[0].sentence().endswith("; 3 runs on 2 GPUs.")
    assert bool(results.notes) is not as_one_file  # of two files, which one counts is said
    controls = results.comparisons[results.comparisons["control"]]
    assert (controls["ratio"] == controls["run_ratio"]).all()


def test_a_variant_that_a_later_session_alone_has_is_filled_in(save):
    first, later = two_sessions(clock=2.0)
    alone = {"rest": load([save(first, "a.json")]), "tma": load([save(later, "b.json")])}
    both = load([save(sessions_of(first, later))])
    assert len(both.groups) == 1 and set(both.rows["group"]) == set(both.groups["group"])
    assert both.rows["row"].is_unique
    own = both.rows[both.rows["variant"] != "nw/tma"]
    assert own["median"].tolist() == alone["rest"].rows["median"].tolist()
    assert (own["session_scale"] == 1).all()
    filled_in, there = (r.rows[r.rows["variant"] == "nw/tma"] for r in (both, alone["tma"]))
    assert len(filled_in) > 0 and filled_in["median"].tolist() == there["median"].tolist()
    # The baseline took twice as long there.
    assert filled_in["session_scale"].tolist() == pytest.approx([0.5] * len(filled_in), rel=0.05)
    gains, of_tma = (r.comparisons[r.comparisons["variant"] == "nw/tma"]
                     for r in (both, alone["tma"]))  # fmt: skip
    assert len(gains) > 0 and gains["run_ratio"].tolist() == of_tma["run_ratio"].tolist()
    samples, of_row = (r.samples[r.samples["variant"] == "nw/tma"] for r in (both, alone["tma"]))
    assert samples["time_ms"].tolist() == of_row["time_ms"].tolist()
    assert set(samples["row"]) == set(filled_in["row"])
    assert len(both.samples) == both.rows["samples"].sum()


def test_a_session_in_two_files_counts_once_and_one_of_other_code_not(save):
    documents = three()
    twice = [save(sessions_of(*documents)), save(documents[1], "again.json")]
    assert tma(load(twice))["sessions"] == 3
    for row in documents[1]["groups"][0]["rows"]:
        row["source_digest"] = "cd" * 32
    c = tma(load([save(d, f"{i}.json") for i, d in enumerate(documents)]))
    assert (c["sessions"], c["gpus"]) == (2, 1) and np.isnan(c["next_low"])


def test_what_was_measured_once_has_the_spread_of_its_app(save):
    group = planted.group("nw", {"n": 1024}, 1.0, seed=9)
    other = planted.document([group], date="2026-11-20T13:00:00Z")
    once = tma(load([save(sessions_of(*three())), save(other, "other.json")]).where(size="n=1024"))
    assert (once["sessions"], once["gpus"]) == (1, 1)
    assert once["low"] < once["run_low"] and once["run_high"] < once["high"]


def test_what_the_next_run_may_turn_round_is_no_claim(save):
    """Resolved in its run by a few tenths of a percent, where GPUs differ by one percent."""
    small = {name: (1.0, 1.0) for name in planted.TYPICAL} | {"tma": (1.004, 1.004)}
    other = planted.document([planted.group("nw", {"n": 1024}, 1.0, speedups=small, half=5e-4)])
    results = load([save(sessions_of(*three())), save(other, "other.json")])
    c = tma(results.where(size="n=1024"))
    assert c["run_claim"] == "faster" and c["claim"] == "not resolved between runs"
    advice = advise(results.where(size="n=1024"))[0]
    assert advice.outcome == "not resolved" and "tma" in advice.undecided


def test_a_shard_that_was_measured_on_another_gpu_names_it(save):
    document = run("one", "2026-11-20T10:00:00Z")
    document["groups"][0]["uuid_hash"] = "two"
    results = load([save(document), save(run("one", "2026-11-21T10:00:00Z"), "b.json")])
    assert tma(results)["gpus"] == 2


def test_a_session_without_the_least_rounds_does_not_stand_for_those_that_have_them(save):
    def shown(*rounds, digests="ab ab ab ab"):
        documents = []
        for day, (n, digest) in enumerate(zip(rounds, digests.split(), strict=False), 1):
            group = planted.group("nw", {"n": 64}, 3.0, rounds=n, digest=digest)
            documents.append(planted.document([group], date=f"2026-01-0{day}T00:00:00Z"))
        return load([save(sessions_of(*documents))]).groups["rounds"].item()

    assert (shown(8, 15, 51), shown(8, 7, 9, 51), shown(15, 51), shown(8, 7)) == (15, 51, 15, 8)
    assert shown(8, 15, digests="ab cd") == 8
    header = (ROOT / "harness" / "statistics" / "schedule.hpp").read_text()
    assert f"least_rounds = {LEAST_ROUNDS};" in header


# --- Times and ratios that stand side by side divide ----------------------------------------------


def reference_of(row, times):
    """The time that a row's ratio is over, by what the page says of roles, or None."""
    group, schedule = row["group"], row["speedup"].against_schedule
    for role in {"comparator": ("best",), "matched": ("best", "matched")}.get(
        row["role"], (row["role"],)
    ):
        found = times.get((group, row["speedup"].against, role, schedule))
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("kind", ["compared", "cross"])
def test_the_table_of_all_rows_divides(record, kind):
    records = row_records(record if kind == "compared" else record.cross)
    times = {
        (r["group"], r["variant"], r["role"], r["speedup"].schedule if r["speedup"] else s): t
        for r in records
        for s, t in [(r["schedule"], r["beside_ms"])]
        if r["repeat"] == 0
    }
    count = 0
    for row in records:
        if row["speedup"] is None or row["repeat"]:
            continue
        reference = reference_of(row, times)
        assert reference is not None, row["row"]
        count += 1
        quotient = reference / row["beside_ms"]
        assert quotient == pytest.approx(row["speedup"].ratio, rel=1e-9), row["row"]
        if row["floor_fraction"] > 0:
            assert row["reached"] == pytest.approx(row["floor_ms"] / row["beside_ms"], rel=1e-6)
    assert count > 200


def test_between_two_gpus_times_and_ratios_divide_and_there_is_one_judge(record):
    gpus = [gpu for gpu in record.gpus if (record.groups["gpu"] == gpu).any()]
    if len(gpus) < 2:
        pytest.skip("one GPU is recorded")
    new, old = (record.where(gpu=gpu) for gpu in gpus[:2])
    (step,) = steps([(new, old)])
    rows = step.measured.rows
    assert len(rows) > 50
    for r in rows.itertuples():
        assert r.old_ms / r.new_ms == pytest.approx(r.ratio, rel=1e-9)
    keys = ["app", "size_label", "cache", "launch", "strategy"]
    told = rows[rows["role"] == "best"].set_index(keys)
    same = 0
    for b in step.best.itertuples():
        assert b.ratio == pytest.approx(b.hardware * b.new_software / b.old_software, rel=1e-9)
        if b.new_strategy == b.old_strategy:
            same += 1
            row = told.loc[(b.app, b.size_label, b.cache, b.launch, b.new_strategy)]
            for name in ("ratio", "low", "high", "resolved"):
                assert getattr(b, name) == row[name]
    assert same > 5


# --- Where sessions differ ------------------------------------------------------------------------


def test_a_row_of_a_later_session_divides_by_its_own_ratio(save):
    results = load([save(sessions_of(*two_sessions(clock=1.2)), "sessions.json")])
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


# --- Predictions ----------------------------------------------------------------------------------


def test_references_are_the_predictive_intervals_of_the_rows_of_a_study(record):
    found = references.references(record, "quick")["gpus"]
    assert found
    for gpu, entries in found.items():
        rows = record.rows[(record.rows["gpu"] == gpu) & (record.rows["repeat"] == 0)]
        known = rows.set_index([*references.KEY])
        for entry in entries:
            row = known.loc[[tuple(entry[name] for name in references.KEY)]].iloc[0]
            time = entry["time_ms"]
            assert time["low"] <= time["value"] <= time["high"]
            assert time["low"] == pytest.approx(row["next_low"], rel=1e-5)
            assert time["high"] == pytest.approx(row["next_high"], rel=1e-5)
    assert not [e for entries in found.values() for e in entries if e["role"] == "cross"]
    with pytest.raises(PlotsError, match='"quik"; nearest: quick'):
        references.references(record, "quik")


@dataclass(frozen=True)
class Checked:
    """A session on a GPU that was left out, beside what the others predicted of it."""

    measured: Measured
    predicted: Prediction

    @property
    def inside(self) -> bool:
        value = math.exp(self.measured.session.value)
        return self.predicted.low <= value <= self.predicted.high


def without(sessions: Sessions, gpu: str) -> Sessions:
    """The same as if one GPU, by the hash of its UUID, had never been there."""
    rest = Sessions(lambda model, app: without(sessions._earlier(model, app), gpu))
    for identity, of_row in sessions.found.items():
        if kept := [m for m in of_row if m.session.gpu != gpu]:
            rest.found[identity] = kept
    return rest


def left_out(sessions: Sessions) -> Iterator[Checked]:
    """Every GPU is left out in turn, with all that was measured on it, and each of its sessions
    predicted from the other GPUs alone: from the row's own sessions there and from the pools."""
    gpus = sorted({m.session.gpu for row in sessions.found.values() for m in row})
    for gpu in gpus:
        rest = without(sessions, gpu)
        for identity, row in sessions.found.items():
            mine = [m for m in row if m.session.gpu == gpu]
            predicted = rest.predicted(identity) if mine else None
            if predicted is not None:
                yield from (Checked(m, predicted) for m in mine)


@pytest.fixture(scope="module")
def all_left_out(record):
    return list(left_out(record.sessions))


@pytest.mark.parametrize("quantity", ["time", "ratio"])
def test_sessions_on_gpus_that_were_left_out_fall_inside(all_left_out, quantity):
    """As many as the 90 % promised; a ratio of four GPUs or more is known to half a percent."""
    checked = [c for c in all_left_out if c.measured.quantity == quantity]
    assert len(checked) >= 500
    assert 0.88 < sum(c.inside for c in checked) / len(checked) < 0.94
    if quantity == "ratio":
        known = [c for c in checked if c.predicted.gpus >= 4]
        assert len(known) >= 100 and sum(c.inside for c in known) >= 0.9 * len(known)
        assert median(c.predicted.half_width for c in known) <= 0.005


def test_what_is_left_out_is_not_used():
    """A GPU far from the others is outside; were it part of its own prediction, it would not be."""
    sessions = Sessions()
    for row in range(8):
        for gpu, value in (("a", 0.0), ("b", 0.001), ("far", 0.5)):
            session = SessionValue(gpu, value + 0.0001 * row)
            sessions.add(Measured("time", "H", "nw", f"row {row}", session, gpu))
    checked = list(left_out(sessions))
    outside = {c.measured.session.gpu for c in checked if not c.inside}
    assert outside == {"far"} and len(checked) == 24


def a_row(app: str, name: str, *gpus: str) -> list[Measured]:
    """A time on so many GPUs, once on each."""
    return [
        Measured("time", "GPU", app, f"{app} {name}", SessionValue(gpu, 0.01 * i, 0.002),
                 f"2026-11-2{i}T10:00:00Z")
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
            of_bf16 = {"identity": f"{i} bf16", "pool": pool_of("gemm", "bf16")}
            sessions.add(replace(measured, session=moved, **of_bf16))
    plain = sessions.kind("time", "GPU", "gemm")
    assert sessions.kind_of("gemm 0").gpu_variance == pytest.approx(plain.gpu_variance)
    assert sessions.kind_of("0 bf16").gpu_variance > 50 * plain.gpu_variance > 0
    assert sessions.kind_of("gemm 0", "gemm 1").gpu_rows == LEAST_ROWS - 2
    assert sessions.kind_of("unknown") == Components()
    # So have those of an app that nothing is known of: by which cores they compute.
    assert sessions.kind("time", "GPU", "nw").gpu_variance == pytest.approx(plain.gpu_variance)
    assert sessions.kind("time", "GPU", "nw tf32").gpu_variance > 50 * plain.gpu_variance
    assert pool_of("gemm", "fp32") == "gemm" and pool_of("nw", "int32") == "nw"
