"""Result files -> tidy frames. A column that a file has is there because the schema has it."""

from __future__ import annotations

import itertools
import pickle
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plots.data import frozen, schema
from plots.data.cache import Cache, default_folder
from plots.data.devices import memory_gb_s
from plots.data.documents import SAMPLE_COLUMNS, find_files, read_document
from plots.data.recorded import Recorded, abridged
from plots.data.schema import columns, members, scalars, values_of
from plots.data.sessions import (
    Measured,
    Sessions,
    comparison_identities,
    measured_in,
    measured_points,
    median_of_known,
    point_identity,
    row_identity,
    session_of,
)
from plots.data.strategies import NAMES
from plots.data.validation import compiled
from plots.parallel import no_search_for_garbage, on_all_cores
from plots.statistics.claims import claim_between_runs, controls_of, invalidity_in
from plots.units import shortened

# The rows that a single picture shows, one of a variant each; a variant may have several `matched`
# rows, one per schedule. (Tables of `amasia cross` are kept apart, in Results.cross.)
SHOWN_ROLES = ("iso", "best", "comparator")

LEAST_ROUNDS = 15  # of a group: least_rounds of harness/statistics/stopping_rule.hpp
LEAST_TOLD = 8  # rounds that can be resolved: least_dependent of harness/statistics
_PRESETS = ("", "smoke", "quick", "sweep", "paper")  # a later one says more about a size

