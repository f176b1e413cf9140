"""Result files -> tidy frames, validated against schema/result.schema.json.

A file is hostile until it has passed: whatever is wrong with it becomes one ResultFileError line,
``file: what was expected``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd

from plots.errors import PlotsError
from plots.strategies import NAMES, ROOT

SCHEMA_NAME = "amasia-result"
SCHEMA_VERSION = 1
SCHEMA_PATH = ROOT / "schema" / "result.schema.json"
SAMPLE_COLUMNS = ("round", "position", "time_ms", "sm_clock_mhz", "throttled")
_PRESETS = ("", "smoke", "quick", "sweep", "paper")  # a later one says more about a size

# Columns of the frames, so that an empty selection has the same columns as a full one.
_RUN = ["file", "gpu", "compute_capability", "date"]
_GROUP = ["group", "app", "size", "size_label", "bytes", "cache", "launch"]
FILE_COLUMNS = [*_RUN, "path", "study", "commit", "dirty", "provenance"]
GROUP_COLUMNS = [
    *_RUN, *_GROUP, "preset", "parameters", "seed", "operations", "floor_ms", "bytes_ms",
    "operations_ms", "dependency_ms", "bound_by", "rounds", "stop_reason", "launch_blocked",
    "warnings", "wall_s",
]  # fmt: skip
ROW_COLUMNS = [
    *_RUN, *_GROUP, "row", "variant", "strategy", "role", "repeat", "config", "config_source",
    "geometry", "status", "reason", "fallback", "verified", "median", "low", "high", "coverage",
    "n", "minimum", "maximum", "floor_fraction", "floor_ms", "bound_by", "gflops", "gbytes_per_s",
    "energy_mj", "registers", "local_bytes", "shared_bytes", "blocks_per_sm", "cluster_blocks",
    "bytes_in_flight_per_sm", "instructions", "samples", "throttled",
]  # fmt: skip
SAMPLE_FRAME_COLUMNS = ["group", "row", "variant", "strategy", "role", "repeat", *SAMPLE_COLUMNS]
COMPARISON_COLUMNS = [
    *_RUN, *_GROUP, "variant", "strategy", "role", "against", "control", "ratio", "low", "high",
    "coverage", "n", "resolved", "verdict", "noise_low", "noise_high", "claim",
]  # fmt: skip
CEILING_COLUMNS = [*_RUN, "name", "unit", "method", "value", "minimum", "maximum", "n"]
POINT_COLUMNS = [
    *_RUN, "microbenchmark", "scope", "at", "quantity", "unit", "larger_is_better", "status",
    "reason", "remark", "median", "low", "high", "n", "cycles", "time_ns", "clock_mhz", "proof",
]  # fmt: skip
FINDING_COLUMNS = [
    *_RUN, "microbenchmark", "at", "quantity", "unit", "value", "low", "high", "how",
]  # fmt: skip


class ResultFileError(PlotsError):
    """A result file that cannot be used: "path: what was expected"."""


@dataclass(frozen=True)
class Results:
    """Result files as tidy frames, one line per file, group, row, sample, comparison, ceiling,
    point of a microbenchmark, finding.

    Times are in ms, bandwidths in GB/s (1e9), sizes in bytes. ``group`` identifies a comparison
    group and ``row`` a row in it, over all files. ``claim`` is the verdict of a comparison after
    the A/A control: "not resolved" also when the ratio lies inside the control's interval.
    ``notes`` are sentences about what was left out while loading.
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

    @property
    def gpus(self) -> list[str]:
        """GPU names, newest architecture first."""
        order = self.files.sort_values(["compute_capability", "gpu"], ascending=[False, True])
        return list(dict.fromkeys(order["gpu"]))

    def where(self, **conditions: Any) -> Results:
        """The groups whose columns equal ``conditions`` (None means any), with all that hangs on
        them; a condition on ``gpu`` also selects the files and ceilings."""
        wanted = {k: v for k, v in conditions.items() if v is not None}
        groups = self.groups
        for column, value in wanted.items():
            groups = groups[groups[column] == value]
        keep = set(groups["group"])
        files, ceilings = self.files, self.ceilings
        points, findings = self.points, self.findings
        if "gpu" in wanted:
            points = points[points["gpu"] == wanted["gpu"]]
            findings = findings[findings["gpu"] == wanted["gpu"]]
            files = files[files["gpu"] == wanted["gpu"]]
            ceilings = ceilings[ceilings["gpu"] == wanted["gpu"]]
        return Results(
            files,
            groups,
            self.rows[self.rows["group"].isin(keep)],
            self.samples[self.samples["group"].isin(keep)],
            self.comparisons[self.comparisons["group"].isin(keep)],
            ceilings,
            self.notes,
            points,
            findings,
        )


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA_PATH.read_text(encoding="utf-8")))


