"""Where the next session falls: the nested model of docs/methodology.md, "Between runs".

The logarithm of a median, or of a ratio, is the row's mean + an effect of the GPU + an effect of
the session on that GPU + the error within the run.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import NamedTuple

# stdtr and stdtrit are Student's t distribution and its quantile, fdtri that of Fisher's F.
import scipy

from plots.statistics.intervals import ends_of_logs

# The weight of a pool beside the row's own deviations, in degrees of freedom. Rows of one kind vary
# differently between sessions: a row with enough sessions of its own outweighs its pool. So many
# degrees mean that of the variances of rows half lie within a factor of 2 of the middle one.
POOL_DEGREES = 3
# A deviation counts as at most so many typical ones where rows tell whether they move together.
WINSOR = 5
# With fewer rows, or rows on fewer GPUs, a kind has no variance components of its own. Two GPUs are
# one difference, however many rows show it: if they happen to be alike, all would seem alike.
LEAST_ROWS = 5
LEAST_GPUS = 3
_QUARTILE = -0.6744897501960817  # of the normal distribution


class SessionValue(NamedTuple):
    """One session of a row: which GPU, the logarithm of what was measured, and the standard
    deviation of that logarithm within the run."""

    gpu: str
    value: float
    error: float = 0.0


class Components(NamedTuple):
    """Variances of logarithms, pooled over rows; of ``..._rows`` rows, 0: not known.

    ``session_variance`` is between sessions on one GPU, the error within a run included. The
    degrees of freedom are what the rows have; a row counts no more than POOL_DEGREES of them.
    """

    gpu_variance: float = 0.0
    session_variance: float = 0.0
    gpu_rows: int = 0
    session_rows: int = 0
    # Of freedom, of gpu_variance. All rows of a kind lie on the same few GPUs, and what a GPU does
    # to one it may do to all: they count for as many as move by themselves.
    gpu_degrees: float = 0.0
    session_degrees: float = 0.0
    # What the rows count at most where they say how GPUs differ.
    most_gpu_degrees: float = POOL_DEGREES


class Prediction(NamedTuple):
    """Where a new session falls with the stated confidence; no logarithms."""

    value: float
    low: float
    high: float
    confidence: float
    degrees: float
    sessions: int
    gpus: int

    @property
    def half_width(self) -> float:
        """As a share."""
        return (self.high - self.low) / (2 * self.value)


def log_error(low: float, high: float, coverage: float) -> float:
    """Standard deviation of the logarithm of an estimate whose interval covers so much; 0 where the
    interval covers nothing or everything."""
    if not (0 < coverage < 1 and 0 < low <= high):
        return 0.0
    return math.log(high / low) / (2 * _normal_quantile((1 + coverage) / 2))


@lru_cache(maxsize=1 << 12)  # of the coverages of as many numbers of rounds
def _normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def value_of(row: Sequence[SessionValue]) -> float:
    """What a row's sessions say it is: the mean over its GPUs of the means of their sessions, no
    logarithm. Raises ValueError without sessions."""
    _check(row, 0.5)
    return math.exp(_of(row).mean)


def _by_gpu(row: Sequence[SessionValue]) -> list[list[SessionValue]]:
    found: dict[str, list[SessionValue]] = {}
    for session in row:
        found.setdefault(session.gpu, []).append(session)
    return list(found.values())


class _Row(NamedTuple):
    """What a row says of itself: means of its GPUs, and the deviations from them."""

    gpus: tuple[str, ...]
    means: tuple[float, ...]  # of these
    mean: float  # of the means
    between: float  # sum of squares of what they deviate by
    within: float  # sum of squares
    within_degrees: int
    shares: float  # mean over the GPUs of 1 / sessions there
    error: float  # mean variance within the runs


def _of(row: Sequence[SessionValue]) -> _Row:
    return _said_by(tuple(row))


@lru_cache(maxsize=1 << 16)  # a row is in two pools, and in those without this GPU or that
def _said_by(row: tuple[SessionValue, ...]) -> _Row:
    cells = _by_gpu(row)
    means = tuple(fmean(s.value for s in cell) for cell in cells)
    mean = fmean(means)
    within = sum((s.value - m) ** 2 for cell, m in zip(cells, means, strict=True) for s in cell)
    return _Row(
        tuple(cell[0].gpu for cell in cells),
        means,
        mean,
        sum((m - mean) ** 2 for m in means),
        within,
        sum(len(cell) - 1 for cell in cells),
        fmean(1 / len(cell) for cell in cells),
        fmean(s.error**2 for s in row),
    )


@lru_cache(maxsize=64)
def _median_of_f(degrees: int) -> float:
    """Of Fisher's F with so many degrees over POOL_DEGREES: of estimated variances, over that of
    their kind (Smyth 2004, "moderated t")."""
    return float(scipy.special.fdtri(degrees, POOL_DEGREES, 0.5))


class _Variance(NamedTuple):
    """The typical variance of rows: half of them vary more. A mean would be that of the few that
    vary most."""

    of_rows: tuple[float, ...] = ()  # each over the median of such estimates, sorted
    degrees: int = 0
    taken: tuple[float, ...] = ()  # out of them

    @property
    def rows(self) -> int:
        return len(self.of_rows) - len(self.taken)

    @property
    def typical(self) -> float:
        out = sorted(bisect_left(self.of_rows, value) for value in self.taken)

        def left(place: int) -> float:
            for index in out:
                place += index <= place
            return self.of_rows[place]

        return (left((self.rows - 1) // 2) + left(self.rows // 2)) / 2 if self.rows else 0.0

    def without(self, squares: float, degrees: int) -> _Variance:
        """After one of the rows is taken out."""
        if degrees == 0:
            return self
        own = squares / degrees / _median_of_f(degrees)
        return self._replace(degrees=self.degrees - degrees, taken=(*self.taken, own))


def _pooled(squares: Iterable[tuple[float, int]]) -> _Variance:
    """Rows without degrees of freedom say nothing."""
    known = [(sum_, degrees) for sum_, degrees in squares if degrees]
    return _Variance(
        tuple(sorted(sum_ / degrees / _median_of_f(degrees) for sum_, degrees in known)),
        sum(degrees for _, degrees in known),
    )


def _lower_quartile_of_chi_squared(degrees: int) -> float:
    """By Wilson and Hilferty's cube, 1931, which two programs can agree on."""
    ninth = 2 / (9 * degrees)
    return degrees * (1 - ninth + _QUARTILE * math.sqrt(ninth)) ** 3