# ``version`` is that of the frozen record that a line is from, "" where it is of the current code.
# Columns of the frames, so that an empty selection has the same columns as a full one: which file
# and group, then every single value of that part of the schema, then what is computed here.
_RUN = ["file", "gpu", "compute_capability", "date", "version"]
_GROUP = ["group", "app", "size", "size_label", "bytes", "cache", "launch"]
# Of the kernels of a row: the most of each number, but the least blocks.
_KERNEL = [name for name, absent in scalars("evidence").items() if absent != ""]
# What repeated sessions say of a row or comparison: how many there are, on how many GPUs, and where
# one on another GPU of the model falls; NaN where that is not known.
_BETWEEN = ["sessions", "gpus", "next_value", "next_low", "next_high"]
FILE_COLUMNS = columns(_RUN, ["path"], scalars("provenance"), ["provenance"])
GROUP_COLUMNS = columns(
    _RUN, _GROUP, scalars("group"), ["parameters", "warnings"], scalars("work"), scalars("floor"),
)  # fmt: skip
ROW_COLUMNS = columns(
    _RUN, _GROUP, ["row", "strategy"], scalars("row"), ["geometry", "movement", "verified"],
    scalars("median_interval"), ["floor_ms", "bound_by"], _KERNEL,
    ["shared_bytes", "instructions", "kernels", "samples", "throttled", "sm_clock_mhz"],
    ["identity", "carried"], _BETWEEN,
)  # fmt: skip
SAMPLE_FRAME_COLUMNS = columns(
    ["group", "row", "variant", "strategy", "role", "repeat"], SAMPLE_COLUMNS
)
COMPARISON_COLUMNS = columns(
    _RUN, _GROUP, ["strategy"], scalars("comparison"), scalars("ratio_interval"),
    ["noise_low", "noise_high", "identity"], _BETWEEN,
    ["run_ratio", "run_low", "run_high", "run_claim"],
)  # fmt: skip
CEILING_COLUMNS = columns(_RUN, scalars("ceiling"), ["minimum", "maximum", "n"])
POINT_COLUMNS = columns(
    _RUN, ["microbenchmark", "scope", "at"], scalars("microbenchmark_row"),
    scalars("median_interval"), ["proof", "identity"],
)  # fmt: skip
FINDING_COLUMNS = columns(_RUN, ["microbenchmark", "at"], scalars("finding"))


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
    are of chosen schedules, so that they mix with no other comparison. ``effects`` holds the study
    with known answers (plots/advice/effects.py), whose apps are no part of the suite.
    """

    files: pd.DataFrame
    groups: pd.DataFrame
    rows: pd.DataFrame
    samples: pd.DataFrame
    comparisons: pd.DataFrame
    ceilings: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    points: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=POINT_COLUMNS))
    findings: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=FINDING_COLUMNS))
    cross: Results | None = None
    effects: Results | None = None
    # All of the record of earlier versions that lies in the same folders (plots/data/frozen.py).
    earlier: Results | None = None
    # What it says of the rows that are here stands in the frames, which tell two Results apart.
    sessions: Sessions = field(default_factory=Sessions, compare=False, repr=False)
    point_sessions: Sessions = field(default_factory=Sessions, compare=False, repr=False)
    # The files as far as published values are compared with them.
    recorded: list[Recorded] = field(default_factory=list, compare=False, repr=False)

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
        groups = self.groups
        for column, value in wanted.items():
            groups = groups[groups[column] == value]
        files, ceilings = self.files, self.ceilings
        points, findings = self.points, self.findings
        for column in ("gpu", "version"):
            if column in wanted:
                points = points[points[column] == wanted[column]]
                findings = findings[findings[column] == wanted[column]]
                files = files[files[column] == wanted[column]]
                ceilings = ceilings[ceilings[column] == wanted[column]]
        chosen = replace(
            self,
            files=files,
            ceilings=ceilings,
            points=points,
            findings=findings,
            cross=None if self.cross is None else self.cross.where(**wanted),
            effects=None if self.effects is None else self.effects.where(**wanted),
            earlier=None if self.earlier is None else self.earlier.where(**wanted),
        )
        return chosen.only(groups)

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


def _size_text(size: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in size.items() if value != "")


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


def _row_record(row: dict[str, Any], group: dict[str, Any], row_id: str) -> dict[str, Any]:
    time = row.get("time_ms") or {}
    evidence = row.get("evidence") or []
    floor = group["floor_ms"]
    verdict = row.get("verdict")

    def worst(member: str, pick: Any = max) -> float:
        return pick((kernel[member] for kernel in evidence), default=np.nan)

    instructions: dict[str, int] = {}
    for kernel in evidence:
        for name, count in kernel["instructions"].items():
            if name != "total":
                instructions[name] = instructions.get(name, 0) + count
    values = values_of("row", row)
    if np.isnan(values["floor_fraction"]) and time and floor > 0:
        values["floor_fraction"] = floor / time["median"]
    return {
        "row": row_id,
        "strategy": row["variant"].split("/", 1)[1],
        **values,
        "geometry": ", ".join(f"{k}={v}" for k, v in row["geometry"].items()),
        "movement": ", ".join(f"{k}={v}" for k, v in (row.get("movement") or {}).items()),
        "verified": None if verdict is None else verdict["passed"],
        **values_of("median_interval", time),
        "n": time.get("n", 0),
        "floor_ms": floor,
        "bound_by": group["bound_by"],
        **{name: worst(name) for name in _KERNEL},
        "blocks_per_sm": worst("blocks_per_sm", min),
        "shared_bytes": max(
            (k["static_shared_bytes"] + k["dynamic_shared_bytes"] for k in evidence),
            default=np.nan,
        ),
        "instructions": ", ".join(f"{k} {v}" for k, v in sorted(instructions.items()) if v),
        "kernels": "; ".join(_kernel_text(kernel) for kernel in evidence),
        "samples": len(row["samples"]["time_ms"]),
        "throttled": int(row["samples"]["throttled"].sum()),
        "sm_clock_mhz": median_of_known(row["samples"]["sm_clock_mhz"]),
    }


# Of a kernel, what decides how many of its blocks an SM holds, and how many that are. The shared
# memory is static and dynamic together.
KERNEL_MEMBERS = ("registers", "shared", "threads", "blocks_per_sm", "cluster_blocks")


def _kernel_text(kernel: dict[str, Any]) -> str:
    shared = kernel["static_shared_bytes"] + kernel["dynamic_shared_bytes"]
    values = {**kernel, "shared": shared}
    return " ".join(str(values[name]) for name in KERNEL_MEMBERS)


def _comparison_records(comparisons: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Comparisons of one group, each with the A/A interval that it is held against."""
    unknown = {"low": np.nan, "high": np.nan}
    records = []
    for c in comparisons:
        noise = next((a["speedup"] for a in reversed(controls_of(comparisons, c))), unknown)
        records.append(
            {
                "strategy": c["variant"].split("/", 1)[1],
                **values_of("comparison", c),
                **values_of("ratio_interval", c["speedup"]),
                "noise_low": noise["low"],
                "noise_high": noise["high"],
            }
        )
    return records


def _between(sessions: Sessions, identity: str) -> dict[str, Any]:
    """What repeated sessions say."""
    found = sessions.of(identity)
    next_ = sessions.predicted(identity)
    unknown = (np.nan, np.nan, np.nan)
    value, low, high = unknown if next_ is None else (next_.value, next_.low, next_.high)
    return {
        "sessions": len(found),
        "gpus": len({session.gpu for session in found}),
        "next_value": value,
        "next_low": low,
        "next_high": high,
    }


