"""What single files hold of a comparison, and which of several records of it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from plots.data.documents import read_document
from plots.data.schema import columns_of, scalars
from plots.data.sessions import Measured, case_text, identities, measured_in, session_of, size_text
from plots.folders import Note, version_of
from plots.statistics.claims import invalidity_in

LEAST_ROUNDS = 15  # of a group: least_rounds of harness/statistics/schedule.hpp
_PRESETS = ("", "smoke", "quick", "sweep", "paper")  # a later one says more about a size


def strategy_of(record: Any) -> str:
    return str(record.variant.split("/", 1)[1])


class Point(NamedTuple):
    """A row or a finding of a microbenchmark, and its file."""

    of: OfFile
    microbenchmark: Any
    what: Any


def _is_part_of(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """The record of a group has some of the variants of another, and no others."""
    mine, others = ({variant for variant, _ in g["code"]} for g in (a, b))
    return mine < others


def _lacks_rounds(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """The record of a group ended before the least rounds, with which nothing can be resolved, and
    another of the same code has more."""
    return a["rounds"] < min(LEAST_ROUNDS, b["rounds"]) and a["code"] == b["code"]


def _better_of(a: dict[str, Any], b: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Of two records of a group the one that counts, and why. It has all variants of the other and
    more (where only a library's code is still the same, the other has few). Of the same code it is
    the one with more rounds, else the later one."""
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
    """A group as ("compared" or "cross", group): rows of the role "cross" apart from the rest.
    Rows of a library are in both."""
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


class RowOf(NamedTuple):
    """A row, and what its group and session say of it."""

    row: Any
    name: str
    floor_ms: float
    bound_by: str
    identity: str
    session_scale: float = 1.0


class ComparisonOf(NamedTuple):
    """A comparison, and the A/A interval that it is compared with."""

    comparison: Any
    noise: tuple[float, float]
    identity: str


@dataclass(frozen=True)
class Case:
    """A group of a file, or the part of it of one kind (see _parts_of())."""

    kind: str
    run: dict[str, Any]
    group: dict[str, Any]  # a line of the frame, and the code of its rows
    rows: list[RowOf]
    comparisons: list[ComparisonOf]


@dataclass
class OfFile:
    """What one file contributes to the frames, whatever the others hold."""

    path: Path
    document: Any
    run: dict[str, Any]
    points: list[Point] = field(default_factory=list)
    findings: list[Point] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # about groups that are not valid


_NO_FLOOR = {name: absent for name, absent in scalars("floor").items()}


def _noises(comparisons: Sequence[Any]) -> list[tuple[float, float]]:
    """The A/A interval that each comparison of a group is compared with."""

    def place(comparison: Any) -> tuple[str, str]:
        cross = comparison.role == "cross"
        role = comparison.role if comparison.role in ("iso", "cross") else "best"
        return role, comparison.schedule if cross else ""

    controls = {place(c): (c.speedup.low, c.speedup.high) for c in comparisons if c.control}
    return [controls.get(place(c), (np.nan, np.nan)) for c in comparisons]


def _case(
    of: OfFile, number: int, kind: str, group: Any, named: tuple[list[str], list[str]]
) -> Case:
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
        RowOf(row, f"{name}.{r}", floor["floor_ms"], floor["bound_by"], identity)
        for r, (row, identity) in enumerate(zip(group.rows, of_rows, strict=True))
    ]
    comparisons = [
        ComparisonOf(*of)
        for of in zip(group.comparisons, _noises(group.comparisons), of_comparisons, strict=True)
    ]
    return Case(kind, run, record, rows, comparisons)


def _filled_in(case: Case, later: Case) -> Case:
    """A case with the variants that it lacks, from a later session of the same file: where its code
    has changed, a variant is measured again beside the baseline alone. Their comparisons are of
    their own session. ``session_scale`` rescales their times to this case: the baseline's time here
    over its time there, in the same config."""

    def place(row: Any) -> tuple[Any, ...]:
        return row.variant, row.role, row.schedule, row.config, row.repeat

    def base(rows: Sequence[RowOf]) -> dict[tuple[str, str], float]:
        return {
            (row.schedule, row.config): row.time_ms.median
            for row, *_ in rows
            if strategy_of(row) == "baseline" and row.repeat == 0 and row.time_ms is not None
        }

    filled_in = {of.row.variant for of in later.rows} - {of.row.variant for of in case.rows}
    if not filled_in:
        return case
    here, there = base(case.rows), base(later.rows)
    session_scale = {
        schedule: here[schedule, config] / time
        for (schedule, config), time in there.items()
        if (schedule, config) in here
    }
    places = {place(of.row) for of in case.rows}
    # And the baseline with a schedule that it had no reason to run with here.
    taken = [
        of._replace(session_scale=session_scale.get(of.row.schedule, 1.0))
        for of in later.rows
        if of.row.variant in filled_in
        or (
            strategy_of(of.row) == "baseline"
            and of.row.role == "matched"
            and place(of.row) not in places
        )
    ]
    code = {(variant, digest) for variant, digest in later.group["code"] if variant in filled_in}
    return replace(
        case,
        group={**case.group, "code": case.group["code"] | code},
        rows=case.rows + taken,
        comparisons=case.comparisons
        + [of for of in later.comparisons if of.comparison.variant in filled_in],
    )


def of_file(index: int, path: Path) -> OfFile:
    """A file, by its number among all and its path. Raises ResultFileError."""
    document = read_document(path)
    provenance = document.provenance
    run = {
        "file": index,
        "gpu": provenance.device.name,
        "compute_capability": provenance.device.compute_capability,
        "date": provenance.date_utc,
        "version": version_of(path),
    }
    of = OfFile(path, document, run)
    for m in document.microbenchmarks:
        if reason := invalidity_in(m):
            of.notes.append(
                f"{m.name} in {path} is left out, because its measurement is not valid: {reason}."
            )
            continue
        of.points += [Point(of, m, row) for row in m.rows]
        of.findings += [Point(of, m, finding) for finding in m.findings]
    for number, group in enumerate(document.groups):
        if group.invalid:
            why = group.invalid[0]
            left_out = f"{case_text(group.key)} in {path} is left out"
            because = f"its measurement is not valid: {why.reason}; {why.remedy}"
            of.notes.append(Note(f"{left_out}, because {because}.", "invalid", group.key.app))
            continue
        named = identities(run["gpu"], group)
        of.measured += measured_in(provenance, group, *named)
        for kind, part in _parts_of(group, provenance.study):
            of_part = named if part is group else identities(run["gpu"], part)
            of.cases.append(_case(of, number, kind, part, of_part))
    return of


def chosen_cases(
    parts: Sequence[OfFile], found: Sequence[Path], notes: list[str]
) -> dict[tuple[str, ...], Case]:
    """Of the same group in several files the one that counts, by kind and what makes it the same;
    ``notes`` say which."""
    chosen: dict[tuple[str, ...], Case] = {}
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
                    chosen[unique] = _filled_in(other, case)
                    continue
            elif other is not None:
                better, why = _better_of(other.group, record)
                left = record if better is other.group else other.group
                what = " ".join(unique[2:]) + (" (cross)" if case.kind == "cross" else "")
                files = f"{found[left['file']]} and in {found[better['file']]}"
                notes.append(Note(f"{what} is in {files}; {why} counts.", "repeated", what))
                # Whichever study it is taken from, it stays one of the paper's sizes.
                better["preset"] = max(other.group["preset"], record["preset"], key=_PRESETS.index)
                if better is other.group:
                    continue
            chosen[unique] = case
    return chosen
