#!/usr/bin/env python3
"""Fits the scales and the nugget of plots/advice/twin_places.py to recorded twins, and prints them.

    PYTHONPATH=. .venv/bin/python scripts/fit_twin_scales.py [RESULTS] [--gpu GPU] [--drawn N]

It uses the twins of a grid and the first N random ones, so that the others stay unseen by the fit.
One set of scales serves all strategies; each has its own best mean and variance.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from plots.advice.drawn_twins import drawn
from plots.advice.twin import Twin, is_random, recorded_twins
from plots.advice.twin_places import coordinates
from plots.data.strategies import NAMES
from plots.judge.residency import registers_of_its_twin
from plots.statistics.kriging import Array, correlation, distances

Points = tuple[Array, Array]  # n coordinates x d, n logarithms of gains
_PRIOR = (math.log(0.08), 0.02)  # of scales: where they lie when the twins do not say, how firmly


def surprise(parameters: Array, sets: Sequence[Points]) -> tuple[float, Array]:
    """The negative logarithm of the likelihood of all gains, and its gradient, by the logarithms of
    the scales and of the nugget."""
    scales, nugget = np.exp(parameters[:-1]), math.exp(parameters[-1])
    off = parameters[:-1] - _PRIOR[0]
    total, slope = _PRIOR[1] * float(off @ off), np.append(2 * _PRIOR[1] * off, 0.0)
    for points, values in sets:
        scaled, count = points * scales, len(values)
        apart = distances(scaled, scaled)
        inverse = np.linalg.inv(correlation(apart) + nugget * np.eye(count))
        ones = inverse.sum(axis=1)
        error = inverse @ (values - (ones @ values) / ones.sum())
        variance = float(values @ error) / count
        total += 0.5 * count * math.log(variance) - 0.5 * np.linalg.slogdet(inverse)[1]
        inner = inverse - np.outer(error, error) / variance
        # The correlation falls by 1.5 exp(-sqrt(3) r) for a unit of the squared distance r^2.
        weight = -1.5 * inner * np.exp(-math.sqrt(3) * apart)
        sums = weight.sum(axis=1)
        for k in range(len(scales)):
            at = scaled[:, k]
            slope[k] += 2 * float(sums @ at**2 - at @ weight @ at)
        slope[-1] += 0.5 * nugget * float(np.trace(inner))
    return total, slope


def points_of(twins: Sequence[Twin], names: Sequence[str]) -> list[Points]:
    """Of each strategy but baseline."""
    sets = []
    for strategy in NAMES[1:]:
        ran = [t for t in twins if strategy in t.times]
        places = [
            coordinates(t.traits, strategy, t.device, registers_of_its_twin(t.traits)) for t in ran
        ]
        sets.append(
            (
                np.array([[place.get(name, 0.0) for name in names] for place in places]),
                np.array([math.log(t.times[strategy]) for t in ran]),
            )
        )
    return sets


def fitted(twins: Sequence[Twin]) -> tuple[dict[str, float], float]:
    """Coordinate -> scale, and the nugget."""
    names = sorted({n for t in twins for n in coordinates(t.traits, "tma", t.device, 64)})
    start = np.append(np.full(len(names), _PRIOR[0]), math.log(1e-3))
    bounds = [(-6.0, 2.0)] * len(names) + [(-10.0, 0.0)]
    found = minimize(surprise, start, (points_of(twins, names),), "L-BFGS-B", jac=True,
                     bounds=bounds, options={"maxiter": 200})  # fmt: skip
    return dict(zip(names, np.exp(found.x[:-1]), strict=True)), math.exp(found.x[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", default="results")
    parser.add_argument("--gpu", default="NVIDIA H100 80GB HBM3")
    parser.add_argument("--drawn", type=int, default=400, metavar="N")
    options = parser.parse_args()
    if options.drawn < 0:
        sys.exit("--drawn takes how many kernels, 0 or more")
    some = {tuple(sorted(traits.items())) for traits in drawn(options.drawn)}
    twins = [
        t
        for t in recorded_twins([options.results])
        if t.gpu == options.gpu and (not is_random(t) or tuple(sorted(t.traits.items())) in some)
    ]
    if not twins:
        sys.exit(f"no twin of {options.gpu} is recorded in {options.results}")
    scales, nugget = fitted(twins)
    print(f"# {len(twins)} twins of {options.gpu}")
    for name, scale in scales.items():
        print(f'    "{name}": {scale:.3f},')
    print(f"NUGGET = {nugget:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