def _with_sessions(record: dict[str, Any], sessions: Sessions) -> dict[str, Any]:
    """A comparison with what sessions say of it: that is what is printed, where it is known."""
    between = _between(sessions, record["identity"])
    own = {f"run_{name}": record[name] for name in ("ratio", "low", "high", "claim")}
    record = {**record, **between, **own}
    if record["control"] or np.isnan(between["next_value"]):
        return record
    ends = {name: between[f"next_{name}"] for name in ("low", "high")}
    claim = claim_between_runs(record["claim"], **ends)
    return {**record, "ratio": between["next_value"], **ends, "claim": claim}


def _proof_text(proof: list[dict[str, Any]]) -> str:
    """ "32 LDG per iteration (sass)": what was counted."""
    counted = [p for p in proof if p.get("found") is not None]
    return ", ".join(
        f"{p['found']} {p['instruction']}{' per iteration' if p['in_loop'] else ''} ({p['source']})"
        for p in counted
    )


def _microbenchmark_records(
    document: dict[str, Any], run: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Points and findings of one file, but for what is not valid."""
    points, findings = [], []
    for m in document.get("microbenchmarks") or []:
        if invalidity_in(m):
            continue
        for row in m["rows"]:
            value = row.get("value") or {}
            points.append(
                {
                    **run,
                    "microbenchmark": m["name"],
                    "scope": m["scope"],
                    "at": row["at"],
                    **values_of("microbenchmark_row", row),
                    **values_of("median_interval", value),
                    "n": value.get("n", 0),
                    "proof": _proof_text(row.get("proof") or []),
                    "identity": point_identity(run["gpu"], m, row),
                }
            )
        for f in m["findings"]:
            findings.append({**run, "microbenchmark": m["name"], **f})
    return points, findings


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
    if earlier["digests"] != later["digests"]:
        return later, f"{why}, whether the code is the same is not known: the digests are " + (
            f"{earlier['digests']} in the earlier, {later['digests']} in the later"
        )
    if earlier["code"] == later["code"] and earlier["rounds"] > later["rounds"]:
        return earlier, f"the one with more rounds ({earlier['rounds']})"
    return later, why


def _latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the same point or finding of the same GPU, the one measured last."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    for r in sorted(records, key=lambda r: r["date"]):
        at = ",".join(f"{k}={v}" for k, v in r["at"].items())
        kept[r["gpu"], r["version"], r["microbenchmark"], at, r["quantity"]] = r
    return list(kept.values())


def _parts_of(group: dict[str, Any], study: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A group as ("compared", "cross" or "effects", group): what is of a table of `amasia cross`,
    and the rest. A library stands in both. The study with known answers stays in one piece."""
    if study == "effects":
        yield "effects", group
        return
    roles = {row["role"] for row in group["rows"]}
    if "cross" not in roles:
        yield ("cross" if study == "cross" else "compared"), group
        return
    for kind, wanted in (("compared", roles - {"cross"}), ("cross", {"cross", "comparator"})):
        if wanted - {"comparator"}:
            lists = {
                name: [entry for entry in group[name] if entry["role"] in wanted]
                for name in ("rows", "comparisons")
            }
            yield kind, {**group, **lists}


def load(
    paths: Sequence[Path | str],
    cache: Cache | None = None,
    later: list[Callable[[], object]] | None = None,
    without: Collection[Path] = (),
) -> Results:
    """Loads result files and folders of them; the same bytes under the same names only once, from
    ``cache``, which is the user's if none is given. ``later`` takes what keeps them there, for
    those who can do that beside something else. Files ``without`` which is asked for are passed
    over.

    When two files hold the same group of the same GPU (app, size, cache, launch), the later date
    counts and a note says so; so does one of each group that is not valid, which is left out. A
    table of `amasia cross` is not the same group as a comparison.
    Raises PlotsError, ResultFileError.
    """
    found, notes = find_files([Path(path) for path in paths], without)
    cache = cache or Cache(default_folder())
    earlier = frozen.beside(found)
    parts: list[bytes | str] = ["results", *notes]
    for path in (*found, "", *earlier):
        parts += [str(path), _bytes(Path(path))]
    key = cache.key(*parts)
    stored = cache.find(key)
    with no_search_for_garbage():  # what is read is kept, and nothing in it refers to itself
        if stored is not None:
            results = pickle.loads(zlib.decompress(stored))
        else:
            results = _read(found, earlier, notes)
            keep = partial(_keep, cache, key, results)
            if later is None:
                keep()
            else:
                later.append(keep)
    return replace(results, notes=[*results.notes, *_doubts_of_dates(results)])


def _keep(cache: Cache, key: str, results: Results) -> None:
    cache.keep(key, zlib.compress(pickle.dumps(results, protocol=5), 1))


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


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # read_document() says what is wrong with it


@dataclass(frozen=True)
class _Case:
    """A group of a file, or the part of it of one kind (see _parts_of()), as records of the frames.
    ``samples`` are those of all rows, one after the other, ``lengths`` how many each row has."""

    kind: str
    group: dict[str, Any]
    rows: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]
    samples: dict[str, np.ndarray]
    lengths: list[int]


