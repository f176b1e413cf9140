"""Result files -> tidy frames. A column that a file has is there because the schema has it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from plots.data import frozen
from plots.data.devices import memory_gb_s
from plots.data.documents import SAMPLE_COLUMNS, find_files, read_document
from plots.data.recorded import Recorded, abridged
from plots.data.schema import columns, columns_of, scalars
from plots.data.sessions import (
    Measured,
    Sessions,
    case_text,
    identities,
    measured_in,
    measured_points,
    point_identity,
    session_of,
    size_text,
)
from plots.data.strategies import NAMES
from plots.parallel import no_search_for_garbage
from plots.statistics.claims import claim_between_runs, invalidity_in
from plots.units import shortened

# The rows that a single picture shows, one of a variant each; a variant may have several `matched`
# rows, one per schedule. (Tables of `amasia cross` are kept apart, in Results.cross.)
SHOWN_ROLES = ("iso", "best", "comparator")

LEAST_ROUNDS = 15  # of a group: least_rounds of harness/statistics/stopping_rule.hpp
LEAST_TOLD = 8  # rounds that can be resolved: least_dependent of harness/statistics
_PRESETS = ("", "smoke", "quick", "sweep", "paper")  # a later one says more about a size

# Which file and group a line of a frame is of. ``version`` is that of the frozen record that a line
# is from, "" where it is of the current code.
_RUN = ["file", "gpu", "compute_capability", "date", "version"]
_GROUP = ["group", "app", "size", "size_label", "bytes", "cache", "launch"]
# Of the kernels of a row: the most of each number, but the least blocks.
_KERNEL = [name for name, absent in scalars("evidence").items() if absent != ""]


@dataclass(frozen=True)
class Results:
    """Result files as tidy frames, one line per file, group, row, sample, comparison, ceiling,
    point of a microbenchmark, finding.

    Times are in ms, bandwidths in GB/s (1e9), sizes in bytes. ``group`` identifies a comparison
    group and ``row`` a row in it, over all files.
    ``notes`` are sentences about what was left out while loading.

    A comparison's ``ratio``, ``low`` and ``high`` say where a new session on another GPU of the
    model falls, where that is known from ``sessions``, and ``claim`` what may be said then;
    ``run_ratio`` and so on are of its own run, as the harness wrote them
    (plots/statistics/claims.py has the words). Controls are always of their run. A row's
    ``median``, ``low`` and ``high`` are of its run, ``next_low`` and ``next_high`` of a new
    session. Where the variants of a group were measured in several sessions of a file, ``carried``
    is what a row's times are multiplied by to stand beside those of the group's first session;
    else 1.

    ``cross`` holds the tables of ``amasia cross`` in the same form, where there are any: their rows
    are of chosen schedules, so that they mix with no other comparison.
    """

    files: pd.DataFrame
    groups: pd.DataFrame
    rows: pd.DataFrame
    samples: pd.DataFrame
    comparisons: pd.DataFrame
    ceilings: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    points: pd.DataFrame = field(default_factory=lambda: _point_frame([]))
    findings: pd.DataFrame = field(default_factory=lambda: _finding_frame([]))
    cross: Results | None = None
    # All of the record of earlier versions that lies in the same folders (plots/data/frozen.py).
    earlier: Results | None = None
    # What it says of the rows that are here stands in the frames, which tell two Results apart.
    sessions: Sessions = field(default_factory=Sessions, compare=False, repr=False)
    # The files themselves, with their paths.
    documents: list[tuple[str, Any]] = field(default_factory=list, compare=False, repr=False)

    @cached_property
    def point_sessions(self) -> Sessions:
        """The sessions of the points of microbenchmarks."""
        sessions = Sessions()
        for _, document in self.documents:
            for m in document.microbenchmarks:
                for measured in () if invalidity_in(m) else measured_points(document.provenance, m):
                    sessions.add(measured)
        return sessions

    @cached_property
    def recorded(self) -> list[Recorded]:
        """The files as far as published values are compared with them."""
        return [Recorded(path, abridged(document)) for path, document in self.documents]

    @cached_property
    def gpus(self) -> list[str]:
        """GPU names, the one first that pages show in full: newest architecture first, of one
        architecture the one with more apps recorded, then as ``by_generation``."""
        apps = self.groups.groupby("gpu")["app"].nunique()
        return self._ordered(apps)

    @cached_property
    def by_generation(self) -> list[str]:
        """GPU names: newest architecture first, of one architecture the one with the faster memory,
        then the one with more recorded."""
        return self._ordered(pd.Series(dtype=float))

    def _ordered(self, first: pd.Series) -> list[str]:
        """By architecture, then by ``first`` (of each GPU; 0 where it has none)."""
        of_group = self.groups.set_index("group")["gpu"]
        recorded = (
            self.rows["group"]
            .map(of_group)
            .value_counts()
            .add(self.points["gpu"].value_counts(), fill_value=0)
        )
        order = self.files.assign(
            first=self.files["gpu"].map(first).fillna(0),
            memory=[memory_gb_s(p["device"]) for p in self.files["provenance"]],
            recorded=self.files["gpu"].map(recorded).fillna(0),
        ).sort_values(
            ["compute_capability", "first", "memory", "recorded", "gpu"],
            ascending=[False, False, False, False, True],
        )
        return list(dict.fromkeys(order["gpu"]))

    def where(self, **conditions: Any) -> Results:
        """The groups whose columns equal ``conditions`` (None means any), with all that hangs on
        them; a condition on ``gpu`` or ``version`` also selects the files, points and
        ceilings."""
        wanted = {k: v for k, v in conditions.items() if v is not None}

        def chosen(frame: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
            for column in wanted.keys() & columns:
                frame = frame[frame[column] == wanted[column]]
            return frame

        of_files = ("files", "ceilings", "points", "findings")
        frames = {name: chosen(getattr(self, name), ("gpu", "version")) for name in of_files}
        others = {
            name: None if of is None else of.where(**wanted)
            for name, of in (("cross", self.cross), ("earlier", self.earlier))
        }
        return replace(self, **frames, **others).only(chosen(self.groups, wanted.keys()))

    @property
    def uncommitted(self) -> str:
        """What a page says about files of programs that no commit can be built to again; "" where
        there are none."""
        dirty = self.files[self.files["dirty"].astype(bool)]
        if dirty.empty:
            return ""
        return (
            f"{len(dirty)} of the {len(self.files)} result files behind this page were measured by "
            "programs with uncommitted changes (`dirty` in the file); the digest of each variant's "
            "sources is that of the tree, or of the version the file was frozen with."
        )

    def heading(self, gpu: str) -> str:
        """A GPU, and the version of the suite that recorded it where that is an earlier one."""
        versions = set(self.files.loc[self.files["gpu"] == gpu, "version"]) - {""}
        return f"{gpu}, recorded with Amasia {max(versions, key=_version_key)}" if versions else gpu

    def of_one_version(self, *gpus: str) -> list[Results]:
        """The results of each of several GPUs, all recorded with one version of the suite: the
        current code where all have such, else the newest that all have. Where there is none, the
        results of each as they are, which have different versions."""
        for of in (self, self.earlier):
            if of is None:
                continue
            versions = [set(of.files.loc[of.files["gpu"] == gpu, "version"]) for gpu in gpus]
            common = set.intersection(*versions)
            if common:
                version = "" if "" in common else max(common, key=_version_key)
                return [of.where(gpu=gpu, version=version) for gpu in gpus]
        return [self.where(gpu=gpu) for gpu in gpus]

    def only(self, groups: pd.DataFrame) -> Results:
        """These of the groups, with the rows, samples and comparisons in them."""
        keep = set(groups["group"])
        return replace(
            self,
            groups=groups,
            rows=self.rows[self.rows["group"].isin(keep)],
            samples=self.samples[self.samples["group"].isin(keep)],
            comparisons=self.comparisons[self.comparisons["group"].isin(keep)],
        )


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _size_labels(groups: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(app, size) -> its first two integers, which say how large it is, and the parameters that
    differ between the sizes of that app."""
    labels: dict[tuple[str, str], str] = {}
    for app, of_app in groups.groupby("app"):
        sizes = dict(zip(of_app["size"], of_app["parameters"], strict=True))
        names = list(dict.fromkeys(name for values in sizes.values() for name in values))
        first = next(iter(sizes.values()))
        extent = [n for n in names if isinstance(first.get(n), int)][:2] or names[:1]
        shown = [n for n in names if n in extent or len({v.get(n) for v in sizes.values()}) > 1]
        for text, values in sizes.items():
            parts = (f"{n}={shortened(str(values[n]), 40)}" for n in shown if n in values)
            labels[str(app), text] = " ".join(parts)
    return labels


