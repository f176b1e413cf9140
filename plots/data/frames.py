"""Tidy frames of what result files hold. A column that a file has is there because the schema has
it."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from plots.data.cases import Case, ComparisonOf, OfFile, Point, RowOf, strategy_of
from plots.data.documents import SAMPLE_COLUMNS
from plots.data.schema import columns_of, scalars
from plots.data.sessions import Sessions, point_identity
from plots.statistics.claims import claim_between_runs
from plots.units import shortened

# Which file and group a line of a frame is of. ``version`` is that of the frozen record that a line
# is from, "" where it is of the current code.
_RUN = ["file", "gpu", "compute_capability", "date", "version"]
_GROUP = ["group", "app", "size", "size_label", "bytes", "cache", "launch"]
# Of the kernels of a row: the most of each number, but the least blocks.
_KERNEL = [name for name, absent in scalars("evidence").items() if absent != ""]


Columns = dict[str, list[Any]]


def _joined(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _shared_bytes(kernel: Any) -> int:
    return int(kernel.static_shared_bytes + kernel.dynamic_shared_bytes)


def _of_kernels(kernels: Sequence[Any]) -> dict[str, Any]:
    """What a row says of its kernels together."""
    if not kernels:
        unknown = dict.fromkeys((*_KERNEL, "shared_bytes"), np.nan)
        return {**unknown, "instructions": ""}
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


def _row_columns(entries: Sequence[RowOf]) -> Columns:
    rows = [entry.row for entry in entries]
    times = columns_of("median_interval", [row.time_ms for row in rows])
    return {
        "row": [entry.name for entry in entries],
        "strategy": [strategy_of(row) for row in rows],
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
        "session_scale": [entry.session_scale for entry in entries],
    }


def _comparison_columns(entries: Sequence[ComparisonOf]) -> Columns:
    comparisons = [entry.comparison for entry in entries]
    return {
        "strategy": [strategy_of(c) for c in comparisons],
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
    of_sessions = _between(sessions, columns["identity"])
    said = {name: list(columns[name]) for name in ("ratio", "low", "high", "claim")}
    for i, (control, value) in enumerate(
        zip(columns["control"], of_sessions["next_value"], strict=True)
    ):
        if control or np.isnan(value):
            continue
        low, high = of_sessions["next_low"][i], of_sessions["next_high"][i]
        said["ratio"][i], said["low"][i], said["high"][i] = value, low, high
        said["claim"][i] = claim_between_runs(said["claim"][i], low=low, high=high)
    own = {f"run_{name}": columns[name] for name in said}
    return {**columns, **of_sessions, **own, **said}


def _proof_text(proof: Sequence[Any]) -> str:
    """ "32 LDG per iteration (sass)": what was counted."""
    return ", ".join(
        f"{p.found} {p.instruction}{' per iteration' if p.in_loop else ''} ({p.source})"
        for p in proof
        if p.found is not None
    )


def latest(points: Iterable[Point]) -> list[Point]:
    """Of the same point or finding of the same GPU, the one measured last."""
    kept: dict[tuple[Any, ...], Point] = {}
    for p in sorted(points, key=lambda p: p.of.run["date"]):
        run, at = p.of.run, tuple(p.what.at.items())
        kept[run["gpu"], run["version"], p.microbenchmark.name, at, p.what.quantity] = p
    return list(kept.values())


def _run_columns(of: Sequence[OfFile]) -> Columns:
    return {name: [file.run[name] for file in of] for name in _RUN}


def point_frame(points: Sequence[Point]) -> pd.DataFrame:
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


def finding_frame(findings: Sequence[Point]) -> pd.DataFrame:
    columns = {
        **_run_columns([f.of for f in findings]),
        "microbenchmark": [f.microbenchmark.name for f in findings],
        "at": [f.what.at for f in findings],
        **columns_of("finding", [f.what for f in findings]),
    }
    return _frame(columns)


def _sample_frame(cases: Sequence[Case]) -> pd.DataFrame:
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
        "strategy": [strategy_of(row) for *_, row in of_each],
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


def group_frame(cases: Iterable[Case]) -> pd.DataFrame:
    lines = [case.group for case in cases]
    of_schema = [*scalars("group"), "parameters", "warnings", *scalars("work"), *scalars("floor")]
    return _frame({name: [line[name] for line in lines] for name in _RUN + _GROUP + of_schema})


def _of_cases(cases: Sequence[Case], counts: Sequence[int], names: Sequence[str]) -> Columns:
    """What the lines of a case have in common, so many times each."""
    return {
        name: [
            value
            for case, count in zip(cases, counts, strict=True)
            for value in itertools.repeat((case.run if name in _RUN else case.group)[name], count)
        ]
        for name in names
    }


def file_frame(parts: Sequence[OfFile]) -> pd.DataFrame:
    provenances = [part.document.provenance for part in parts]
    columns = {
        **_run_columns(parts),
        "path": [str(part.path) for part in parts],
        **columns_of("provenance", provenances),
        "provenance": [msgspec.to_builtins(provenance) for provenance in provenances],
    }
    return _frame(columns)


def ceiling_frame(parts: Sequence[OfFile]) -> pd.DataFrame:
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


def size_labels(groups: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(app, size) -> its first two integers, which say how large it is, and the parameters that
    differ _between the sizes of that app."""
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


def frames_of(
    cases: Sequence[Case], sessions: Sessions, labels: Mapping[tuple[str, str], str]
) -> dict[str, pd.DataFrame]:
    """The groups, rows, comparisons and samples of some cases, with their size_labels()."""
    shared = [*_RUN, *_GROUP]
    rows = _of_cases(cases, [len(case.rows) for case in cases], shared)
    rows |= _row_columns([of for case in cases for of in case.rows])
    rows |= _between(sessions, rows["identity"])
    comparisons = _of_cases(cases, [len(case.comparisons) for case in cases], shared)
    comparisons |= _comparison_columns([of for case in cases for of in case.comparisons])
    frames = {
        "groups": group_frame(cases),
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
    return {**frames, "samples": _sample_frame(cases)}
