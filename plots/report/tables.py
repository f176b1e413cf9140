"""The tables that the page carries and its script shows: rows, controls, files, digests."""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from markupsafe import Markup

from plots import prose
from plots.data.load import Results, main_cache, main_launch
from plots.judge.beside import rows_beside
from plots.judge.gains import gains_of
from plots.prose import view
from plots.report.embedded import Column, Embedded


def row_records(results: Results) -> list[dict[str, Any]]:
    """Every row with its comparison, and what the speed-up of a best row consists of."""
    compared = {
        (c.group, c.variant, c.role, c.schedule): c
        for c in results.comparisons[~results.comparisons["control"]].itertuples()
    }
    products = {(gain.group, gain.strategy): gain.product() for gain in gains_of(results)}
    rows = rows_beside(results).sort_values(
        ["app", "bytes", "cache", "launch", "role"], kind="stable"
    )
    return [
        {
            **row,
            "speedup": compared.get((row["group"], row["variant"], row["role"], row["schedule"])),
            "product": products.get((row["group"], row["strategy"]), "")
            if row["role"] == "best"
            else "",
        }
        for row in rows.to_dict("records")
    ]


_CASE = (
    Column("gpu"),
    Column("app", listed=True),
    Column("size", listed=True),
    Column("cache", listed=True),
    Column("launch", listed=True),
)
_ROWS = (
    Column("samples", "samples", help="the samples of the row, and the ratios of its comparison"),
    *_CASE,
    Column("strategy", listed=True),
    Column("role", listed=True),
    Column("schedule", listed=True),
    Column("speed-up", "ratio", help="over baseline of the same role, with where a new run falls"),
    Column("consists of", help="of the best row of a strategy: schedule × movement"),
    Column("of floor", "share", help="the bound by the measured ceilings, over this time"),
    Column("time", "ms", help="baseline's is of all its runs, each other one by the speed-up"),
    Column("next from", "ms", help="where the next run of this row falls, lower end"),
    Column("next to", "ms", help="upper end"),
    Column("this run", "ms", help="the median of the run whose samples are shown"),
    Column("from", "ms", help="lower end of the interval of this median"),
    Column("to", "ms", help="upper end"),
    Column("runs", help="the runs and GPUs behind the number"),
    Column("n", "whole", help="samples"),
    Column("throttled", "whole", help="samples that no summary uses"),
    Column("status", listed=True),
    Column("reason", "prose"),
    Column("bound by"),
    Column("movement"),
    Column("config"),
    Column("geometry"),
    Column("GFLOP/s", "number"),
    Column("GB/s", "number"),
    Column("mJ", "number"),
    Column("registers", "whole"),
    Column("shared B", "whole"),
    Column("local B", "whole"),
    Column("blocks/SM", "whole"),
    Column("cluster", "whole"),
    Column("in flight B/SM", "whole"),
    Column("instructions"),
)
_OF_APP = ("samples", "strategy", "speed-up", "size", "cache", "launch", "role", "schedule",
           "consists of", "of floor", "time", "runs", "status")  # fmt: skip
_TAKEN = {  # column of the page -> column of the frame
    "gpu": "gpu", "app": "app", "size": "size_label", "cache": "cache", "launch": "launch",
    "role": "role", "schedule": "schedule", "of floor": "reached", "time": "beside_ms",
    "next from": "next_low", "next to": "next_high", "this run": "median", "from": "low",
    "to": "high",
    "n": "samples", "throttled": "throttled", "status": "status", "reason": "reason",
    "bound by": "bound_by", "movement": "movement", "config": "config", "geometry": "geometry",
    "GFLOP/s": "gflops", "GB/s": "gbytes_per_s", "mJ": "energy_mj", "registers": "registers",
    "shared B": "shared_bytes", "local B": "local_bytes", "blocks/SM": "blocks_per_sm",
    "cluster": "cluster_blocks", "in flight B/SM": "bytes_in_flight_per_sm",
    "instructions": "instructions",
}  # fmt: skip


def _place(line: Any) -> dict[str, str]:
    """Where a row or comparison is of."""
    names = ("gpu", "app", "size", "cache", "launch", "role", "schedule")
    return {name: getattr(line, _TAKEN[name]) for name in names}