def _correlation(moved: Sequence[_Row], variance: float) -> float:
    """Of what a GPU does to two rows, from those on two GPUs or more, whose means vary by
    ``variance``. Few GPUs may show a smaller one than there is, by chance: it is taken as so large
    that three of four such sets of GPUs would have shown more."""
    deviations: dict[str, list[float]] = {}
    for row in moved:
        scale = math.sqrt(len(row.means) / (len(row.means) - 1))
        for gpu, mean in zip(row.gpus, row.means, strict=True):
            of_typical = (mean - row.mean) * scale / math.sqrt(variance) if variance > 0 else 0.0
            deviations.setdefault(gpu, []).append(max(-WINSOR, min(WINSOR, of_typical)))
    own = sum(d * d for of_gpu in deviations.values() for d in of_gpu)
    products = sum(sum(of_gpu) ** 2 for of_gpu in deviations.values()) - own
    pairs = sum(len(of_gpu) * (len(of_gpu) - 1) for of_gpu in deviations.values())
    if not (pairs and own > 0):
        return 0.0
    all_ = sum(len(of_gpu) for of_gpu in deviations.values())
    degrees = len(deviations) - 1
    shown = max(0.0, products / pairs / (own / all_))
    return min(1.0, shown * degrees / _lower_quartile_of_chi_squared(degrees))


