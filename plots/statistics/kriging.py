"""Values between measured points, by ordinary kriging: a Gaussian process of unknown constant mean.

Points are rows of an array whose columns are scaled so that the correlation of two points falls
with their Euclidean distance alone (Matérn, 3/2). How wide an interval has to be is not taken from
that model: it is learnt from how far the measured points were from what the others say of them
(conformal; Lei and others, "Distribution-free predictive inference for regression", 2018).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

COVERAGE = 0.9
LEAST = 9  # points: with fewer no interval of this coverage can be learnt, whatever its width
_FLAT = 100.0  # variance of the mean, in variances of the values: as good as unknown


def correlation(apart: Array) -> Array:
    """Of values at points so far apart."""
    r = math.sqrt(3) * apart
    return np.asarray((1 + r) * np.exp(-r))


def distances(a: Array, b: Array) -> Array:
    """Of every row of ``a`` (n x d) from every row of ``b`` (m x d), n x m."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _quantile(of: Array) -> float:
    """The least width that COVERAGE of new points keep to, when these kept to theirs so."""
    ordered = np.sort(of)
    return float(ordered[min(math.ceil(COVERAGE * (len(ordered) + 1)), len(ordered)) - 1])


class Field:
    """Values (n) measured at points (n x d, scaled), at least LEAST of them. ``nugget``: variance
    of repeated measurements at one point, in variances of the values. ``like_new`` (n, bool): the
    points that lie among the others as a new one does, of which widths are learnt; all, if LEAST
    of them do not."""

    def __init__(
        self,
        points: Array,
        values: Array,
        nugget: float,
        like_new: NDArray[np.bool_] | None = None,
    ) -> None:
        if len(values) < LEAST:
            raise ValueError(f"{len(values)} points, expected {LEAST} or more")
        self._points, self._nugget = points, nugget
        among = correlation(distances(points, points)) + nugget * np.eye(len(values))
        self._inverse = np.linalg.inv(among + _FLAT)
        self._weighted = self._inverse @ values
        # What the others say of each point has a closed form (Dubrule, "Cross validation of
        # kriging in a unique neighborhood", 1983).
        of_itself = np.diag(self._inverse)
        error = self._weighted / of_itself
        self._missed = np.abs(error) * np.sqrt(of_itself)
        some = like_new is not None and like_new.sum() > LEAST
        self._like_new = like_new if some else np.ones(len(values), dtype=bool)

    def at(self, points: Array) -> list[tuple[float, float]]:
        """The value at each of some points (m x d), and half the width of its interval."""
        to = correlation(distances(points, self._points)) + _FLAT
        left = 1 + self._nugget + _FLAT - ((to @ self._inverse) * to).sum(axis=1)
        halves = _quantile(self._missed[self._like_new]) * np.sqrt(np.maximum(left, 0.0))
        return list(zip((to @ self._weighted).tolist(), halves.tolist(), strict=True))


def nearest(point: Array, points: Array, count: int) -> Sequence[int]:
    """The numbers of the ``count`` points that are nearest, the nearest first."""
    return [int(i) for i in np.argsort(distances(points, point[None, :])[:, 0], kind="stable")][
        :count
    ]
