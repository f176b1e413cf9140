"""Repeated sessions of the same rows, over all files: what stands behind a number and where the
next session falls (plots/statistics/between.py).

Rows are the same when the GPU model, the case, variant, role, repeat, config, schedule and the
digest of the code are.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plots.data import recomputed
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

Record = dict[str, Any]

# Files that were merged before groups named their sessions say so which GPU a group was on.
_OTHER_GPU = re.compile(r"^measured on another .*\(([^()]*)\) than the first file's")


def session_of(provenance: Record, group: Record) -> Record:
    """When, on which GPU and in which state a group was measured: date_utc, uuid_hash,
    device_state."""
    index = group.get("session")
    if index is not None:
        return provenance["sessions"][index]
    warned = (_OTHER_GPU.match(text) for text in group["warnings"])
    other = next((match.group(1) for match in warned if match), None)
    return {
        "date_utc": provenance["date_utc"],
        "commit": provenance["commit"],
        "uuid_hash": other or provenance["device"]["uuid_hash"],
        "device_state": {} if other else provenance["device_state"],
    }


@dataclass(frozen=True)
class Measured:
    """One session of a row or of a comparison."""

    quantity: str  # "time" or "ratio"
    gpu: str  # the model
    app: str
    case: str  # "nw n=8192 cold stream"
    name: str  # "nw/tma best", "nw/tma best against nw/baseline"
    role: str
    identity: str
    session: SessionValue
    date: str
    commit: str
    sm_clock_mhz: float = math.nan  # median over the samples
    temperature_c: float = math.nan  # when the session began
    tenth_ms: float = math.nan  # a tenth of the samples took less
    ninetieth_ms: float = math.nan  # a tenth took more
    pool: str = ""  # its rows tell how far this one may move; the app where none is named

    def __post_init__(self) -> None:
        if not self.pool:
            object.__setattr__(self, "pool", self.app)


# What computes where tensor cores do: the types of their inputs.
TENSOR_KINDS = ("tf32", "bf16", "e4m3")


def pool_of(app: str, kind: str) -> str:
    """Whose rows tell how far a row may move: those of its app,
    and where tensor cores compute, those of the same inputs, "gemm bf16". There it is often the
    power limit that moves a row, by times what the others of the app move."""
    return f"{app} {kind}" if kind in TENSOR_KINDS else app


def _wider(pool: str) -> str:
    """What takes the place of a pool with too few rows or GPUs: the rows of all apps on tensor
    cores, or of all apps on the others."""
    return "all apps on tensor cores" if pool.rsplit(" ")[-1] in TENSOR_KINDS else "all apps"


def row_identity(gpu: str, group: Record, row: Record) -> str:
    key = group["key"]
    size = ",".join(f"{name}={value}" for name, value in key["size"].items())
    parts = (
        gpu, key["app"], size, key["cache"], key["launch"], row["variant"], row["role"],
        row["repeat"], row["config"], row.get("schedule") or "", row.get("source_digest") or "",
    )  # fmt: skip
    return "|".join(map(str, parts))


def comparison_identities(gpu: str, group: Record) -> list[str]:
    """Of every comparison of a group, in its order; "" where its rows are not in the group."""
    pairs = {}
    for row, reference, role in recomputed.pairs_of(group["rows"]):
        schedules = row.get("schedule") or "", reference.get("schedule") or ""
        pairs[row["variant"], role, row["repeat"] > 0, reference["variant"], *schedules] = (
            f"{role}||{row_identity(gpu, group, row)}||{row_identity(gpu, group, reference)}"
        )
    return [
        pairs.get(
            (
                c["variant"], c["role"], c["control"], c["against"], c.get("schedule") or "",
                c.get("against_schedule") or "",
            ),
            "",
        )
        for c in group["comparisons"]
    ]  # fmt: skip


def median_of_known(values: np.ndarray) -> float:
    """The median of the finite values; NaN without any."""
    known = np.sort(values[np.isfinite(values)])
    return float(known[len(known) // 2]) if len(known) else math.nan


def _tenths(of_rows: Sequence[np.ndarray]) -> list[list[float]]:
    """What a tenth of the values of each row is below, and a tenth above; of rows with as many
    values, which most of a group have, at once."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, values in enumerate(of_rows):
        places[len(values)].append(place)
    ends: list[list[float]] = [[]] * len(of_rows)
    for alike in places.values():
        lows_and_highs = np.quantile([of_rows[i] for i in alike], (0.1, 0.9), axis=1)
        for place, low_and_high in zip(alike, lows_and_highs.T.tolist(), strict=True):
            ends[place] = low_and_high
    return ends


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def _name(record: Record) -> str:
    """ "nw/tma best wide"; a schedule that is called as the role is not said twice."""
    schedule = record.get("schedule")
    parts = record["variant"], record["role"], "" if schedule == record["role"] else schedule
    return " ".join(filter(None, parts))


