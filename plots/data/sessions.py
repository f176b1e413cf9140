"""Repeated sessions of the same rows, over all files: what stands behind a number and where the
next session falls (plots/statistics/between.py).

Rows are the same when the GPU model, the case, variant, role, repeat, config, schedule and the
digest of the code are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from plots.statistics.between import (
    LEAST_ROWS,
    Components,
    Pool,
    Prediction,
    SessionValue,
    log_error,
    predict,
)

CONFIDENCE = 0.9  # of the intervals that predict a session


class Session(NamedTuple):
    """When and on which GPU something was measured."""

    date_utc: str
    uuid_hash: str


def size_text(size: dict[str, Any], between: str = ",") -> str:
    return between.join(f"{name}={value}" for name, value in size.items() if value != "")


def case_text(key: Any) -> str:
    """ "nw n=8192 cold stream"."""
    return f"{key.app} {size_text(key.size)} {key.cache} {key.launch}"


def session_of(provenance: Any, group: Any) -> Session:
    """The session of a file that a group was measured in."""
    if group.session is not None:
        of = provenance.sessions[group.session]
        return Session(of.date_utc, of.uuid_hash)
    return Session(provenance.date_utc, group.uuid_hash or provenance.device.uuid_hash)


# --- What is compared -----------------------------------------------------------------------------


class _Baselines:
    """The rows of a group that another may be compared with."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows: dict[tuple[str, str, str], Any] = {}
        self._implemented: dict[tuple[str, str], Any] = {}
        for row in rows:
            if row.repeat or row.status != "ok":
                continue
            for schedule in {"", row.schedule}:
                self._rows.setdefault((row.variant, row.role, schedule), row)
            if row.role != "cross":
                self._implemented.setdefault((row.variant, row.config), row)

    def find(self, row: Any, role: str, schedule: str = "") -> Any:
        """The baseline's row in a role, of a schedule if one is named; None unless it is right."""
        variant = row.variant.split("/", 1)[0] + "/baseline"
        found = self._rows.get((variant, role, schedule))
        return None if found is row else found

    def reference(self, row: Any) -> Any:
        """The row that a row is compared with; None when there is none, or it is not right."""
        match row.role:
            case "iso" | "best" as role:
                return self.find(row, role)
            case "comparator":
                return self.find(row, "best")
            case "cross":
                return self.find(row, "cross", row.schedule)
            case "matched":
                best = self.find(row, "best")
                if row.variant.endswith("/baseline"):
                    return best
                if best is not None and best.schedule == row.schedule:
                    return best
                return self.find(row, "matched", row.schedule)
        return None

    def counterpart(self, row: Any) -> Any:
        """The strategy that a comparator implements, in the config of the same name."""
        variant = row.variant.split("/", 1)[0] + "/" + row.spells
        return self._implemented.get((variant, row.config)) if row.spells else None


def pairs_of(rows: Sequence[Any]) -> Iterator[tuple[Any, Any, str]]:
    """What is compared: a row, its reference, and the role of the comparison."""
    baselines = _Baselines(rows)
    for row in rows:
        if row.status != "ok":
            continue
        reference = baselines.reference(row)
        if reference is not None:
            yield row, reference, row.role
        if row.role == "best" and row.schedule and not row.variant.endswith("/baseline"):
            same = baselines.find(row, "matched", row.schedule)
            if same is not None:
                yield row, same, "matched"
        implemented = baselines.counterpart(row)
        if implemented is not None:
            yield row, implemented, "counterpart"


# --- What a session measured ----------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """One session of a row or of a comparison."""

    quantity: str  # "time" or "ratio"
    gpu: str  # the model
    app: str
    identity: str
    session: SessionValue
    date: str
    pool: str = ""  # its rows tell how far this one may move; the app where none is named

    def __post_init__(self) -> None:
        if not self.pool:
            object.__setattr__(self, "pool", self.app)


# What computes where tensor cores do: the types of their inputs.
TENSOR_KINDS = ("tf32", "bf16", "e4m3", "tf32x3")


def pool_of(app: str, kind: str) -> str:
    """Whose rows tell how far a row may move: those of its app,
    and where tensor cores compute, those of the same inputs, "gemm bf16". There it is often the
    power limit that moves a row, by times what the others of the app move."""
    return f"{app} {kind}" if kind in TENSOR_KINDS else app


def _wider(pool: str) -> str:
    """What takes the place of a pool with too few rows or GPUs: the rows of all apps on tensor
    cores, or of all apps on the others."""
    return "all apps on tensor cores" if pool.rsplit(" ")[-1] in TENSOR_KINDS else "all apps"


def _case_identity(gpu: str, group: Any) -> str:
    key = group.key
    size = ",".join(f"{name}={value}" for name, value in key.size.items())
    return f"{gpu}|{key.app}|{size}|{key.cache}|{key.launch}"


def _row_identity(case: str, row: Any) -> str:
    return (
        f"{case}|{row.variant}|{row.role}|{row.repeat}|{row.config}|{row.schedule}|"
        f"{row.source_digest}"
    )


