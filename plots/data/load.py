"""Result files -> tidy frames. A column that a file has is there because the schema has it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plots import folders
from plots.data import frames
from plots.data.cases import LEAST_ROUNDS as LEAST_ROUNDS
from plots.data.cases import OfFile, chosen_cases, of_file
from plots.data.documents import Recorded, find_files, text_of
from plots.data.sessions import Sessions, measured_points
from plots.data.strategies import NAMES
from plots.processes import no_search_for_garbage
from plots.statistics.claims import invalidity_in

# The rows that a single picture shows, one of a variant each; a variant may have several `matched`
# rows, one per schedule. (Rows of the role "cross" are kept apart, in Results.cross.)
SHOWN_ROLES = ("iso", "best", "comparator")

LEAST_TOLD = 8  # rounds that can be resolved: least_dependent of harness/statistics


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
    session. Where the variants of a group were measured in several sessions of a file,
    ``session_scale`` rescales a row's times to those of the group's first session; else it is 1.

    ``cross`` holds the rows of the role "cross" in the same form, where there are any: each is of a
    chosen schedule, so that it mixes with no other comparison.
    """

    files: pd.DataFrame
    groups: pd.DataFrame
    rows: pd.DataFrame
    samples: pd.DataFrame
    comparisons: pd.DataFrame
    ceilings: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    points: pd.DataFrame = field(default_factory=lambda: frames.point_frame([]))
    findings: pd.DataFrame = field(default_factory=lambda: frames.finding_frame([]))
    cross: Results | None = None
    # Reads the record of earlier versions that lies in the same folders (plots/folders.py).
    read_earlier: Callable[[], Results | None] = field(
        default=lambda: None, compare=False, repr=False
    )
    # What it says of the rows that are here stands in the frames, which tell two Results apart.
    sessions: Sessions = field(default_factory=Sessions, compare=False, repr=False)
    # The files themselves, with their paths.
    documents: list[Recorded] = field(default_factory=list, compare=False, repr=False)

    @cached_property
    def recorded(self) -> list[Recorded]:
        """The files of which published values are compared with ours: those of the study "paper"
        first, then the newest first."""
        newest = sorted(self.documents, key=lambda f: f.document.provenance.date_utc, reverse=True)
        return sorted(newest, key=lambda f: f.document.provenance.study != "paper")

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
    def earlier(self) -> Results | None:
        """All of the frozen record, read on first use."""
        return self.read_earlier()

    @cached_property
    def gpus(self) -> list[str]:
        """GPU names, the one first that pages show in full: newest architecture first, of one
        architecture the one with more apps recorded, then the one with the faster memory, then
        the one with more recorded."""
        apps = self.groups.groupby("gpu")["app"].nunique()
        of_group = self.groups.set_index("group")["gpu"]
        recorded = (
            self.rows["group"]
            .map(of_group)
            .value_counts()
            .add(self.points["gpu"].value_counts(), fill_value=0)
        )
        order = self.files.assign(
            apps=self.files["gpu"].map(apps).fillna(0),
            memory=[memory_gb_s(**p["device"]) for p in self.files["provenance"]],
            recorded=self.files["gpu"].map(recorded).fillna(0),
        ).sort_values(
            ["compute_capability", "apps", "memory", "recorded", "gpu"],
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
        of = {name: chosen(getattr(self, name), ("gpu", "version")) for name in of_files}
        cross = self.cross and self.cross.where(**wanted)
        earlier = lambda: self.earlier and self.earlier.where(**wanted)  # noqa: E731
        selected = replace(self, **of, cross=cross, read_earlier=earlier)
        return selected.only(chosen(self.groups, wanted.keys()))

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


def load(paths: Sequence[Path | str]) -> Results:
    """Loads result files and folders of them.

    When two files hold the same group of the same GPU (app, size, cache, launch), the later date
    counts and a note says so. A group that is not valid is left out, with a note, too. Rows of the
    role "cross" are another group than the comparisons with the baseline.
    Raises PlotsError, ResultFileError.
    """
    found, notes = find_files([Path(path) for path in paths])
    with no_search_for_garbage():  # what is read is kept, and nothing in it refers to itself
        results = _read(found, notes)
    return replace(results, notes=[*results.notes, *_doubts_of_dates(results)])


def _doubts_of_dates(results: Results) -> Iterator[str]:
    """Of dates when no run can have begun: sessions are put into the order of theirs."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path, date, provenance in results.files[["path", "date", "provenance"]].itertuples(
        index=False
    ):
        for when in sorted({date, *(s["date_utc"] for s in provenance.get("sessions") or ())}):
            if when < "2020" or when > tomorrow:
                what = "before this suite existed" if when < "2020" else "in the future"
                yield (
                    f"{path} is dated {when}, {what}: the clock of its machine was wrong. Which "
                    "files count as newer may be wrong, too."
                )


def _read(found: Sequence[Path], notes: list[str]) -> Results:
    """The results of ``found``; the frozen record beside them is read when it is asked for."""
    parts = [of_file(index, path) for index, path in enumerate(found)]
    beside = folders.beside(found)
    others = [path for path in beside if path not in set(found)]

    def earlier() -> Results | None:
        if not others:
            return None
        with no_search_for_garbage():
            of_others = [of_file(len(found) + i, path) for i, path in enumerate(others)]
            frozen_parts = [part for part in parts if part.path in set(beside)] + of_others
            return _results_of(frozen_parts, [*found, *others], [])

    def earlier_sessions(gpu: str, app: str) -> Sessions:
        """Of the other files of the GPU's folder nothing but the bytes is read."""
        sessions, name = Sessions(), f'"app":"{app}"'.encode()
        for path in (path for path in beside if path.parent.name == slug(gpu) and others):
            for measured in of_file(0, path).measured if name in text_of(path) else ():
                sessions.add(measured)
        return sessions

    return _results_of(parts, found, notes, earlier, earlier_sessions)


def _results_of(
    parts: Sequence[OfFile],
    found: Sequence[Path],
    notes: list[str],
    earlier: Callable[[], Results | None] = lambda: None,
    earlier_sessions: Callable[[str, str], Sessions] | None = None,
) -> Results:
    cases = chosen_cases(parts, found, notes)
    sessions = Sessions(earlier_sessions)
    for measured in itertools.chain.from_iterable(part.measured for part in parts):
        sessions.add(measured)
    notes += sessions.borrowed()
    files, ceilings = frames.file_frame(parts), frames.ceiling_frame(parts)
    labels = frames.size_labels(frames.group_frame(cases.values()))

    def of_kind(kind: str) -> dict[str, pd.DataFrame]:
        of = [case for case in cases.values() if case.kind == kind]
        return frames.frames_of(of, sessions, labels)

    compared, cross = of_kind("compared"), None
    if any(case.kind == "cross" for case in cases.values()):
        crossed = of_kind("cross")
        of_cross = files[files["file"].isin(crossed["groups"]["file"])]
        cross = Results(
            files=of_cross, ceilings=ceilings, notes=notes, sessions=sessions, **crossed
        )
    points = frames.latest(p for part in parts for p in part.points)
    findings = frames.latest(f for part in parts for f in part.findings)
    return Results(
        files=files,
        ceilings=ceilings,
        notes=notes,
        points=frames.point_frame(points),
        findings=frames.finding_frame(findings),
        cross=cross,
        read_earlier=earlier,
        sessions=sessions,
        documents=[Recorded(part.path.as_posix(), part.document) for part in parts],
        **compared,
    )


def rows_by_identity(rows: pd.DataFrame) -> dict[tuple[str, str], Any]:
    """(group, identity) -> the row, of rows that ran and repeat no other."""
    ran = rows[(rows["repeat"] == 0) & (rows["status"] == "ok")]
    return {(r.group, r.identity): r for r in ran.itertuples()}


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
    return _main(groups["launch"], "stream")


def main_cache(groups: pd.DataFrame) -> str | None:
    """The cache mode that a single picture shows: cold, as in the papers."""
    return _main(groups["cache"], "cold")


def _main(modes: pd.Series, first: str) -> str | None:
    return min(set(modes), key=lambda mode: (mode != first, mode), default=None)


def memory_gb_s(memory_clock_mhz: float, memory_bus_bits: int, **_: Any) -> float:
    """GB/s that a GPU's memory clock and bus allow, with two transfers per clock."""
    return 2e-3 * memory_clock_mhz * memory_bus_bits / 8


def slug(name: str) -> str:
    """A file-name form of a name; for GPUs that of device_slug in harness/device.hpp."""
    text = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    for vendor in ("nvidia-", "geforce-", "tesla-"):
        text = text.removeprefix(vendor)
    return text