Columns = dict[str, list[Any]]


def _joined(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


# Of a kernel, what decides how many of its blocks an SM holds, and how many that are. The shared
# memory is static and dynamic together.
KERNEL_MEMBERS = ("registers", "shared", "threads", "blocks_per_sm", "cluster_blocks")


def _shared_bytes(kernel: Any) -> int:
    return int(kernel.static_shared_bytes + kernel.dynamic_shared_bytes)


def _kernel_text(kernel: Any) -> str:
    return " ".join(
        str(_shared_bytes(kernel) if name == "shared" else getattr(kernel, name))
        for name in KERNEL_MEMBERS
    )


def _of_kernels(kernels: Sequence[Any]) -> dict[str, Any]:
    """What a row says of its kernels together."""
    if not kernels:
        unknown = dict.fromkeys((*_KERNEL, "shared_bytes"), np.nan)
        return {**unknown, "instructions": "", "kernels": ""}
    worst = {name: max(getattr(kernel, name) for kernel in kernels) for name in _KERNEL}
    instructions: dict[str, int] = {}
    for kernel in kernels:
        for name, count in kernel.instructions.items():
            if name != "total":
                instructions[name] = instructions.get(name, 0) + count
    return {
        **worst,
        "blocks_per_sm": min(kernel.blocks_per_sm for kernel in kernels),
        "shared_bytes": max(map(_shared_bytes, kernels)),
        "instructions": ", ".join(f"{k} {v}" for k, v in sorted(instructions.items()) if v),
        "kernels": "; ".join(map(_kernel_text, kernels)),
    }


def _kernel_columns(rows: Sequence[Any]) -> Columns:
    """Of the kernels of each row; most rows share theirs with others."""
    known: dict[tuple[int, ...], dict[str, Any]] = {}
    of_rows = []
    for row in rows:
        key = tuple(map(id, row.evidence))
        if key not in known:
            known[key] = _of_kernels(row.evidence)
        of_rows.append(known[key])
    return {name: [of[name] for of in of_rows] for name in _of_kernels(())}


def _strategy(record: Any) -> str:
    return str(record.variant.split("/", 1)[1])


def _row_columns(entries: Sequence[_RowOf]) -> Columns:
    rows = [entry.row for entry in entries]
    times = columns_of("median_interval", [row.time_ms for row in rows])
    return {
        "row": [entry.name for entry in entries],
        "strategy": [_strategy(row) for row in rows],
        **columns_of("row", rows),
        "geometry": [_joined(row.geometry) for row in rows],
        "movement": [_joined(row.movement) for row in rows],
        "verified": [None if row.verdict is None else row.verdict.passed for row in rows],
        **times,
        "n": [0 if row.time_ms is None else row.time_ms.n for row in rows],
        "floor_ms": [entry.floor_ms for entry in entries],
        "bound_by": [entry.bound_by for entry in entries],
        **_kernel_columns(rows),
        "samples": [len(row.samples) for row in rows],
        "throttled": [int(row.samples.throttled.sum()) for row in rows],
        "sm_clock_mhz": [row.samples.median_clock_mhz for row in rows],
        "identity": [entry.identity for entry in entries],
        "carried": [entry.carried for entry in entries],
    }


def _comparison_columns(entries: Sequence[_ComparisonOf]) -> Columns:
    comparisons = [entry.comparison for entry in entries]
    return {
        "strategy": [_strategy(c) for c in comparisons],
        **columns_of("comparison", comparisons),
        **columns_of("ratio_interval", [c.speedup for c in comparisons]),
        "noise_low": [entry.noise[0] for entry in entries],
        "noise_high": [entry.noise[1] for entry in entries],
        "identity": [entry.identity for entry in entries],
    }


def _between(sessions: Sessions, of: Sequence[str]) -> Columns:
    """What repeated sessions say of rows or comparisons, by their identities."""
    found = [sessions.of(identity) for identity in of]
    predicted = [sessions.predicted(identity) for identity in of]
    columns: Columns = {
        "sessions": [len(several) for several in found],
        "gpus": [len({session.gpu for session in several}) for several in found],
    }
    for name in ("value", "low", "high"):
        columns[f"next_{name}"] = [np.nan if p is None else getattr(p, name) for p in predicted]
    return columns


def _with_sessions(columns: Columns, sessions: Sessions) -> Columns:
    """Comparisons with what sessions say of them: that is what is printed, where it is known."""
    between = _between(sessions, columns["identity"])
    said = {name: list(columns[name]) for name in ("ratio", "low", "high", "claim")}
    for i, (control, value) in enumerate(
        zip(columns["control"], between["next_value"], strict=True)
    ):
        if control or np.isnan(value):
            continue
        low, high = between["next_low"][i], between["next_high"][i]
        said["ratio"][i], said["low"][i], said["high"][i] = value, low, high
        said["claim"][i] = claim_between_runs(said["claim"][i], low=low, high=high)
    own = {f"run_{name}": columns[name] for name in said}
    return {**columns, **between, **own, **said}


def _proof_text(proof: Sequence[Any]) -> str:
    """ "32 LDG per iteration (sass)": what was counted."""
    return ", ".join(
        f"{p.found} {p.instruction}{' per iteration' if p.in_loop else ''} ({p.source})"
        for p in proof
        if p.found is not None
    )


class _Point(NamedTuple):
    """A row or a finding of a microbenchmark, and its file."""

    of: _OfFile
    microbenchmark: Any
    what: Any


def _latest(points: Iterable[_Point]) -> list[_Point]:
    """Of the same point or finding of the same GPU, the one measured last."""
    kept: dict[tuple[Any, ...], _Point] = {}
    for p in sorted(points, key=lambda p: p.of.run["date"]):
        run, at = p.of.run, tuple(p.what.at.items())
        kept[run["gpu"], run["version"], p.microbenchmark.name, at, p.what.quantity] = p
    return list(kept.values())


def _run_columns(of: Sequence[_OfFile]) -> Columns:
    return {name: [file.run[name] for file in of] for name in _RUN}


def _point_frame(points: Sequence[_Point]) -> pd.DataFrame:
    rows = [p.what for p in points]
    columns = {
        **_run_columns([p.of for p in points]),
        "microbenchmark": [p.microbenchmark.name for p in points],
        "scope": [p.microbenchmark.scope for p in points],
        "at": [row.at for row in rows],
        **columns_of("microbenchmark_row", rows),
        **columns_of("median_interval", [row.value for row in rows]),
        "n": [0 if row.value is None else row.value.n for row in rows],
        "proof": [_proof_text(row.proof) for row in rows],
        "identity": [point_identity(p.of.run["gpu"], p.microbenchmark, p.what) for p in points],
    }
    return _frame(columns)


def _finding_frame(findings: Sequence[_Point]) -> pd.DataFrame:
    columns = {
        **_run_columns([f.of for f in findings]),
        "microbenchmark": [f.microbenchmark.name for f in findings],
        "at": [f.what.at for f in findings],
        **columns_of("finding", [f.what for f in findings]),
    }
    return _frame(columns)


def _is_part_of(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """The record of a group has some of the variants of another, and no others."""
    mine, others = ({variant for variant, _ in g["code"]} for g in (a, b))
    return mine < others


def _lacks_rounds(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """The record of a group ended before the least rounds, with which nothing can be resolved, and
    another of the same code has more."""
    return a["rounds"] < min(LEAST_ROUNDS, b["rounds"]) and a["code"] == b["code"]


def _better_of(a: dict[str, Any], b: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Of two records of a group the one that counts, and why: one that has all variants of the
    other and more, as where only a library's code is still the same; of the same code the one with
    more rounds; else the later one."""
    later = max((a, b), key=lambda g: (g["date"], g["file"]))
    earlier = b if later is a else a
    for fuller, other in ((earlier, later), (later, earlier)):
        if _is_part_of(other, fuller):
            return fuller, "the one with more variants"
    why = f"the later one ({later['date']})"
    if earlier["code"] == later["code"] and earlier["rounds"] > later["rounds"]:
        return earlier, f"the one with more rounds ({earlier['rounds']})"
    return later, why


def _parts_of(group: Any, study: str) -> Iterator[tuple[str, Any]]:
    """A group as ("compared" or "cross", group): what is of a table of `amasia cross`, and the
    rest. A library stands in both."""
    roles = {row.role for row in group.rows}
    if "cross" not in roles:
        yield ("cross" if study == "cross" else "compared"), group
        return
    for kind, wanted in (("compared", roles - {"cross"}), ("cross", {"cross", "comparator"})):
        if wanted - {"comparator"}:
            yield (
                kind,
                msgspec.structs.replace(
                    group,
                    rows=[row for row in group.rows if row.role in wanted],
                    comparisons=[c for c in group.comparisons if c.role in wanted],
                ),
            )


def load(paths: Sequence[Path | str], without: Collection[Path] = ()) -> Results:
    """Loads result files and folders of them. Files ``without`` which is asked for are passed over.

    When two files hold the same group of the same GPU (app, size, cache, launch), the later date
    counts and a note says so; so does one of each group that is not valid, which is left out. A
    table of `amasia cross` is not the same group as a comparison.
    Raises PlotsError, ResultFileError.
    """
    found, notes = find_files([Path(path) for path in paths], without)
    earlier = frozen.beside(found)
    with no_search_for_garbage():  # what is read is kept, and nothing in it refers to itself
        results = _read(found, earlier, notes)
    return replace(results, notes=[*results.notes, *_doubts_of_dates(results)])


def _doubts_of_dates(results: Results) -> Iterator[str]:
    """Of dates when no run can have begun: sessions are put into the order of theirs."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path, date, provenance in results.files[["path", "date", "provenance"]].itertuples(
        index=False
    ):
        for when in sorted({date, *(s["date_utc"] for s in provenance.get("sessions") or ())}):
            if when < "2020" or when > tomorrow:
                what = "before there was this suite" if when < "2020" else "which is to come"
                yield (
                    f"{path} is of {when}, {what}: the clock of its machine stood wrong, and what "
                    "is said of later and earlier ones may be."
                )


class _RowOf(NamedTuple):
    """A row, and what its group and session say of it."""

    row: Any
    name: str
    floor_ms: float
    bound_by: str
    identity: str
    carried: float = 1.0


class _ComparisonOf(NamedTuple):
    """A comparison, and the A/A interval that it is held against."""

    comparison: Any
    noise: tuple[float, float]
    identity: str


@dataclass(frozen=True)
class _Case:
    """A group of a file, or the part of it of one kind (see _parts_of())."""

    kind: str
    run: dict[str, Any]
    group: dict[str, Any]  # a line of the frame, and the code of its rows
    rows: list[_RowOf]
    comparisons: list[_ComparisonOf]


@dataclass
class _OfFile:
    """What one file contributes to the frames, whatever the others hold."""

    path: Path
    document: Any
    run: dict[str, Any]
    points: list[_Point] = field(default_factory=list)
    findings: list[_Point] = field(default_factory=list)
    cases: list[_Case] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # about groups that are not valid


_NO_FLOOR = {name: absent for name, absent in scalars("floor").items()}


def _noises(comparisons: Sequence[Any]) -> list[tuple[float, float]]:
    """The A/A interval that each comparison of a group is held against."""

    def place(comparison: Any) -> tuple[str, str]:
        cross = comparison.role == "cross"
        role = comparison.role if comparison.role in ("iso", "cross") else "best"
        return role, comparison.schedule if cross else ""

    controls = {
        (c.role, c.schedule if c.role == "cross" else ""): (c.speedup.low, c.speedup.high)
        for c in comparisons
        if c.control
    }
    return [controls.get(place(c), (np.nan, np.nan)) for c in comparisons]


def _case(
    of: _OfFile, number: int, kind: str, group: Any, named: tuple[list[str], list[str]]
) -> _Case:
    key, work, run = group.key, group.work, of.run
    floor = {n: getattr(group.floor, n) for n in _NO_FLOOR} if group.floor else _NO_FLOOR
    name = f"{run['file']}.{number}" + ("x" if kind == "cross" else "")
    record = {
        **run,
        "date": session_of(of.document.provenance, group).date_utc,
        "group": name,
        "app": key.app,
        "size": size_text(key.size),
        "size_label": "",
        "bytes": work.bytes_read + work.bytes_written,
        "cache": key.cache,
        "launch": key.launch,
        **{n: of[0] for n, of in columns_of("group", [group]).items()},
        "parameters": key.size,
        "warnings": list(group.warnings),
        **{n: getattr(work, n) for n in scalars("work")},
        **floor,
        "code": {(row.variant, row.source_digest) for row in group.rows},
    }
    of_rows, of_comparisons = named
    rows = [
        _RowOf(row, f"{name}.{r}", floor["floor_ms"], floor["bound_by"], identity)
        for r, (row, identity) in enumerate(zip(group.rows, of_rows, strict=True))
    ]
    comparisons = [
        _ComparisonOf(*of)
        for of in zip(group.comparisons, _noises(group.comparisons), of_comparisons, strict=True)
    ]
    return _Case(kind, run, record, rows, comparisons)


def _with_lent(case: _Case, later: _Case) -> _Case:
    """A case with what a later session of the same file has of variants that it lacks: a variant
    whose code has changed is measured again beside the baseline alone. Its comparisons are of its
    own session; of its rows, ``carried`` is what a time is multiplied by to stand beside those of
    this case: the baseline's time here over its time there, in the same config."""

    def place(row: Any) -> tuple[Any, ...]:
        return row.variant, row.role, row.schedule, row.config, row.repeat

    def base(rows: Sequence[_RowOf]) -> dict[tuple[str, str], float]:
        return {
            (row.schedule, row.config): row.time_ms.median
            for row, *_ in rows
            if _strategy(row) == "baseline" and row.repeat == 0 and row.time_ms is not None
        }

    lent = {of.row.variant for of in later.rows} - {of.row.variant for of in case.rows}
    if not lent:
        return case
    here, there = base(case.rows), base(later.rows)
    carried = {
        schedule: here[schedule, config] / time
        for (schedule, config), time in there.items()
        if (schedule, config) in here
    }
    places = {place(of.row) for of in case.rows}
    # And the baseline with a schedule that it had no reason to run with here.
    taken = [
        of._replace(carried=carried.get(of.row.schedule, 1.0))
        for of in later.rows
        if of.row.variant in lent
        or (
            _strategy(of.row) == "baseline"
            and of.row.role == "matched"
            and place(of.row) not in places
        )
    ]
    code = {(variant, digest) for variant, digest in later.group["code"] if variant in lent}
    return replace(
        case,
        group={**case.group, "code": case.group["code"] | code},
        rows=case.rows + taken,
        comparisons=case.comparisons
        + [of for of in later.comparisons if of.comparison.variant in lent],
    )


def _of_file(index: int, path: Path) -> _OfFile:
    """A file, by its number among all and its path. Raises ResultFileError."""
    document = read_document(path)
    provenance = document.provenance
    run = {
        "file": index,
        "gpu": provenance.device.name,
        "compute_capability": provenance.device.compute_capability,
        "date": provenance.date_utc,
        "version": frozen.version_of(path),
    }
    of = _OfFile(path, document, run)
    for m in document.microbenchmarks:
        if reason := invalidity_in(m):
            of.notes.append(
                f"{m.name} in {path} is left out, because its measurement is not valid: {reason}."
            )
            continue
        of.points += [_Point(of, m, row) for row in m.rows]
        of.findings += [_Point(of, m, finding) for finding in m.findings]
    for number, group in enumerate(document.groups):
        if group.invalid:
            why = group.invalid[0]
            of.notes.append(
                f"{case_text(group.key)} in {path} is left out, "
                f"because its measurement is not valid: {why.reason}; {why.remedy}."
            )
            continue
        named = identities(run["gpu"], group)
        of.measured += measured_in(provenance, group, *named)
        for kind, part in _parts_of(group, provenance.study):
            of_part = named if part is group else identities(run["gpu"], part)
            of.cases.append(_case(of, number, kind, part, of_part))
    return of


def _sample_frame(cases: Sequence[_Case]) -> pd.DataFrame:
    """The samples of all rows as one frame, put together once: a frame per row takes most of the
    time that a file takes. What names the row of a sample is a category, a small number instead of
    a text, because there are hundreds of thousands of samples to choose by it."""
    of_each = [(case.group["group"], of.name, of.row) for case in cases for of in case.rows]
    lengths = [len(row.samples) for *_, row in of_each]
    columns: dict[str, Any]
    texts = {
        "group": [group for group, *_ in of_each],
        "row": [name for _, name, _ in of_each],
        "variant": [row.variant for *_, row in of_each],
        "strategy": [_strategy(row) for *_, row in of_each],
        "role": [row.role for *_, row in of_each],
    }
    if not sum(lengths):
        columns = dict.fromkeys([*texts, "repeat", *SAMPLE_COLUMNS], ())
        types = {"throttled": bool, **dict.fromkeys(texts, "category")}
        return pd.DataFrame(columns, dtype=object).astype(types)

    def repeated(values: list[str]) -> pd.Categorical:
        of_rows = pd.Categorical(values)
        return pd.Categorical.from_codes(np.repeat(of_rows.codes, lengths), of_rows.categories)

    columns = {name: repeated(values) for name, values in texts.items()}
    columns["repeat"] = np.repeat(np.array([row.repeat for *_, row in of_each]), lengths)
    for name in SAMPLE_COLUMNS:
        columns[name] = np.concatenate([getattr(row.samples, name) for *_, row in of_each])
    return pd.DataFrame(columns)


def _frame(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A frame of columns. Its texts are kept as they are, because pandas gives those of its own
    kind of text column one by one, ten times as slowly, and everything here asks row by row."""
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object)
            if not values or isinstance(values[0], str | dict | list | None)
            else values
            for name, values in columns.items()
        }
    )


def _group_frame(cases: Iterable[_Case]) -> pd.DataFrame:
    lines = [case.group for case in cases]
    names = columns(
        _RUN, _GROUP, scalars("group"), ["parameters", "warnings"], scalars("work"),
        scalars("floor"),
    )  # fmt: skip
    return _frame({name: [line[name] for line in lines] for name in names})


def _chosen_cases(
    parts: Sequence[_OfFile], found: Sequence[Path], notes: list[str]
) -> dict[tuple[str, ...], _Case]:
    """Of the same group in several files the one that counts, by kind and what makes it the same;
    ``notes`` say which."""
    chosen: dict[tuple[str, ...], _Case] = {}
    for part in parts:
        notes += part.notes
        for case in part.cases:
            record = case.group
            mode = (record["cache"], record["launch"])
            unique = (
                case.kind, record["version"], record["gpu"], record["app"], record["size"], *mode
            )  # fmt: skip
            other = chosen.get(unique)
            if other is not None and other.group["file"] == record["file"]:
                # A later session: the first stands for the case, if it is whole.
                if not (_is_part_of(other.group, record) or _lacks_rounds(other.group, record)):
                    chosen[unique] = _with_lent(other, case)
                    continue
            elif other is not None:
                better, why = _better_of(other.group, record)
                left = record if better is other.group else other.group
                what = " of amasia cross" if case.kind == "cross" else ""
                notes.append(
                    f"{' '.join(unique[2:])}{what} is in {found[left['file']]} and in "
                    f"{found[better['file']]}; {why} counts."
                )
                # Whichever study it is taken from, it stays one of the paper's sizes.
                better["preset"] = max(other.group["preset"], record["preset"], key=_PRESETS.index)
                if better is other.group:
                    continue
            chosen[unique] = case
    return chosen


def _read(found: Sequence[Path], earlier: Sequence[Path], notes: list[str]) -> Results:
    """The results of ``found``, and those of the frozen record beside them, ``earlier``."""
    others = [path for path in earlier if path not in set(found)]
    parts = [_of_file(index, path) for index, path in enumerate([*found, *others])]
    mine, of_earlier = (
        [part for part in parts if part.path in set(paths)] for paths in (found, earlier)
    )
    before = _results_of(of_earlier, [*found, *others], [], None) if others else None
    return _results_of(mine, found, notes, before)


def _of_cases(cases: Sequence[_Case], counts: Sequence[int], names: Sequence[str]) -> Columns:
    """What the lines of a case have in common, so many times each."""
    return {
        name: [
            value
            for case, count in zip(cases, counts, strict=True)
            for value in itertools.repeat((case.run if name in _RUN else case.group)[name], count)
        ]
        for name in names
    }


def _file_frame(parts: Sequence[_OfFile]) -> pd.DataFrame:
    provenances = [part.document.provenance for part in parts]
    columns = {
        **_run_columns(parts),
        "path": [str(part.path) for part in parts],
        **columns_of("provenance", provenances),
        "provenance": [msgspec.to_builtins(provenance) for provenance in provenances],
    }
    return _frame(columns)


def _ceiling_frame(parts: Sequence[_OfFile]) -> pd.DataFrame:
    found = [(part, ceiling) for part in parts for ceiling in part.document.ceilings]
    values = [ceiling.samples or [ceiling.value] for _, ceiling in found]
    columns = {
        **_run_columns([part for part, _ in found]),
        **columns_of("ceiling", [ceiling for _, ceiling in found]),
        "minimum": [min(several) for several in values],
        "maximum": [max(several) for several in values],
        "n": [len(ceiling.samples) for _, ceiling in found],
    }
    return _frame(columns)


def _results_of(
    parts: Sequence[_OfFile], found: Sequence[Path], notes: list[str], earlier: Results | None
) -> Results:
    cases = _chosen_cases(parts, found, notes)
    sessions = Sessions(earlier=None if earlier is None else earlier.sessions)
    for part in parts:
        for measured in part.measured:
            sessions.add(measured)
    notes += sessions.borrowed()

    def frames_of(kind: str) -> dict[str, pd.DataFrame]:
        mine = [case for case in cases.values() if case.kind == kind]
        shared = [*_RUN, *_GROUP]
        rows = _of_cases(mine, [len(case.rows) for case in mine], shared)
        rows |= _row_columns([of for case in mine for of in case.rows])
        rows |= _between(sessions, rows["identity"])
        comparisons = _of_cases(mine, [len(case.comparisons) for case in mine], shared)
        comparisons |= _comparison_columns([of for case in mine for of in case.comparisons])
        frames = {
            "groups": _group_frame(mine),
            "rows": _frame(rows),
            "comparisons": _frame(_with_sessions(comparisons, sessions)).astype(
                {"control": bool, "resolved": bool}
            ),  # also when there are none
        }
        for frame in frames.values():
            frame["size_label"] = pd.Series(
                [labels[key] for key in zip(frame["app"], frame["size"], strict=True)],
                index=frame.index, dtype=object,
            )  # fmt: skip
        frames["samples"] = _sample_frame(mine)
        return frames

    labels = _size_labels(_group_frame(cases.values()))
    all_files, all_ceilings = _file_frame(parts), _ceiling_frame(parts)

    cross = None
    if any(case.kind == "cross" for case in cases.values()):
        frames = frames_of("cross")
        of_cross = all_files[all_files["file"].isin(frames["groups"]["file"])]
        cross = Results(
            files=of_cross, ceilings=all_ceilings, notes=notes, sessions=sessions, **frames
        )
    return Results(
        files=all_files,
        ceilings=all_ceilings,
        notes=notes,
        points=_point_frame(_latest(p for part in parts for p in part.points)),
        findings=_finding_frame(_latest(f for part in parts for f in part.findings)),
        cross=cross,
        earlier=earlier,
        sessions=sessions,
        documents=[(part.path.as_posix(), part.document) for part in parts],
        **frames_of("compared"),
    )


Sampled = tuple[np.ndarray, np.ndarray, np.ndarray]  # rounds, times in ms, throttled


def samples_by_row(results: Results) -> Iterator[tuple[str, *Sampled]]:
    """The samples of every row that has some, in their order. Cut from arrays, because a frame for
    each row costs more than what is done with it."""
    columns = [results.samples[name].to_numpy() for name in ("round", "time_ms", "throttled")]
    codes, rows = pd.factorize(results.samples["row"])
    order = np.argsort(codes, kind="stable")
    columns = [column[order] for column in columns]
    ends = itertools.accumulate(np.bincount(codes, minlength=len(rows)).tolist(), initial=0)
    for row, (begin, end) in zip(rows, itertools.pairwise(ends), strict=True):
        yield str(row), *(column[begin:end] for column in columns)


def usable_times(results: Results) -> dict[str, np.ndarray]:
    """row -> its times in ms, throttled samples left out unless there are no others (the rule of
    the harness)."""
    return {
        row: times if throttled.all() else times[~throttled.astype(bool)]
        for row, _, times, throttled in samples_by_row(results)
    }


def paired_times(row: Sampled, other: Sampled) -> tuple[np.ndarray, np.ndarray]:
    """The times of two rows of a group in the rounds in which neither was throttled; a row of which
    every sample is counts as it is (the rule of the harness)."""
    sides = []
    for rounds, times, throttled in (row, other):
        good = throttled if throttled.all() else ~throttled
        sides.append((rounds[good], times[good]))
    (rounds, times), (other_rounds, other_times) = sides
    _, here, there = np.intersect1d(rounds, other_rounds, return_indices=True)
    return times[here], other_times[there]


def strategy_order(names: Iterable[str]) -> list[str]:
    """Strategies in the design's order, then comparators by name."""
    names = set(names)
    return [n for n in NAMES if n in names] + sorted(names - set(NAMES))


def sizes_of(groups: pd.DataFrame, app: str) -> list[str]:
    """The sizes of an app, smallest compulsory traffic first."""
    of_app = groups[groups["app"] == app].sort_values(["bytes", "operations", "size"])
    return list(dict.fromkeys(of_app["size"]))


def main_size(groups: pd.DataFrame, app: str) -> str | None:
    """The size that stands for an app: the first of its paper preset (an app lists the size of the
    paper first), else the one with the most compulsory traffic; None without any."""
    of_app = groups[groups["app"] == app]
    paper = of_app[of_app["preset"] == "paper"]
    if len(paper):
        return str(paper.iloc[0]["size"])
    sizes = sizes_of(of_app, app)
    return sizes[-1] if sizes else None


def main_launch(groups: pd.DataFrame) -> str | None:
    """The launch mode that a single picture shows: stream, what a program does without asking."""
    modes = set(groups["launch"])
    return "stream" if "stream" in modes else next(iter(sorted(modes)), None)


def main_cache(groups: pd.DataFrame) -> str | None:
    """The cache mode that a single picture shows: cold, as in the papers."""
    modes = set(groups["cache"])
    return "cold" if "cold" in modes else next(iter(sorted(modes)), None)


def slug(name: str) -> str:
    """A file-name form of a name; for GPUs that of device_slug in harness/device.hpp."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    for vendor in ("nvidia-", "geforce-", "tesla-"):
        text = text.removeprefix(vendor)
    return text