@dataclass(frozen=True)
class _OfFile:
    """What one file contributes to the frames, whatever the others hold: all that its own process
    can make of it, and no more than has to travel to the one that puts the frames together."""

    file: dict[str, Any]
    recorded: Recorded
    has_digest: bool
    ceilings: list[dict[str, Any]]
    points: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    cases: list[_Case]
    measured: list[Measured]
    measured_points: list[Measured]
    notes: list[str]  # about groups that are not valid


def _case(
    document: dict[str, Any], run: dict[str, Any], number: int, kind: str, group: dict[str, Any]
) -> _Case:
    key = group["key"]
    work = group["work"]
    floor = values_of("floor", group.get("floor"))
    if group.get("floor"):  # its maximum is not in every file
        bounds = {b: floor[f"{b}_ms"] for b in members("floor")["bound_by"]["enum"]}
        floor["floor_ms"] = max(bounds.values())
        floor["bound_by"] = max(bounds, key=bounds.__getitem__)
    identity = {
        "group": f"{run['file']}.{number}" + ("x" if kind == "cross" else ""),
        "app": key["app"],
        "size": _size_text(key["size"]),
        "size_label": "",
        "bytes": work["bytes_read"] + work["bytes_written"],
        "cache": key["cache"],
        "launch": key["launch"],
    }
    record = {
        **run,
        "date": session_of(document["provenance"], group)["date_utc"],
        **identity,
        **values_of("group", group),
        "parameters": key["size"],
        "warnings": list(group["warnings"]),
        **values_of("work", work),
        **floor,
        "digests": document["digests"],
        "code": {(row["variant"], row.get("source_digest")) for row in group["rows"]},
    }
    rows = [
        {
            **run,
            **identity,
            **_row_record(row, record, f"{identity['group']}.{r}"),
            "identity": row_identity(run["gpu"], group, row),
            "carried": 1.0,
        }
        for r, row in enumerate(group["rows"])
    ]
    identities = comparison_identities(run["gpu"], group)
    comparisons = [
        {**run, **identity, **c, "identity": of}
        for c, of in zip(_comparison_records(group["comparisons"]), identities, strict=True)
    ]
    samples = {
        name: np.concatenate([row["samples"][name] for row in group["rows"]] or [np.empty(0)])
        for name in SAMPLE_COLUMNS
    }
    lengths = [len(row["samples"]["time_ms"]) for row in group["rows"]]
    return _Case(kind, record, rows, comparisons, samples, lengths)