def identities(gpu: str, group: Any) -> tuple[list[str], list[str]]:
    """Of every row and of every comparison of a group, in its order; "" for a comparison of rows
    that are not in the group."""
    case = _case_identity(gpu, group)
    of_rows = [_row_identity(case, row) for row in group.rows]
    known = dict(zip(map(id, group.rows), of_rows, strict=True))
    pairs = {}
    for row, reference, role in pairs_of(group.rows):
        schedules = row.schedule, reference.schedule
        pairs[row.variant, role, row.repeat > 0, reference.variant, *schedules] = (
            f"{role}||{known[id(row)]}||{known[id(reference)]}"
        )
    return of_rows, [
        pairs.get((c.variant, c.role, c.control, c.against, c.schedule, c.against_schedule), "")
        for c in group.comparisons
    ]


def rows_in(identity: str) -> list[str]:
    """The identities of the rows behind one: of a comparison two, the second that of the
    reference. A row may hold the separator, but begins with its GPU."""
    role, is_of_two, rest = identity.partition("||")
    if not is_of_two or "|" in role:
        return [identity]
    gpu = rest.split("|", 1)[0]
    return [f"{gpu}|{row}" for row in identity.removeprefix(role).split(f"||{gpu}|")[1:]]


def digest_in(identity: str) -> str:
    """The digest of the code behind a row, which ends with it, or behind a point."""
    parts = identity.split("|")
    return parts[-1] if len(parts) == 11 else parts[2]


def measured_in(
    provenance: Any, group: Any, of_rows: Sequence[str], of_comparisons: Sequence[str]
) -> Iterator[Measured]:
    """What a group measured; with its identities()."""
    gpu = provenance.device.name
    session = session_of(provenance, group)
    key = group.key
    pool = pool_of(key.app, group.work.kind)

    def one(quantity: str, identity: str, value: float, found: Any) -> Measured:
        error = log_error(found.low, found.high, found.coverage)
        said = SessionValue(session.uuid_hash, math.log(value), error)
        return Measured(quantity, gpu, key.app, identity, said, session.date_utc, pool)

    for row, identity in zip(group.rows, of_rows, strict=True):
        if row.status == "ok" and row.time_ms is not None:
            yield one("time", identity, row.time_ms.median, row.time_ms)
    for c, identity in zip(group.comparisons, of_comparisons, strict=True):
        if identity:
            yield one("ratio", identity, c.speedup.ratio, c.speedup)


def point_identity(gpu: str, microbenchmark: Any, row: Any) -> str:
    at = ",".join(f"{name}={value}" for name, value in row.at.items())
    return "|".join((gpu, microbenchmark.name, microbenchmark.source_digest, at, row.quantity))


def measured_points(provenance: Any, microbenchmark: Any) -> Iterator[Measured]:
    """The points of a microbenchmark that have a value; those of the same one tell how far a point
    may move."""
    gpu, name = provenance.device.name, microbenchmark.name
    session = session_of(provenance, microbenchmark)
    for row in microbenchmark.rows:
        value = row.value
        if value is not None:
            error = log_error(value.low, value.high, value.coverage)
            said = SessionValue(session.uuid_hash, math.log(value.median), error)
            identity = point_identity(gpu, microbenchmark, row)
            yield Measured("point", gpu, name, identity, said, session.date_utc)