def _less_one(counts: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    left = {name: count - (name in names) for name, count in counts.items()}
    return {name: count for name, count in left.items() if count}


class Pool(NamedTuple):
    """What the rows of a kind say together, and what is left of it when some are taken out: what a
    row says of itself must not count again as what others say of it."""

    session: _Variance
    gpu: _Variance
    shares: float  # sum over the rows on two GPUs or more, weighted by their degrees of freedom
    rows_on: Mapping[str, int]  # of those rows, by GPU
    correlation: float  # of what a GPU does to two rows
    most_gpu_degrees: float = POOL_DEGREES

    @staticmethod
    def of(rows: Iterable[Sequence[SessionValue]]) -> Pool:
        """Rows with one session say nothing."""
        said = [_of(row) for row in rows if row]
        moved = [r for r in said if len(r.means) > 1]
        gpu = _pooled([(r.between, len(r.means) - 1) for r in moved])
        return Pool(
            _pooled([(r.within, r.within_degrees) for r in said]),
            gpu,
            sum(r.shares * (len(r.means) - 1) for r in moved),
            Counter(gpu for r in moved for gpu in r.gpus),
            _correlation(moved, gpu.typical),
        )

    @property
    def suffices(self) -> bool:
        """Whether enough rows were measured on enough GPUs to say how GPUs differ."""
        return self.gpu.rows >= LEAST_ROWS and len(self.rows_on) >= LEAST_GPUS

    def of_others(self) -> Pool:
        """The same for rows of an app that is not among these; it may move otherwise."""
        return self._replace(most_gpu_degrees=1)

    def without(self, *rows: Sequence[SessionValue]) -> Components:
        """What all rows but these say. They must be of the pool, as they are in it."""
        left = self
        for row in rows:
            if row:
                left = left._less(_of(row))
        return left.components()

    def _less(self, row: _Row) -> Pool:
        degrees = len(row.means) - 1
        return self._replace(
            session=self.session.without(row.within, row.within_degrees),
            gpu=self.gpu.without(row.between, degrees),
            shares=self.shares - row.shares * degrees,
            rows_on=_less_one(self.rows_on, row.gpus) if degrees else self.rows_on,
        )

    def components(self) -> Components:
        """What all of them say."""
        session = self.session.typical
        # A mean over the sessions of a GPU still has their share of the variance within.
        share = self.shares / self.gpu.degrees if self.gpu.degrees else 0.0
        return Components(
            max(0.0, self.gpu.typical - session * share),
            session,
            self.gpu.rows,
            self.session.rows,
            self._gpu_degrees(),
            self.session.degrees,
            self.most_gpu_degrees,
        )

    def _gpu_degrees(self) -> float:
        """Those of the GPUs times the number of rows that move by themselves: of n rows, with
        correlation r, n / (1 + (n - 1) r)."""
        rows = self.gpu.rows
        if rows == 0:
            return 0.0
        by_themselves = rows / (1 + (rows - 1) * self.correlation)
        return min(max(1.0, (len(self.rows_on) - 1) * by_themselves), self.gpu.degrees)


def _within(said: _Row, kind: Components) -> tuple[float, float]:
    """The variance between sessions on one GPU that is right for this row, and its degrees; of 0
    degrees nothing but the error within a run is known."""
    pool = min(POOL_DEGREES, kind.session_degrees)
    degrees = pool + said.within_degrees
    variance = kind.session_variance
    if degrees > 0:
        variance = (pool * variance + said.within) / degrees
    return max(variance, said.error), degrees


def _between(said: _Row, kind: Components, session: tuple[float, float]) -> tuple[float, float]:
    """The variance between the means of GPUs that is right for this row, and its degrees; of 0
    degrees it is not known."""
    pool = min(kind.most_gpu_degrees, kind.gpu_degrees)
    degrees = pool + len(said.means) - 1
    if degrees == 0:
        return 0.0, 0
    expected = kind.gpu_variance + session[0] * said.shares
    variance = (pool * expected + said.between) / degrees
    return max(variance, said.error * said.shares), degrees


def _sum(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    """Satterthwaite: a sum of two variances that are each estimated, and its degrees."""
    variance = a[0] + b[0]
    if not variance > 0:
        return 0.0, a[1]
    return variance, variance**2 / sum(part**2 / d for part, d in (a, b) if part > 0)


@dataclass(frozen=True)
class Estimate:
    """The logarithm of a new session's value, or of what two rows differ by, as far as sessions
    show it: its standard deviation, and the degrees of freedom of that."""

    value: float
    deviation: float
    degrees: float

    @property
    def p_value(self) -> float:
        """The probability of a difference as large as this one, or larger, where there is none."""
        if self.deviation == 0:
            return float(self.value == 0)
        return 2 * float(scipy.special.stdtr(self.degrees, -abs(self.value) / self.deviation))

    def ends(self, confidence: float) -> tuple[float, float]:
        half = float(scipy.special.stdtrit(self.degrees, (1 + confidence) / 2)) * self.deviation
        return self.value - half, self.value + half


def predict(
    row: Sequence[SessionValue], kind: Components, confidence: float = 0.9
) -> Prediction | None:
    """Where a session on another GPU of the model falls, from the row and from what the others of
    its kind say (Pool.without); None where neither it nor another was measured on two. Raises
    ValueError for no session, and for a confidence outside (0, 1)."""
    _check(row, confidence)
    said = _of(row)
    session = _within(said, kind)
    gpu = _between(said, kind, session)
    if gpu[1] == 0:
        return None
    # A GPU's mean of several sessions varies less than one session of another GPU does.
    variance, degrees = _sum(
        (gpu[0] * (1 + 1 / len(said.means)), gpu[1]), (session[0] * (1 - said.shares), session[1])
    )
    found = Estimate(said.mean, math.sqrt(variance), degrees)
    ends = ends_of_logs(*found.ends(confidence))
    gpus = len({s.gpu for s in row})
    return Prediction(math.exp(found.value), *ends, confidence, found.degrees, len(row), gpus)


def difference(
    a: Sequence[SessionValue],
    kind_of_a: Components,
    b: Sequence[SessionValue],
    kind_of_b: Components,
) -> Estimate | None:
    """Of the mean of ``a`` less that of ``b``; each kind is what the others say (Pool.without). On
    the same GPUs their effects cancel; on others they do not, and then it must be known of both
    sides how GPUs differ. None where that is not known. Raises ValueError for a row without
    sessions."""
    _check(a, 0.5)
    _check(b, 0.5)
    sides, known = [], []
    same_gpus = {s.gpu for s in a} == {s.gpu for s in b}
    for row, kind in ((a, kind_of_a), (b, kind_of_b)):
        said = _of(row)
        session = _within(said, kind)
        if same_gpus:
            side = session[0] * said.shares, session[1]
            known.append(kind.session_degrees + said.within_degrees)
        else:
            side = _between(said, kind, session)
            known.append(kind.gpu_degrees + len(said.means) - 1)
        if side[1] == 0:
            return None
        sides.append((side[0] / len(said.means), side[1]))
    variance, degrees = _sum(*sides)
    # The sides say much of the same: the row of the one may be in the pool of the other. Together
    # they know no more than a row and its pool do.
    degrees = min(degrees, max(known))
    return Estimate(_of(a).mean - _of(b).mean, math.sqrt(variance), degrees)


def _check(row: Sequence[SessionValue], confidence: float) -> None:
    if not row:
        raise ValueError("a prediction needs a session")
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