def _json_path(error: jsonschema.ValidationError) -> str:
    text = ""
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") or "the file"


def _explain(error: jsonschema.ValidationError) -> str:
    """What the schema expected, in a few words, without dumping the whole instance."""
    while error.context:  # of a oneOf: the branch that is not "null"
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    found = json.dumps(error.instance)
    found = found if len(found) <= 40 else found[:37] + "..."
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            wanted = "member " + ", ".join(f'"{name}"' for name in missing)
            return f"expected {wanted} in {_json_path(error)}"
        case "additionalProperties" if error.validator_value is False:
            extra = sorted(set(error.instance) - set(error.schema.get("properties", {})))
            return f"expected no member {', '.join(extra)} in {_json_path(error)}"
        case "enum":
            wanted = "one of " + ", ".join(json.dumps(v) for v in error.validator_value)
        case "type":
            types = error.validator_value
            wanted = "type " + (types if isinstance(types, str) else " or ".join(types))
        case "exclusiveMinimum":
            wanted = f"a number above {error.validator_value}"
        case "minimum":
            wanted = f"a number of at least {error.validator_value}"
        case _:
            wanted = f"{error.validator} {json.dumps(error.validator_value)[:60]}"
    return f"expected {wanted} at {_json_path(error)}, found {found}"