def measured_in(document: Record, group: Record) -> Iterator[Measured]:
    """What a group measured."""
    provenance = document["provenance"]
    gpu = provenance["device"]["name"]
    session = session_of(provenance, group)
    key = group["key"]
    size = ",".join(f"{n}={v}" for n, v in key["size"].items() if v != "")
    case = f"{key['app']} {size} {key['cache']} {key['launch']}"
    where = session["uuid_hash"], session["date_utc"], session["commit"]
    temperature = _number((session["device_state"] or {}).get("temperature_c"))

    def one(
        of: Record, quantity: str, name: str, identity: str, clock: float, ends: Sequence[float]
    ) -> Measured:
        found = of["time_ms" if quantity == "time" else "speedup"]
        value = found["median"] if quantity == "time" else found["ratio"]
        error = log_error(found["low"], found["high"], found["coverage"])
        said = SessionValue(where[0], math.log(value), error)
        return Measured(
            quantity,
            gpu,
            key["app"],
            case,
            name,
            of["role"],
            identity,
            said,
            *where[1:],
            clock,
            temperature,
            *ends,
            pool_of(key["app"], group["work"]["kind"]),
        )

    rows = [row for row in group["rows"] if row["status"] == "ok" and row.get("time_ms")]
    for row, ends in zip(rows, _tenths([recomputed.usable(row)[1] for row in rows]), strict=True):
        name = _name(row)
        name += " (A/A)" if row["repeat"] else ""
        clock = median_of_known(row["samples"]["sm_clock_mhz"])
        yield one(row, "time", name, row_identity(gpu, group, row), clock, ends)
    identities = comparison_identities(gpu, group)
    for c, identity in zip(group["comparisons"], identities, strict=True):
        if identity:
            name = _name(c)
            name += f" against {c['against']}" + (" (A/A)" if c["control"] else "")
            yield one(c, "ratio", name, identity, math.nan, (math.nan, math.nan))


def point_identity(gpu: str, microbenchmark: Record, row: Record) -> str:
    at = ",".join(f"{name}={value}" for name, value in row["at"].items())
    digest = microbenchmark.get("source_digest") or ""
    return "|".join((gpu, microbenchmark["name"], digest, at, row["quantity"]))


def measured_points(provenance: Record, microbenchmark: Record) -> Iterator[Measured]:
    """The points of a microbenchmark that have a value; those of the same one tell how far a point
    may move."""
    gpu, name = provenance["device"]["name"], microbenchmark["name"]
    session = session_of(provenance, microbenchmark)
    for row in microbenchmark["rows"]:
        value = row.get("value")
        if value and value["median"] > 0:
            error = log_error(value["low"], value["high"], value["coverage"])
            said = SessionValue(session["uuid_hash"], math.log(value["median"]), error)
            identity = point_identity(gpu, microbenchmark, row)
            yield Measured(
                "point", gpu, name, "", row["quantity"], "", identity, said,
                session["date_utc"], session["commit"],
            )  # fmt: skip


def _sort_of(measured: Measured) -> tuple[str, str, str]:
    return measured.quantity, measured.case, measured.role