def _lines(results: Results, sampled: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    for r in row_records(results):
        yield {
            **{name: r[column] for name, column in _TAKEN.items()},
            "samples": r["row"] if r["row"] in sampled and np.isfinite(r["median"]) else None,
            "strategy": r["strategy"] + (" (A/A)" if r["repeat"] else ""),
            "speed-up": None
            if r["speedup"] is None
            else [getattr(r["speedup"], n) for n in ("ratio", "low", "high", "claim")],
            "consists of": r["product"] if r["repeat"] == 0 else "",
            "runs": prose.runs(r["sessions"], r["gpus"]) if r["n"] else "",
        }


def rows(results: Results, data: Embedded) -> Markup:
    """Every row; of those at their best in the mode of single pictures, with its samples."""
    main = results.where(cache=main_cache(results.groups), launch=main_launch(results.groups))
    sampled = set(main.rows.loc[main.rows["role"] == "best", "row"])
    data.samples(results, sampled)
    lines = [*_lines(results, sampled), *(_lines(results.cross) if results.cross else ())]
    return data.listed("rows", "Rows", _ROWS, lines, results.gpus[0])


def rows_of_app(results: Results, app: str) -> Markup:
    """The part of the same table that is of an app."""
    first = {
        "role": "best",
        "cache": main_cache(results.groups),
        "launch": main_launch(results.groups),
    }
    gpu = results.gpus[0]
    return view("rows", f"Rows of {app}", {"gpu": gpu, "app": app}, first, _OF_APP)


_CONTROLS = (
    *_CASE,
    Column("role", listed=True),
    Column("schedule"),
    Column("baseline / baseline", "ratio"),
    Column("verdict", listed=True),
)


def controls(results: Results, data: Embedded) -> Markup:
    """Baseline against itself, in every group."""
    found = results.comparisons[results.comparisons["control"]]
    lines = [
        {
            **_place(c),
            "baseline / baseline": [c.ratio, c.low, c.high, c.claim],
            "verdict": "differs from itself" if c.resolved else "as it should be",
        }
        for c in found.itertuples()
    ]
    return data.listed("controls", "Controls", _CONTROLS, lines, results.gpus[0])


_FILES = (
    Column("file"),
    Column("date"),
    Column("study", listed=True),
    Column("command", "prose"),
    Column("commit", "prose"),
    Column("compilers", "prose"),
    Column("CUDA driver, runtime"),
    Column("device", "prose"),
    Column("device state", "prose"),
    Column("settings", "prose"),
    Column("harness digest"),
)
_SOURCES = (
    Column("variant"),
    Column("digest", help="of everything that can change what was timed, judged or bounded"),
    Column("files", "prose"),
)


def _pairs_of(values: dict[str, Any], sign: str = " ") -> str:
    return ", ".join(f"{k}{sign}{v}" for k, v in values.items())


def provenance(results: Results, data: Embedded) -> Markup:
    """Where every file is from, and the digests of the code in them."""
    sources: dict[tuple[str, str], list[str]] = {}
    records = []
    for f in results.files.itertuples():
        p = f.provenance
        device = p["device"]
        records.append(
            {
                "file": f.path, "date": f.date, "study": f.study, "command": " ".join(p["argv"]),
                "commit": (f.commit or "unknown") + (", uncommitted changes" if f.dirty else ""),
                "compilers": "; ".join(
                    (p["compiler"], p["cuda_compiler"], p["flags"], p["architectures"])
                ),
                "CUDA driver, runtime": f"{device['driver_version']}, {device['runtime_version']}",
                "device": _pairs_of(device), "device state": _pairs_of(p["device_state"]),
                "settings": _pairs_of(p["settings"], "="), "harness digest": p["harness_digest"],
            }
        )  # fmt: skip
        for variant, digest in p["sources"].items():
            sources.setdefault((variant, digest), []).append(f.path)
    digests = [{"variant": v, "digest": d, "files": ", ".join(p)} for (v, d), p in sources.items()]
    files = data.listed("files", "Result files", _FILES, records)
    return files + data.listed("sources", "Digests of the code", _SOURCES, digests)


_ABSENT = (
    *_CASE,
    Column("variant"),
    Column("role", listed=True),
    Column("schedule"),
    Column("status", listed=True),
    Column("reason", "prose"),
)


def absent(results: Results, data: Embedded) -> Markup:
    """Every row without a time and why. The chapter of an app lists what a
    strategy declines in a matrix of schedules."""
    rows = [results.rows[results.rows["status"] != "ok"]]
    if results.cross is not None:
        cross = results.cross.rows
        rows.append(cross[~cross["status"].isin(["ok", "skipped"])])
    records = [
        {
            **_place(r),
            "variant": r.variant,
            "status": r.status,
            "reason": r.reason or "no reason was recorded",
        }
        for frame in rows
        for r in frame.itertuples()
    ]
    return data.listed("absent", "Rows without a time", _ABSENT, records, results.gpus[0])
