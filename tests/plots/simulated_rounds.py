"""Groups of simulated rounds, judged by the rules that judge measured ones: how often something is
claimed where nothing differs, and how often a difference is found.

    PYTHONPATH=. python tests/plots/simulated_rounds.py      # the table of docs/methodology.md
"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from planted import within_noise

from plots.statistics.intervals import corrected_confidence, spread_of_rounds

CONFIDENCE = 0.95  # joint, of a group
ROUNDS = (8, 15, 31, 51)
COMPARISONS = (5, 14, 40)  # the control is one of them
EFFECT = 5.0  # standard deviations of the log ratio of one round
_MOVED = 3.0  # standard deviations of the noise: from end to end of a drift, and of a step

# What a row's log time does from round to round: each keeps a share of the last one's distance from
# the middle, or all are independent and the middle moves.
NOISES: dict[str, float | str] = {
    "independent": 0.0,
    "AR(1), 0.3": 0.3,
    "AR(1), 0.6": 0.6,
    "AR(1), 0.9": 0.9,
    "drifting": "drift",
    "stepped": "step",
}


@dataclass(frozen=True)
class Noise:
    """``values`` of many series, and where their middle moved to, which only an oracle knows."""

    values: np.ndarray
    moved: np.ndarray
    deviation: float  # of one value


def _series(rng: np.random.Generator, kept: float, shape: tuple[int, ...]) -> np.ndarray:
    values = rng.standard_normal(shape)
    for i in range(1, shape[-1]):
        values[..., i] = kept * values[..., i - 1] + math.sqrt(1 - kept**2) * values[..., i]
    return values


def noise_of(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Noise:
    kind = NOISES[name]
    if isinstance(kind, float):
        return Noise(_series(rng, kind, shape), np.zeros(shape), 1.0)
    place = (np.arange(shape[-1]) + 0.5) / shape[-1] - 0.5
    sign = rng.choice([-_MOVED, _MOVED], size=(*shape[:-1], 1))
    if kind == "drift":
        moved, variance = sign * place, _MOVED**2 / 12
    else:  # somewhere in the middle half
        at = rng.uniform(-0.25, 0.25, size=(*shape[:-1], 1))
        moved, variance = np.where(place < at, -sign / 2, sign / 2), _MOVED**2 / 4
    return Noise(rng.standard_normal(shape) + moved, moved, math.sqrt(1 + variance))


@dataclass(frozen=True)
class Groups:
    """Log ratios of the comparisons of many groups, (group, comparison, round). The first of each
    group is the control, the baseline against itself: its two rows have noise like any other, and
    the baseline's is in every ratio. ``signs``: which way each differs."""

    ratios: np.ndarray
    moved: np.ndarray
    signs: np.ndarray


def groups_of(
    rng: np.random.Generator, name: str, count: int, comparisons: int, rounds: int, effect: float
) -> Groups:
    noise = noise_of(rng, name, (count, comparisons + 1, rounds))
    half = math.sqrt(0.5)  # two rows are in a ratio
    ratios = half * (noise.values[:, :1] - noise.values[:, 1:])
    moved = half * (noise.moved[:, :1] - noise.moved[:, 1:])
    signs = rng.choice([-1, 1], size=(count, comparisons))
    signs[:, 0] = 0
    return Groups(ratios + effect * noise.deviation * signs[..., None], moved, signs)


# A ratio is exp() of its logarithm by a hundredth, so that all are as near to 1 as measured ones.
_UNIT = 0.01


def claims_of(ratios: np.ndarray) -> np.ndarray:
    """Of log ratios (group, comparison, round) what is claimed of each comparison: 1 that it is
    faster, -1 slower, 0 nothing. None of the control."""
    count, comparisons, rounds = ratios.shape
    confidence = corrected_confidence(CONFIDENCE, comparisons)
    of = spread_of_rounds(np.exp(_UNIT * ratios).reshape(-1, rounds), confidence)
    low, high, coverage, middle = (
        column.reshape(count, comparisons)
        for column in (of.low, of.high, of.coverage, np.sqrt(of.lower * of.upper))
    )
    resolved = (coverage >= confidence) & ((low > 1) | (high < 1))
    claims = np.where(resolved, np.where(middle > 1, 1, -1), 0)
    claims[:, 0] = 0
    for group, comparison in np.argwhere(claims):
        control = {"low": low[group, 0], "high": high[group, 0], "resolved": resolved[group, 0]}
        if within_noise(control, middle[group, comparison]):
            claims[group, comparison] = 0
    return claims


def oracle_claims(name: str, groups: Groups) -> np.ndarray:
    """The same by Student's test, for a judge who knows the correlation, or how the middle moved,
    and needs no control: the best that anyone can do with these rounds."""
    kind = NOISES[name]
    kept = kind if isinstance(kind, float) else 0.0
    values = groups.ratios - groups.moved
    rounds, comparisons = values.shape[-1], values.shape[1]
    apart = np.abs(np.subtract.outer(np.arange(rounds), np.arange(rounds)))
    inverse = np.linalg.inv(kept**apart)
    weight = inverse.sum()
    mean = values @ inverse.sum(axis=0) / weight
    centred = values - mean[..., None]
    variance = np.einsum("...i,ij,...j->...", centred, inverse, centred, optimize=True) / (
        rounds - 1
    )
    each = corrected_confidence(CONFIDENCE, comparisons)
    quantile = float(scipy.special.stdtrit(rounds - 1, (1 + each) / 2))
    found = np.abs(mean) > quantile * np.sqrt(variance / weight)
    found[:, 0] = False
    return np.where(found, np.sign(mean), 0)


@dataclass(frozen=True)
class Rates:
    """Shares of groups with a false claim, and of differences that were found."""

    false_claims: float
    power: float
    oracle: float
    groups: int  # of each share


def rates(name: str, rounds: int, comparisons: int, groups: int) -> Rates:
    rng = np.random.default_rng([rounds, comparisons, list(NOISES).index(name)])
    alike = groups_of(rng, name, groups, comparisons, rounds, 0)
    apart = groups_of(rng, name, groups, comparisons, rounds, EFFECT)
    claimed, known = claims_of(apart.ratios), oracle_claims(name, apart)
    truth = apart.signs[:, 1:]
    return Rates(
        float(claims_of(alike.ratios).any(axis=1).mean()),
        float((claimed[:, 1:] == truth).mean()),
        float((known[:, 1:] == truth).mean()),
        groups,
    )


def table(groups: int) -> Iterator[tuple[str, int, dict[int, Rates]]]:
    """(noise, rounds, rates by the number of comparisons)."""
    for name in NOISES:
        for rounds in ROUNDS:
            yield name, rounds, {c: rates(name, rounds, c, groups) for c in COMPARISONS}


def row_of(name: str, rounds: int, of: dict[int, Rates]) -> str:
    """A line of the table in docs/methodology.md."""
    columns = (
        " / ".join(f"{100 * getattr(r, member):.1f}" for r in of.values())
        for member in ("false_claims", "power", "oracle")
    )
    return f"| {name} | {rounds} | " + " | ".join(columns) + " |"


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(row_of(*line), flush=True)