@dataclass
class Sessions:
    """All sessions, by what they are of."""

    found: dict[str, list[Measured]] = field(default_factory=lambda: defaultdict(list))
    # Those of the record of an earlier version, which says how far rows of a GPU model move until
    # the current code was measured on enough GPUs.
    earlier: Sessions | None = None
    # By quantity, GPU model and pool, or what takes its place; made when it is asked for.
    _rows: dict[tuple[str, str, str], list[list[SessionValue]]] = field(default_factory=dict)
    _pools: dict[tuple[str, str, str], Pool] = field(default_factory=dict)
    _alike: dict[tuple[str, str, str], list[list[Measured]]] = field(default_factory=dict)

    def add(self, measured: Measured) -> None:
        """A session that stands in two files is one: its GPU and the second in which it began tell
        it from others."""
        there = self.found[measured.identity]
        mine = measured.session.gpu, measured.date
        if mine not in ((m.session.gpu, m.date) for m in there):
            there.append(measured)
            self._rows.clear()
            self._pools.clear()
            self._alike.clear()

    def of(self, identity: str) -> list[SessionValue]:
        """The sessions of a row or comparison; empty for what is not known."""
        return [m.session for m in self.found.get(identity, ())]

    def alike(self, measured: Measured) -> list[list[Measured]]:
        """The rows of the same quantity, case and role, its own included."""
        if not self._alike:
            for row in self.found.values():
                self._alike.setdefault(_sort_of(row[0]), []).append(row)
        return self._alike.get(_sort_of(measured), [])

    def kind(self, quantity: str, gpu: str, pool: str, *but: str) -> Components:
        """What is known of the rows of a pool, ``but`` those with these identities: from the pool
        itself; where its rows are few, or on few GPUs, from the same pool of the record of an
        earlier version; where that is so, too, from the rows of all apps on such cores. A row is
        predicted from the others, and from what it says itself."""
        known, name = self._source(quantity, gpu, pool)
        found = known._pool(quantity, gpu, name)
        if name != pool:
            found = found.of_others()
        return found.without(*(known.of(identity) for identity in but))

    def _source(self, quantity: str, gpu: str, pool: str) -> tuple[Sessions, str]:
        """Whose rows say how far those of a pool move: which sessions, and which of their pools."""
        for sessions in (self, self.earlier):
            if sessions is not None and sessions.has_own_kind(quantity, gpu, pool):
                return sessions, pool
        return self, _wider(pool)

    def borrowed(self) -> list[str]:
        """A sentence for each app and GPU whose rows are said to move as in an earlier version."""
        kinds = {(m.quantity, m.gpu, m.pool) for m, *_ in self.found.values()}
        return [
            f"{pool} on {gpu}: how far {quantity}s move from GPU to GPU is taken from the record "
            "of an earlier version, until the current code is measured on more GPUs."
            for quantity, gpu, pool in sorted(kinds)
            if self._source(quantity, gpu, pool)[0] is not self
        ]

    def spread_from(self, quantity: str, gpu: str, pool: str) -> str:
        """In words, whose rows say how far those of a pool move; "" for its own."""
        sessions, name = self._source(quantity, gpu, pool)
        if name != pool:
            return name
        return "" if sessions is self else "the record of an earlier version"

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

    def without(self, gpu: str) -> Sessions:
        """The same as if one GPU, by the hash of its UUID, had never been there."""
        rest = Sessions(earlier=None if self.earlier is None else self.earlier.without(gpu))
        for identity, of_row in self.found.items():
            kept = [m for m in of_row if m.session.gpu != gpu]
            if kept:
                rest.found[identity] = kept
        return rest


def levelled(sessions: Sessions, others: Sessions) -> Sessions:
    """The times of ``sessions``, with those of ``others`` as further sessions of the same rows
    after what they differ by as a whole is taken out: from every logarithm the median of the
    differences of its app. Of an app with few rows in both nothing is taken in. So the difference
    between two files tells how far rows move apart, and not how far all of them moved, which is to
    be judged."""
    all_ = Sessions()
    for of_row in sessions.found.values():
        for measured in of_row:
            if measured.quantity == "time":
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
                all_.add(replace(m, session=replace(m.session, value=value)))
    return all_


def joined(sessions: Sessions, *others: Sessions) -> Sessions:
    """All of them as sessions of the same rows."""
    if not others:
        return sessions
    all_ = Sessions(earlier=sessions.earlier)
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
