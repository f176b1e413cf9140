"""What is said of an app is said without it; errors, intervals, gains and advice by hand."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from prediction_record import GPU, recorded

from plots.advice.twin import Measured, Twin
from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.prediction import evaluation as ev
from plots.prediction.model import PARTS, SOURCES, Constants, Machine, Parts

APPS = ("one", "two", "three", "four")
TRUE = Constants(power=2.0, trips=5.0)


def rows(noise=0.0, seed=1, truth=TRUE) -> ev.Rows:
    """Of four apps in two families each, as a machine with those constants would take."""
    random = np.random.default_rng(seed)
    lines, parts = [], []
    for app in APPS:
        for case in range(20):
            for strategy in NAMES[:3]:
                resources = random.uniform(0.1, 1.0, size=(len(PARTS) - 1, 2))
                launch, trip = random.uniform(0.01, 0.3, size=2)
                in_turn = np.zeros(2, dtype=bool)
                found = Parts(*resources, in_turn, launch=float(launch), trip=float(trip))
                parts.append(found)
                lines.append(
                    {
                        "app": app, "family": f"{case % 2}", "size": "", "size_label": "",
                        "cache": "cold", "launch": "graph", "strategy": strategy,
                        "group": f"{app} {case}", "schedule": "s", "role": "cross",
                        "config": strategy, "floor": 0.1,
                        "measured": found.time(truth) * math.exp(random.normal(0, noise)),
                        "carried": 1.0,
                    }
                )  # fmt: skip
    return ev.Rows(pd.DataFrame(lines), tuple(parts), Counter())


def test_constants_are_found_where_they_are():
    found = ev.left_out(rows())
    assert set(found.constants.values()) == {TRUE}
    assert ev.errors_in(found.rows).median == pytest.approx(0, abs=1e-12)


def test_intervals_hold_what_they_say():
    found = ev.left_out(rows(noise=0.1))
    covered = ev.errors_in(found.rows).covered
    assert 0.85 <= covered <= 0.95
    width = np.log(found.rows["high"] / found.rows["low"]).median()
    assert width == pytest.approx(2 * 1.645 * 0.1, rel=0.15)
    gains = ev.gains_of(found)
    assert 0.82 <= ev.errors_in(gains).covered <= 0.97
    assert np.log(gains["high"] / gains["low"]).median() == pytest.approx(
        2 * 1.645 * 0.1 * math.sqrt(2), rel=0.15
    )


def altered(of: ev.Rows, app: str) -> ev.Rows:
    frame = of.frame.copy()
    mine = frame["app"] == app
    frame.loc[mine, "measured"] *= np.linspace(0.1, 30, mine.sum())
    return dataclasses.replace(of, frame=frame)


def said_of(rows_: ev.Rows, app: str) -> list[np.ndarray]:
    """All that is predicted of an app."""
    found = ev.left_out(rows_)
    gains = ev.gains_of(found)
    return [
        frame.loc[frame["app"] == app, ["predicted", "low", "high"]].to_numpy()
        for frame in (found.rows, gains)
    ] + [ev.advice_of(found.rows).query("app == @app")["first"].to_numpy()]


@pytest.mark.parametrize("app", APPS)
def test_an_apps_times_have_no_part_in_what_is_said_of_it(app):
    before = rows(noise=0.3)
    after = altered(before, app)
    assert not np.array_equal(after.frame["measured"], before.frame["measured"])
    for one, other in zip(said_of(before, app), said_of(after, app), strict=True):
        assert np.array_equal(one, other)
    # and the test would see it if they had: other apps' predictions do move.
    others = [a for a in APPS if a != app]
    assert any(
        not np.array_equal(one, other)
        for a in others
        for one, other in zip(said_of(before, a), said_of(after, a), strict=True)
    )


def with_times(results: Results, app: str, factor) -> Results:
    """Other times of an app, in all rows and in the tables of `amasia cross`."""

    def changed(part: Results | None) -> Results | None:
        if part is None:
            return None
        frame = part.rows.copy()
        mine = frame["app"] == app
        times = frame.loc[mine, "median"].to_numpy()
        frame.loc[mine, "median"] = times * factor(len(times))
        return dataclasses.replace(part, rows=frame)

    return dataclasses.replace(changed(results), cross=changed(results.cross))


@pytest.mark.parametrize("app", ["nw", "pathfinder"])
def test_nothing_leaks_from_the_recorded_times_of_an_app(app):
    results, machine = recorded()
    random = np.random.default_rng(7)
    other = with_times(results, app, lambda n: np.exp(random.normal(0, 1, size=n)))
    before, after = (ev.rows_of(r, GPU, machine) for r in (results, other))
    assert not np.allclose(before.frame["measured"], after.frame["measured"])
    for one, changed in zip(said_of(before, app), said_of(after, app), strict=True):
        assert len(one) and np.array_equal(one, changed)


def test_errors_by_hand():
    found = ev.errors_of([1, 2, 4], [1.1, 1.0, 4.0], ([1, 1.5, 1], [1.2, 3, 2]))
    assert found.count == 3 and found.median == pytest.approx(0.1)
    assert found.ninetieth == pytest.approx(0.42)
    assert found.covered == pytest.approx(2 / 3)
    assert math.isnan(ev.errors_of([], []).median)


def test_families_weigh_the_same_however_many_rows_they_have():
    values = np.array([1.0] * 90 + [2.0] * 10)
    families = np.array(["many"] * 90 + ["few"] * 10)
    assert ev.quantiles(values, families, [0.2, 0.8]) == pytest.approx([1, 2])
    assert np.isnan(ev.quantiles(np.array([]), np.array([]), [0.5])[0])


def case(group="g", schedule="s", app="one", **times: tuple[float, float]) -> list[dict]:
    """Strategies of a case as (measured, predicted)."""
    return [
        {
            "app": app, "family": "f", "size": "", "size_label": "", "cache": "cold",
            "launch": "graph", "strategy": name, "group": group, "schedule": schedule,
            "role": "cross", "config": name, "measured": measured, "predicted": predicted,
            "carried": 1.0,
        }
        for name, (measured, predicted) in times.items()
    ]  # fmt: skip


def test_advice_is_the_strategy_that_is_predicted_to_be_the_fastest():
    frame = pd.DataFrame(
        case("a", baseline=(1.0, 1.0), tma=(0.9, 0.8), dsm=(0.86, 0.9))
        + case("b", overlap=(2.0, 1.0), tma=(1.0, 1.5))
        + case("c", baseline=(1.0, 1.0))
    )
    advice = ev.advice_of(frame)
    assert list(advice["group"]) == ["a", "b"]  # of one strategy alone nothing is to be said
    assert list(advice["first"]) == ["tma", "overlap"] and list(advice["best"]) == ["dsm", "tma"]
    assert advice["cost"].tolist() == pytest.approx([0.9 / 0.86 - 1, 1.0])
    found = ev.quality(advice)
    assert (found.cases, found.within) == (2, 1) and found.share == 0.5
    assert found.mean_cost == pytest.approx((0.9 / 0.86 - 1 + 1) / 2)
    assert ev.always(advice, "tma") == ev.Advice(2, 2, pytest.approx((0.9 / 0.86 - 1) / 2))
    assert ev.always(advice, "drop_off").cases == 0


def test_a_tie_goes_to_the_first_strategy_and_not_to_the_fastest():
    frame = pd.DataFrame(case(tma=(0.5, 1.0), overlap=(0.9, 1.0), baseline=(2.0, 1.0)))
    assert ev.advice_of(frame)["first"].tolist() == ["baseline"]


def test_of_several_configs_the_one_predicted_to_be_faster_stands_for_the_strategy():
    slow = case(tma=(0.1, 2.0))[0] | {"config": "other"}
    frame = pd.DataFrame([*case(baseline=(1.0, 1.0), tma=(0.9, 0.8)), slow])
    assert ev.advice_of(frame)["cost"].tolist() == pytest.approx([0.0])


def test_a_gain_is_over_baseline_at_the_same_schedule():
    frame = pd.DataFrame(
        case("g", "wide", baseline=(2.0, 3.0), tma=(1.0, 2.0))
        + case("g", "tall", baseline=(1.0, 1.0), tma=(1.0, 0.5))
        + case("g", "other", tma=(1.0, 0.5))
    )
    gains = ev._gains(frame).set_index("schedule")
    assert gains["measured"].to_dict() == {"tall": 1.0, "wide": 2.0}
    assert gains["predicted"].to_dict() == {"tall": 2.0, "wide": 1.5}


def test_a_row_of_another_session_stands_beside_the_others_by_its_baseline():
    frame = pd.DataFrame(case("g", "wide", baseline=(1.0, 1.0), overlap=(0.9, 0.8), tma=(1.6, 0.9)))
    frame.loc[frame["strategy"] == "tma", "carried"] = 0.5
    gains = ev._gains(frame).set_index("strategy")
    assert gains["measured"].to_dict() == pytest.approx({"overlap": 1 / 0.9, "tma": 1 / 0.8})
    advice = ev.advice_of(frame).iloc[0]
    assert (advice["first"], advice["best"]) == ("overlap", "tma")
    assert advice["cost"] == pytest.approx(0.9 / 0.8 - 1)


def twin(tile: int, fma: int, tma: float, time: float) -> Twin:
    traits = {"rows": str(tile), "row_bytes": "64", "layout": "run", "halo": "0", "common": "0",
              "tiles_per_block": "0", "fma": str(fma), "out_bytes": str(64 * tile),
              "mebibytes": "256"}  # fmt: skip
    of = {
        "baseline": Measured("baseline", 1.0, 0.99, 1.01, time),
        "tma": Measured("tma", tma, tma - 0.05, tma + 0.05, time / tma),
    }
    return Twin("a GPU", "2026", traits, of)


def test_a_twin_is_asked_for_from_the_others():
    grid = [twin(2**i, 2**j, 1.2, 1.0) for i in range(3) for j in range(3)]
    grid[4] = twin(2, 2, 2.4, 1.0)  # the middle, unlike its neighbours
    grid.append(twin(2, 4096, 1.2, 1.0))
    lines, unanswered = ev.twins_left_out(grid)
    assert unanswered == 1  # the last lies outside the range of the rest
    middle = lines[lines["twin"] == 4].set_index("strategy")
    assert middle.loc["tma", "measured"] == 2.4
    assert middle.loc["tma", "predicted"] == pytest.approx(1.2)
    assert math.isnan(middle.loc["baseline", "measured"])
    assert middle.loc["baseline", "predicted_time"] == pytest.approx(1.0, rel=1e-4)


# --- From one GPU to another ----------------------------------------------------------------------

OTHER = "NVIDIA Other"


def renamed(part: Results, gpu: str) -> dict[str, pd.DataFrame]:
    """The frames of a GPU's results as another GPU's; groups and files get names of their own."""
    frames = {}
    for name in ("files", "groups", "rows", "samples", "comparisons", "ceilings", "points",
                 "findings"):  # fmt: skip
        frame = getattr(part, name).copy()
        if "gpu" in frame:
            frame = frame[frame["gpu"] == GPU].assign(gpu=gpu)
        for column in ("group", "row"):
            if column in frame and name != "points":
                frame[column] = "other " + frame[column].astype(str)
        frames[name] = frame
    return frames


def second_gpu(results: Results, times=None, without: tuple[str, ...] = ()) -> Results:
    """With a GPU that has half of the bandwidth, and lacks some microbenchmarks."""
    new = renamed(results, OTHER)
    half = new["ceilings"]["name"].isin(["read_bandwidth", "write_bandwidth", "copy_bandwidth"])
    new["ceilings"] = new["ceilings"].assign(
        value=np.where(half, new["ceilings"]["value"] / 2, new["ceilings"]["value"])
    )
    new["points"] = new["points"][~new["points"]["microbenchmark"].isin(without)]
    if times is not None:
        new["rows"] = new["rows"].assign(median=new["rows"]["identity"].map(times))
    merged = {
        name: pd.concat([getattr(results, name), frame], ignore_index=True)
        for name, frame in new.items()
    }
    return dataclasses.replace(results, **merged, cross=None, effects=None)


def test_a_gpu_is_predicted_by_what_binds_each_row():
    results, machine = recorded()
    alone = dataclasses.replace(results, cross=None)
    constants = {app: Constants(power=math.inf) for app in set(results.rows["app"])}
    slower = dataclasses.replace(
        machine, gpu=OTHER, read_gb_s=machine.read_gb_s / 2, write_gb_s=machine.write_gb_s / 2,
        copy_gb_s=machine.copy_gb_s / 2,
    )  # fmt: skip
    here, there = (ev.rows_of(alone, GPU, m) for m in (machine, slower))
    using = Constants(power=math.inf)
    ratio = [b.time(using) / a.time(using) for a, b in zip(here.parts, there.parts, strict=True)]
    assert max(ratio) > 1.9 and min(ratio) == pytest.approx(1)
    found = ev.transfer(second_gpu(alone), GPU, machine, constants, OTHER)
    assert found.borrowed == () and found.unmatched == 0
    assert len(found.rows) == len(here.frame)
    # As recorded there the GPU is no slower, so that the error is the ratio.
    said = (found.rows["predicted"] / found.rows["unchanged"]).to_numpy()
    assert sorted(said) == pytest.approx(sorted(ratio))
    assert (found.rows["measured"] == found.rows["unchanged"]).all()


def test_what_the_other_gpu_lacks_is_borrowed_and_named():
    results, machine = recorded()
    other = second_gpu(results, without=("memory/latency", "launch/flags"))
    there, borrowed = Machine.with_fallback(other, OTHER, machine)
    assert borrowed == tuple(SOURCES[name] for name in ("memory", "l2", "word"))
    assert there.memory == machine.memory and there.read_gb_s == machine.read_gb_s / 2
    with pytest.raises(PlotsError, match="not recorded of NVIDIA Other: memory/latency"):
        Machine.of(other, OTHER)
    assert ev.home_of(other) == GPU
    with pytest.raises(PlotsError, match="no file is recorded of Nonesuch"):
        Machine.with_fallback(other, "Nonesuch", machine)


def test_a_rate_that_the_other_gpu_lacks_is_borrowed_by_itself():
    results, machine = recorded()
    other = second_gpu(results)
    of_other = (other.points["gpu"] == OTHER) & (
        other.points["microbenchmark"] == "tensor_core/mma"
    )
    tf32 = other.points["at"].map(lambda at: at.get("input") == "tf32")
    assert (of_other & tf32).any() and (of_other & ~tf32).any()
    lacking = dataclasses.replace(other, points=other.points[~(of_other & tf32)])
    there, borrowed = Machine.with_fallback(lacking, OTHER, machine)
    assert borrowed == ("tensor_core: mma tf32",)
    assert there.tensor_gflop_s("mma", "tf32") == machine.tensor_gflop_s("mma", "tf32")
    whole, _ = Machine.with_fallback(other, OTHER, machine)
    assert there.tensor_gflop_s("mma", "bf16") == whole.tensor_gflop_s("mma", "bf16")


def test_too_few_apps_cannot_be_left_out():
    results, _ = recorded()
    few = dataclasses.replace(
        results, rows=results.rows[results.rows["app"].isin(["nw", "lud"])], cross=None
    )
    with pytest.raises(PlotsError, match="three are needed"):
        ev.evaluate(few, GPU)