def _check_samples(path: Path, where: str, samples: Any) -> dict[str, np.ndarray]:
    """The sample columns as arrays. Checked here and not by the schema validator, which is too slow
    for hundreds of thousands of numbers; the constraints are the schema's."""

    def fail(wanted: str) -> ResultFileError:
        return ResultFileError(f"{path}: expected {wanted} at {where}.samples")

    if not isinstance(samples, dict) or set(samples) != set(SAMPLE_COLUMNS):
        raise fail("the columns " + ", ".join(SAMPLE_COLUMNS))
    for name in SAMPLE_COLUMNS:
        if not isinstance(samples[name], list):
            raise fail(f"a list in column {name}")
    if len({len(samples[name]) for name in SAMPLE_COLUMNS}) != 1:
        raise fail("columns of one length")
    for name in ("round", "position"):
        if not all(type(v) is int and v >= 0 for v in samples[name]):
            raise fail(f"integers of at least 0 in column {name}")
    if not all(type(v) is bool for v in samples["throttled"]):
        raise fail("true or false in column throttled")

    def positive(value: Any) -> bool:
        return type(value) in (int, float) and 0 < value < float("inf")

    if not all(positive(v) for v in samples["time_ms"]):
        raise fail("positive numbers in column time_ms")
    if not all(v is None or positive(v) for v in samples["sm_clock_mhz"]):
        raise fail("positive numbers or null in column sm_clock_mhz")
    return {
        "round": np.asarray(samples["round"], dtype=np.int64),
        "position": np.asarray(samples["position"], dtype=np.int64),
        "time_ms": np.asarray(samples["time_ms"], dtype=float),
        "sm_clock_mhz": np.asarray(samples["sm_clock_mhz"], dtype=float),  # null becomes NaN
        "throttled": np.asarray(samples["throttled"], dtype=bool),
    }


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _parse(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ResultFileError(f"{path}: expected a result file, found nothing") from None
    except UnicodeDecodeError:
        raise ResultFileError(f"{path}: expected JSON text in UTF-8") from None
    except OSError as error:
        raise ResultFileError(f"{path}: expected a readable file ({error.strerror})") from None
    if not text.strip():
        raise ResultFileError(f"{path}: expected a result file, found an empty one")
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip() or error.msg.startswith("Unterminated"):
            raise ResultFileError(
                f"{path}: expected the rest of the JSON, but the file ends in line {error.lineno} "
                "(truncated)"
            ) from None
        raise ResultFileError(
            f"{path}: expected JSON, but line {error.lineno} column {error.colno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ResultFileError(f"{path}: expected JSON: {error}") from None


def read_document(path: Path) -> dict[str, Any]:
    """The JSON of one result file, valid by the schema; samples as arrays, one per column.

    Raises ResultFileError.
    """
    document = _parse(path)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_NAME:
        raise ResultFileError(f'{path}: expected an Amasia result file ("schema": "{SCHEMA_NAME}")')
    if document.get("version") != SCHEMA_VERSION:
        raise ResultFileError(
            f"{path}: expected result schema version {SCHEMA_VERSION}, "
            f"found {json.dumps(document.get('version'))}"
        )
    taken: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = []
    groups = document.get("groups")
    for g, group in enumerate(groups if isinstance(groups, list) else []):
        rows = group.get("rows") if isinstance(group, dict) else None
        for r, row in enumerate(rows if isinstance(rows, list) else []):
            if isinstance(row, dict) and "samples" in row:
                columns = _check_samples(path, f"groups[{g}].rows[{r}]", row["samples"])
                row["samples"] = {name: [] for name in SAMPLE_COLUMNS}
                taken.append((row, columns))
    error = jsonschema.exceptions.best_match(_validator().iter_errors(document))
    if error is not None:
        raise ResultFileError(f"{path}: {_explain(error)}")
    for row, columns in taken:
        row["samples"] = columns
    return document


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The result files named by ``paths`` (files, or folders searched recursively for *.json) and
    notes about JSON files in folders that are something else (tuning tables, exports).

    Raises PlotsError when a path does not exist or nothing was found.
    """
    found: list[Path] = []
    notes: list[str] = []
    for path in paths:
        if path.is_dir():
            for candidate in sorted(path.rglob("*.json")):
                document = _parse(candidate)
                if isinstance(document, dict) and document.get("schema") == SCHEMA_NAME:
                    found.append(candidate)
                else:
                    notes.append(f"{candidate} is no result file and was left out.")
        elif path.exists():
            found.append(path)
        else:
            raise PlotsError(f"{path}: expected a result file or a folder of them, found nothing")
    if not found:
        where = ", ".join(str(path) for path in paths)
        raise PlotsError(f"no result files under {where}; make one with: amasia study quick")
    return list(dict.fromkeys(found)), notes


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
            labels[str(app), text] = " ".join(f"{n}={values[n]}" for n in shown if n in values)
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
    fraction = row.get("floor_fraction")
    if fraction is None and time and floor > 0:
        fraction = floor / time["median"]
    return {
        "row": row_id,
        "variant": row["variant"],
        "strategy": row["variant"].split("/", 1)[1],
        "role": row["role"],
        "repeat": row["repeat"],
        "config": row["config"],
        "config_source": row["config_source"],
        "geometry": ", ".join(f"{k}={v}" for k, v in row["geometry"].items()),
        "status": row["status"],
        "reason": row.get("reason", ""),
        "fallback": row.get("fallback", ""),
        "verified": None if verdict is None else verdict["passed"],
        **{m: time.get(m, np.nan) for m in ("median", "low", "high", "coverage")},
        "n": time.get("n", 0),
        "minimum": time.get("minimum", np.nan),
        "maximum": time.get("maximum", np.nan),
        "floor_fraction": np.nan if fraction is None else fraction,
        "floor_ms": floor,
        "bound_by": group["bound_by"],
        **{
            m: np.nan if row.get(m) is None else row[m]
            for m in ("gflops", "gbytes_per_s", "energy_mj")
        },
        "registers": worst("registers"),
        "local_bytes": worst("local_bytes"),
        "shared_bytes": max(
            (k["static_shared_bytes"] + k["dynamic_shared_bytes"] for k in evidence),
            default=np.nan,
        ),
        "blocks_per_sm": worst("blocks_per_sm", min),
        "cluster_blocks": worst("cluster_blocks"),
        "bytes_in_flight_per_sm": worst("bytes_in_flight_per_sm"),
        "instructions": ", ".join(f"{k} {v}" for k, v in sorted(instructions.items()) if v),
        "samples": len(row["samples"]["time_ms"]),
        "throttled": int(row["samples"]["throttled"].sum()),
    }


def _comparison_records(comparisons: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Comparisons of one group, each with the A/A interval of its role (a library's: of best)."""
    comparisons = list(comparisons)
    controls = {c["role"]: c["speedup"] for c in comparisons if c["control"]}
    anywhere = controls.get("best") or next(iter(controls.values()), None)
    records = []
    for c in comparisons:
        speedup = c["speedup"]
        noise = controls.get(c["role"], anywhere)
        low, high = (noise["low"], noise["high"]) if noise else (np.nan, np.nan)
        inside = noise is not None and low <= speedup["ratio"] <= high
        records.append(
            {
                "variant": c["variant"],
                "strategy": c["variant"].split("/", 1)[1],
                "role": c["role"],
                "against": c["against"],
                "control": c["control"],
                **speedup,
                "verdict": c["verdict"],
                "noise_low": low,
                "noise_high": high,
                "claim": "not resolved" if inside and not c["control"] else c["verdict"],
            }
        )
    return records


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
    """Points and findings of one file."""
    points, findings = [], []
    for m in document.get("microbenchmarks") or []:
        for row in m["rows"]:
            value = row.get("value") or {}
            points.append(
                {
                    **run,
                    "microbenchmark": m["name"],
                    "scope": m["scope"],
                    "at": row["at"],
                    **{k: row[k] for k in ("quantity", "unit", "larger_is_better", "status")},
                    "reason": row.get("reason", ""),
                    "remark": row.get("remark", ""),
                    **{k: value.get(k, np.nan) for k in ("median", "low", "high")},
                    "n": value.get("n", 0),
                    **{
                        k: np.nan if row.get(k) is None else row[k]
                        for k in ("cycles", "time_ns", "clock_mhz")
                    },
                    "proof": _proof_text(row.get("proof") or []),
                }
            )
        for f in m["findings"]:
            findings.append({**run, "microbenchmark": m["name"], **f})
    return points, findings


def _better_of(a: dict[str, Any], b: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Of two records of a group the one that counts, and why: of the same code the one with more
    rounds, else the later one."""
    later = max((a, b), key=lambda g: (g["date"], g["file"]))
    earlier = b if later is a else a
    if earlier["code"] == later["code"] and earlier["rounds"] > later["rounds"]:
        return earlier, f"the one with more rounds ({earlier['rounds']})"
    return later, f"the later one ({later['date']})"


def _latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the same point or finding of the same GPU, the one measured last."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    for r in sorted(records, key=lambda r: r["date"]):
        at = ",".join(f"{k}={v}" for k, v in r["at"].items())
        kept[r["gpu"], r["microbenchmark"], at, r["quantity"]] = r
    return list(kept.values())


def load(paths: Sequence[Path | str]) -> Results:
    """Loads result files and folders of them.

    When two files hold the same group of the same GPU (app, size, cache, launch), the later date
    counts and a note says so. Raises PlotsError, ResultFileError.
    """
    found, notes = find_files([Path(path) for path in paths])
    files: list[dict[str, Any]] = []
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    samples: dict[str, list[pd.DataFrame]] = {}
    comparisons: dict[str, list[dict[str, Any]]] = {}
    ceilings: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []

    for index, path in enumerate(found):
        document = read_document(path)
        provenance = document["provenance"]
        run = {
            "file": index,
            "gpu": provenance["device"]["name"],
            "compute_capability": provenance["device"]["compute_capability"],
            "date": provenance["date_utc"],
        }
        files.append(
            {
                **run,
                "path": str(path),
                "study": provenance["study"],
                "commit": provenance["commit"],
                "dirty": provenance["dirty"],
                "provenance": provenance,
            }
        )
        of_file = _microbenchmark_records(document, run)
        points += of_file[0]
        findings += of_file[1]
        for ceiling in document["ceilings"]:
            values = ceiling["samples"] or [ceiling["value"]]
            ceilings.append(
                {
                    **run,
                    **{m: ceiling[m] for m in ("name", "unit", "method", "value")},
                    "minimum": min(values),
                    "maximum": max(values),
                    "n": len(ceiling["samples"]),
                }
            )
        for number, group in enumerate(document["groups"]):
            key = group["key"]
            work = group["work"]
            floor = group.get("floor") or {}
            bounds = ("bytes_ms", "operations_ms", "dependency_ms")
            parts = {m: floor.get(m, np.nan) for m in bounds}
            least = max(parts.values()) if floor else np.nan
            bound = max(parts, key=lambda m: parts[m]).removesuffix("_ms") if floor else ""
            identity = {
                "group": f"{index}.{number}",
                "app": key["app"],
                "size": _size_text(key["size"]),
                "size_label": "",
                "bytes": work["bytes_read"] + work["bytes_written"],
                "cache": key["cache"],
                "launch": key["launch"],
            }
            record = {
                **run,
                **identity,
                "preset": group["preset"],
                "parameters": key["size"],
                "seed": group["seed"],
                "operations": work["operations"],
                "floor_ms": least,
                **parts,
                "bound_by": bound,
                **{m: group[m] for m in ("rounds", "stop_reason", "launch_blocked", "wall_s")},
                "warnings": list(group["warnings"]),
                "code": {(row["variant"], row.get("source_digest")) for row in group["rows"]},
            }
            unique = (run["gpu"], key["app"], identity["size"], key["cache"], key["launch"])
            other = groups.get(unique)
            if other is not None:
                chosen, why = _better_of(other, record)
                left = record if chosen is other else other
                notes.append(
                    f"{' '.join(unique)} is in {found[left['file']]} and in "
                    f"{found[chosen['file']]}; {why} counts."
                )
                # Whichever study it is taken from, it stays one of the paper's sizes.
                chosen["preset"] = max(other["preset"], record["preset"], key=_PRESETS.index)
                if chosen is other:
                    continue
            groups[unique] = record
            group_id = identity["group"]
            rows[group_id], samples[group_id] = [], []
            for r, row in enumerate(group["rows"]):
                row_id = f"{group_id}.{r}"
                flat = _row_record(row, record, row_id)
                rows[group_id].append({**run, **identity, **flat})
                samples[group_id].append(
                    pd.DataFrame(
                        {
                            "group": group_id,
                            **{
                                m: flat[m] for m in ("row", "variant", "strategy", "role", "repeat")
                            },
                            **row["samples"],
                        },
                        columns=SAMPLE_FRAME_COLUMNS,
                    )
                )
            comparisons[group_id] = [
                {**run, **identity, **c} for c in _comparison_records(group["comparisons"])
            ]

    kept = [g["group"] for g in groups.values()]
    frames = {
        "groups": pd.DataFrame(list(groups.values()), columns=GROUP_COLUMNS),
        "rows": pd.DataFrame([r for g in kept for r in rows[g]], columns=ROW_COLUMNS),
        "comparisons": pd.DataFrame(
            [c for g in kept for c in comparisons[g]], columns=COMPARISON_COLUMNS
        ).astype({"control": bool, "resolved": bool}),  # also when there are none
    }
    labels = _size_labels(frames["groups"])
    for frame in frames.values():
        frame["size_label"] = [labels[key] for key in zip(frame["app"], frame["size"], strict=True)]
    pieces = [s for g in kept for s in samples[g] if len(s)]
    return Results(
        files=pd.DataFrame(files, columns=FILE_COLUMNS),
        samples=pd.concat(pieces, ignore_index=True)
        if pieces
        else pd.DataFrame(columns=SAMPLE_FRAME_COLUMNS).astype({"throttled": bool}),
        ceilings=pd.DataFrame(ceilings, columns=CEILING_COLUMNS),
        notes=notes,
        points=pd.DataFrame(_latest(points), columns=POINT_COLUMNS),
        findings=pd.DataFrame(_latest(findings), columns=FINDING_COLUMNS),
        **frames,
    )


def usable_times(results: Results) -> dict[str, np.ndarray]:
    """row -> its times in ms, throttled samples left out unless there are no others (the rule of
    the harness)."""
    times = {}
    for row, samples in results.samples.groupby("row"):
        good = samples[~samples["throttled"]]
        times[str(row)] = (good if len(good) else samples)["time_ms"].to_numpy()
    return times


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