def _with_lent(case: _Case, later: _Case) -> _Case:
    """A case with what a later session of the same file has of variants that it lacks: a variant
    whose code has changed is measured again beside the baseline alone. Its comparisons are of its
    own session; of its rows, ``carried`` is what a time is multiplied by to stand beside those of
    this case: the baseline's time here over its time there, in the same config."""

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["variant"], row["role"], row["schedule"], row["config"], row["repeat"]

    def base(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
        return {
            (r["schedule"], r["config"]): r["median"]
            for r in rows
            if r["strategy"] == "baseline" and r["repeat"] == 0 and r["median"] > 0
        }

    had = {row["variant"] for row in case.rows}
    lent = {row["variant"] for row in later.rows} - had
    if not lent:
        return case
    here, there = base(case.rows), base(later.rows)
    carried = {
        schedule: here[schedule, config] / time
        for (schedule, config), time in there.items()
        if (schedule, config) in here
    }
    places = {place(row) for row in case.rows}
    # And the baseline with a schedule that it had no reason to run with here.
    taken = [
        r
        for r, row in enumerate(later.rows)
        if row["variant"] in lent
        or (row["strategy"] == "baseline" and row["role"] == "matched" and place(row) not in places)
    ]
    of_case = {name: case.group[name] for name in _GROUP}
    starts = np.cumsum([0, *later.lengths])
    samples = {
        name: np.concatenate(
            [case.samples[name], *(values[starts[r] : starts[r + 1]] for r in taken)]
        )
        for name, values in later.samples.items()
    }
    rows = [
        {**row, **of_case, "carried": carried.get(row["schedule"], 1.0)}
        for row in (later.rows[r] for r in taken)
    ]
    comparisons = [{**c, **of_case} for c in later.comparisons if c["variant"] in lent]
    code = {(variant, digest) for variant, digest in later.group["code"] if variant in lent}
    return _Case(
        case.kind,
        {**case.group, "code": case.group["code"] | code},
        case.rows + rows,
        case.comparisons + comparisons,
        samples,
        case.lengths + [later.lengths[r] for r in taken],
    )


def _of_file(place: tuple[int, Path]) -> _OfFile:
    """A file, by its number among all and its path. Raises ResultFileError."""
    index, path = place
    document = read_document(path)
    provenance = document["provenance"]
    run = {
        "file": index,
        "gpu": provenance["device"]["name"],
        "compute_capability": provenance["device"]["compute_capability"],
        "date": provenance["date_utc"],
        "version": frozen.version_of(path),
    }
    points, findings = _microbenchmark_records(document, run)
    ceilings = []
    for ceiling in document["ceilings"]:
        values = ceiling["samples"] or [ceiling["value"]]
        ceilings.append(
            {
                **run,
                **values_of("ceiling", ceiling),
                "minimum": min(values),
                "maximum": max(values),
                "n": len(ceiling["samples"]),
            }
        )
    cases: list[_Case] = []
    measured: list[Measured] = []
    notes = [
        f"{m['name']} in {path} is left out, because its measurement is not valid: {reason}."
        for m in document.get("microbenchmarks") or []
        if (reason := invalidity_in(m))
    ]
    for number, group in enumerate(document["groups"]):
        if why := group.get("invalid"):
            key = group["key"]
            name = f"{key['app']} {_size_text(key['size'])} {key['cache']} {key['launch']}"
            notes.append(
                f"{name} in {path} is left out, because its measurement is not valid: "
                f"{why[0]['reason']}; {why[0]['remedy']}."
            )
            continue
        if provenance["study"] != "effects":
            measured += measured_in(document, group)
        for kind, part in _parts_of(group, provenance["study"]):
            cases.append(_case(document, run, number, kind, part))
    file = {
        **run,
        "path": str(path),
        **values_of("provenance", provenance),
        "provenance": provenance,
    }
    recorded = Recorded(path.as_posix(), abridged(document))
    has_digest = document["has_digest"]
    of_points = [
        measured
        for m in document.get("microbenchmarks") or []
        if not invalidity_in(m)
        for measured in measured_points(provenance, m)
    ]
    return _OfFile(
        file, recorded, has_digest, ceilings, points, findings, cases, measured, of_points, notes
    )


_MANY_BYTES = 4_000_000  # which take longer to check than a second process to start


def _of_all_files(found: Sequence[Path]) -> list[_OfFile]:
    """What every file contributes, in order, read by all cores where they are large."""
    places = list(enumerate(found))
    sizes = [len(_bytes(path)) for path in found]
    if sum(sizes) < _MANY_BYTES:
        return [_of_file(place) for place in places]
    compiled(schema.SCHEMA_PATH)  # here, so that no worker does it again
    # The largest first, so that no core is left with one while the others are done.
    places.sort(key=lambda place: sizes[place[0]], reverse=True)
    return sorted(on_all_cores(_of_file, places), key=lambda of: of.file["file"])


def _sample_frame(cases: Sequence[_Case]) -> pd.DataFrame:
    """The samples of all rows as one frame, put together once: a frame per row takes most of the
    time that a file takes. What names the row of a sample is a category, a small number instead of
    a text, because there are hundreds of thousands of samples to choose by it."""
    rows = [row for case in cases for row in case.rows]
    lengths = [length for case in cases for length in case.lengths]
    names = [name for name in SAMPLE_FRAME_COLUMNS if name not in SAMPLE_COLUMNS]
    texts = dict.fromkeys((name for name in names if name != "repeat"), "category")
    if not sum(lengths):
        return pd.DataFrame(columns=SAMPLE_FRAME_COLUMNS).astype({"throttled": bool, **texts})

    def repeated(name: str) -> np.ndarray | pd.Categorical:
        if name not in texts:
            return np.repeat(np.array([row[name] for row in rows], dtype=np.int64), lengths)
        of_rows = pd.Categorical([row[name] for row in rows])
        return pd.Categorical.from_codes(np.repeat(of_rows.codes, lengths), of_rows.categories)

    columns = {
        name: np.concatenate([case.samples[name] for case in cases if sum(case.lengths)])
        for name in SAMPLE_COLUMNS
    }
    of_each = {name: repeated(name) for name in names}
    return pd.DataFrame({**of_each, **columns}, columns=SAMPLE_FRAME_COLUMNS)


def _frame(records: Sequence[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of records. Its texts are kept as they are, because pandas gives those of its own
    kind of text column one by one, ten times as slowly, and everything here asks row by row."""
    frame = pd.DataFrame(records, columns=columns)
    texts = [name for name in frame if isinstance(frame[name].dtype, pd.StringDtype)]
    return frame.astype(dict.fromkeys(texts, object))


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
    parts = _of_all_files([*found, *others])
    mine, of_earlier = (
        [part for part in parts if part.recorded.path in {path.as_posix() for path in paths}]
        for paths in (found, earlier)
    )
    before = _results_of(of_earlier, [*found, *others], [], None) if others else None
    return _results_of(mine, found, notes, before)


def _results_of(
    parts: Sequence[_OfFile], found: Sequence[Path], notes: list[str], earlier: Results | None
) -> Results:
    cases = _chosen_cases(parts, found, notes)
    sessions = Sessions(earlier=None if earlier is None else earlier.sessions)
    for part in parts:
        for measured in part.measured:
            sessions.add(measured)
    point_sessions = Sessions()
    for part in parts:
        for measured in part.measured_points:
            point_sessions.add(measured)
    notes += sessions.borrowed()
    without_digest = sum(not part.has_digest for part in parts)
    if without_digest:
        notes.append(
            f"{without_digest} of {len(found)} files are from before files carried a digest of "
            "their content, so that only what follows from the samples was checked (amasia upgrade "
            "adds one)."
        )

    def frames_of(kind: str) -> dict[str, pd.DataFrame]:
        mine = [case for case in cases.values() if case.kind == kind]
        # What is found of a planted effect is asked of the run: its apps stand for no other.
        known = Sessions() if kind == "effects" else sessions
        frames = {
            "groups": _frame([case.group for case in mine], GROUP_COLUMNS),
            "rows": _frame(
                [{**r, **_between(known, r["identity"])} for case in mine for r in case.rows],
                ROW_COLUMNS,
            ),
            "comparisons": _frame(
                [_with_sessions(c, known) for case in mine for c in case.comparisons],
                COMPARISON_COLUMNS,
            ).astype({"control": bool, "resolved": bool}),  # also when there are none
        }
        for frame in frames.values():
            frame["size_label"] = pd.Series(
                [labels[key] for key in zip(frame["app"], frame["size"], strict=True)],
                index=frame.index, dtype=object,
            )  # fmt: skip
        frames["samples"] = _sample_frame(mine)
        return frames

    labels = _size_labels(_frame([case.group for case in cases.values()], GROUP_COLUMNS))
    all_files = _frame([part.file for part in parts], FILE_COLUMNS)
    all_ceilings = _frame([c for part in parts for c in part.ceilings], CEILING_COLUMNS)

    def apart(kind: str) -> Results | None:
        if not any(case.kind == kind for case in cases.values()):
            return None
        frames = frames_of(kind)
        of_kind = all_files[all_files["file"].isin(frames["groups"]["file"])]
        return Results(
            files=of_kind, ceilings=all_ceilings, notes=notes, sessions=sessions, **frames
        )

    return Results(
        files=all_files,
        ceilings=all_ceilings,
        notes=notes,
        points=_frame(_latest([p for part in parts for p in part.points]), POINT_COLUMNS),
        findings=_frame(_latest([f for part in parts for f in part.findings]), FINDING_COLUMNS),
        cross=apart("cross"),
        effects=apart("effects"),
        earlier=earlier,
        sessions=sessions,
        point_sessions=point_sessions,
        recorded=[part.recorded for part in parts],
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