@dataclass
class Sessions:
    """All sessions, by what they are of."""

    # Reads those of a GPU model and an app in the record of an earlier version, which says how far
    # rows move until the current code was measured on enough GPUs.
    read_earlier: Callable[[str, str], Sessions] | None = None
    found: dict[str, list[Measured]] = field(default_factory=lambda: defaultdict(list))
    # By quantity, GPU model and pool, or what takes its place; made when it is asked for.
    _rows: dict[tuple[str, str, str], list[list[SessionValue]]] = field(default_factory=dict)
    _pools: dict[tuple[str, str, str], Pool] = field(default_factory=dict)

    @cached_property
    def _earlier(self) -> Callable[[str, str], Sessions]:
        return cache(self.read_earlier or (lambda gpu, app: Sessions()))

    def add(self, measured: Measured) -> None:
        """A session that stands in two files is one: its GPU and the second in which it began tell
        it from others."""
        there = self.found[measured.identity]
        mine = measured.session.gpu, measured.date
        if mine not in ((m.session.gpu, m.date) for m in there):
            there.append(measured)
            self._rows.clear()
            self._pools.clear()

    def of(self, identity: str) -> list[SessionValue]:
        """The sessions of a row or comparison; empty for what is not known."""
        return [m.session for m in self.found.get(identity, ())]

    def kind(self, quantity: str, gpu: str, pool: str, *but: str) -> Components:
        """What is known of the rows of a pool, ``but`` those with these identities. A row is
        predicted from the others, and from its own sessions. The source is the pool itself. Where
        its rows are few, or on few GPUs, it is the same pool of an earlier version's record, else
        the rows of all apps on such cores."""
        known, name = self._source(quantity, gpu, pool)
        found = known._pool(quantity, gpu, name)
        if name != pool:
            found = found.of_others()
        return found.without(*(known.of(identity) for identity in but))

    def _source(self, quantity: str, gpu: str, pool: str) -> tuple[Sessions, str]:
        """Whose rows say how far those of a pool move: which sessions, and which of their pools."""
        if self.has_own_kind(quantity, gpu, pool):
            return self, pool
        earlier = self._earlier(gpu, pool.split(" ")[0])
        if earlier.has_own_kind(quantity, gpu, pool):
            return earlier, pool
        return self, _wider(pool)

    def borrowed(self) -> list[str]:
        """A sentence for each app and GPU that takes the spread of an earlier version."""
        kinds = {(m.quantity, m.gpu, m.pool) for m, *_ in self.found.values()}
        return [
            f"{pool} on {gpu}: how far {quantity}s move from GPU to GPU is taken from the record "
            "of an earlier version, until the current code is measured on more GPUs."
            for quantity, gpu, pool in sorted(kinds)
            if self._source(quantity, gpu, pool)[0] is not self
        ]

    def kind_of(self, identity: str, *others: str) -> Components:
        """The same of the rows that one is like, it and ``others`` left out; nothing where it is
        not among these."""
        of_row = self.found.get(identity)
        if not of_row:
            return Components()
        first = of_row[0]
        return self.kind(first.quantity, first.gpu, first.pool, identity, *others)

    def has_own_kind(self, quantity: str, gpu: str, pool: str) -> bool:
        """Whether a pool says by itself how GPUs differ."""
        return self._pool(quantity, gpu, pool).suffices

    def _pool(self, quantity: str, gpu: str, pool: str) -> Pool:
        if not self._rows:
            for identity, of_row in self.found.items():
                first = of_row[0]
                sessions = self.of(identity)
                for name in (first.pool, _wider(first.pool)):
                    at = first.quantity, first.gpu, name
                    self._rows.setdefault(at, []).append(sessions)
        kind = quantity, gpu, pool
        if kind not in self._pools:
            self._pools[kind] = Pool.of(self._rows.get(kind, []))
        return self._pools[kind]

    def predicted(self, identity: str) -> Prediction | None:
        """Where a session on another GPU of the model falls; None where that is not known."""
        of_row = self.found.get(identity)
        if not of_row:
            return None
        return predict(self.of(identity), self.kind_of(identity), CONFIDENCE)


def offset_corrected(sessions: Sessions, others: Sessions, quantity: str = "time") -> Sessions:
    """The values of ``quantity`` in ``sessions``, with those of ``others`` as further sessions of
    the same rows after what they differ by as a whole is taken out: from every logarithm the median
    of the differences of its app. Of an app with few rows in both nothing is taken in. So the
    difference between two files tells how far rows move apart, and not how far all of them moved,
    which is to be judged."""
    all_ = Sessions()
    for of_row in sessions.found.values():
        for measured in of_row:
            if measured.quantity == quantity:
                all_.add(measured)
    differences: dict[tuple[str, str], list[float]] = defaultdict(list)
    for identity, of_row in others.found.items():
        there = [s.value for s in all_.of(identity)]
        if there:
            mean = sum(there) / len(there)
            differences[of_row[0].gpu, of_row[0].app] += [m.session.value - mean for m in of_row]
    level = {
        kind: float(np.median(of_app))
        for kind, of_app in differences.items()
        if len(of_app) >= LEAST_ROWS
    }
    for identity, of_row in others.found.items():
        for m in of_row if all_.of(identity) else ():
            if (m.gpu, m.app) in level:
                value = m.session.value - level[m.gpu, m.app]
                all_.add(replace(m, session=m.session._replace(value=value)))
    return all_


def joined(sessions: Sessions, *others: Sessions) -> Sessions:
    """All of them as sessions of the same rows."""
    if not others:
        return sessions
    all_ = Sessions(sessions.read_earlier)
    for of in (sessions, *others):
        for of_row in of.found.values():
            for measured in of_row:
                all_.add(measured)
    return all_


def pool_of_all(quantity: str, gpu: str, pool: str, *several: Sessions) -> Pool:
    """A pool over several sets of sessions, none of which counts as sessions of the
    rows of another: how far rows move may not be learnt from a difference that is to be judged."""
    of_gpu = [
        (sessions, identity, of_row[0].pool)
        for sessions in several
        for identity, of_row in sessions.found.items()
        if (of_row[0].quantity, of_row[0].gpu) == (quantity, gpu)
    ]
    own = Pool.of([s.of(identity) for s, identity, of in of_gpu if of == pool])
    if own.suffices:
        return own
    alike = [s.of(identity) for s, identity, of in of_gpu if _wider(of) == _wider(pool)]
    return Pool.of(alike).of_others()
