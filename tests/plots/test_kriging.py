"""Values between points, and the scales by which twins are near each other."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from plots.advice import drawn_twins, twin, twin_places
from plots.advice.possible_traits import beyond_the_twin, contradiction, indivisible
from plots.data.strategies import ROOT
from plots.statistics.kriging import COVERAGE, LEAST, Field


def field_of(count, noise=0.0, seed=1):
    lot = np.random.default_rng(seed)
    points = lot.uniform(0, 2, (count, 3))
    return points, np.sin(points[:, 0]) + points[:, 1] / 2 + noise * lot.standard_normal(count)


def test_between_points_a_smooth_value_is_found():
    field = Field(*field_of(150), 1e-6)
    ((value, half),) = field.at(np.array([[1.0, 1.0, 1.0]]))
    assert value == pytest.approx(np.sin(1) + 0.5, abs=0.02) and 0 < half < 0.1
    # Far from all points nothing is known but their mean, within their spread.
    ((far, wide),) = field.at(np.array([[50.0, 50.0, 50.0]]))
    assert wide > 10 * half and 0.5 < far < 2


def test_an_interval_holds_as_many_new_values_as_it_says():
    points, values = field_of(400, noise=0.1)
    field = Field(points[:200], values[:200], 0.05)
    said = field.at(points[200:])
    inside = [abs(v - s) <= half for v, (s, half) in zip(values[200:], said, strict=True)]
    assert np.mean(inside) == pytest.approx(COVERAGE, abs=0.05)


def test_widths_are_learnt_of_the_points_that_are_like_new_ones():
    points, values = field_of(200, noise=0.0)
    lot = np.random.default_rng(2)
    drawn = np.arange(200) >= 100
    values[drawn] += 0.2 * lot.standard_normal(100)
    at = np.array([[1.0, 1.0, 1.0]])
    ((_, wide),) = Field(points, values, 0.05, drawn).at(at)
    ((_, narrow),) = Field(points, values, 0.05, ~drawn).at(at)
    assert wide > narrow
    # Of fewer than it takes nothing can be learnt, and all are asked.
    few = np.arange(200) < LEAST
    assert Field(points, values, 0.05, few).at(at) == Field(points, values, 0.05).at(at)


def fit():
    spec = importlib.util.spec_from_file_location("fit", ROOT / "scripts" / "fit_twin_scales.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_scales_are_those_that_the_script_fits():
    """Where they stand the likelihood of the gains is flat: no scale would better be another."""
    script = fit()
    some = {tuple(sorted(t.items())) for t in drawn_twins.drawn(400)}
    twins = [
        t
        for t in twin.recorded_twins([ROOT / "results" / "0.1.0" / "h100-80gb-hbm3"])
        if not twin.is_random(t) or tuple(sorted(t.traits.items())) in some
    ]
    assert len(twins) == 552
    names = list(twin_places.SCALES)
    sets = script.points_of(twins, names)
    here = np.log([*twin_places.SCALES.values(), twin_places.NUGGET])
    value, slope = script.surprise(here, sets)
    assert np.abs(slope).max() < 3, dict(zip([*names, "nugget"], slope.round(1), strict=True))
    # The slope is that of the value.
    step = np.zeros(len(here))
    step[names.index("blocks")] = 1e-4
    there, _ = script.surprise(here + step, sets)
    assert (there - value) / 1e-4 == pytest.approx(slope[names.index("blocks")], abs=0.5)
    # And it tells: with twice one of the scales that matter most all gains are less likely.
    for name in ("blocks", "reads", "gather"):
        other = here.copy()
        other[names.index(name)] += np.log(2)
        assert script.surprise(other, sets)[0] > value + 3


def test_the_lot_is_always_the_same_and_of_possible_kernels():
    drawn = drawn_twins.drawn()
    assert drawn == drawn_twins.drawn(drawn_twins.COUNT) and len(drawn) == drawn_twins.COUNT
    assert len({tuple(t.items()) for t in drawn}) == len(drawn)
    assert not any(contradiction(t) or indivisible(t) or beyond_the_twin(t) for t in drawn)
    # All of them are in the record: with another lot it would be another record.
    recorded = [t for t in twin.recorded_twins([ROOT / "results" / "0.1.0" / "h100-80gb-hbm3"])]
    assert sum(twin.is_random(t) for t in recorded) == len(drawn_twins.answering())
    _, unseen = twin.twins_and_unseen([ROOT / "results" / "0.1.0" / "h100-80gb-hbm3"])
    assert len(unseen) == len(drawn_twins.unseen()) == len(drawn_twins.UNSEEN)
    assert len(drawn_twins.answering()) + len(unseen) == len(drawn)
    for trait in ("layout", "halo", "common", "reads", "fma", "threads", "registers", "launches"):
        assert len({t[trait] for t in drawn}) > 2, trait
