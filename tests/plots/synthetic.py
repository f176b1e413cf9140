"""Synthetic result files: valid by the schema, with every odd case a real one can hold.

Times are made up; sizes, names and proportions are like those of a real run, and everything else
follows from the times.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import judged
import numpy as np

from plots.data import schema

STRATEGIES = ("baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm")

# Speed-up over baseline of (iso, best).
TYPICAL = {
    "baseline": (1.0, 1.0),
    "register_bypass": (1.04, 1.002),
    "overlap": (1.15, 1.22),
    "drop_off": (0.93, 1.08),
    "tma": (1.20, 1.31),
    "dsm": (0.71, 1.27),
}


def device(name: str = "NVIDIA H200", compute_capability: int = 90) -> dict[str, Any]:
    return {
        "index": 0,
        "name": name,
        "compute_capability": compute_capability,
        "sm_count": 132,
        "memory_bytes": 150_000_000_000,
        "free_bytes": 149_000_000_000,
        "l2_bytes": 62_914_560,
        "shared_per_sm": 233_472,
        "shared_per_block": 232_448,
        "shared_reserved": 1024,
        "registers_per_sm": 65_536,
        "max_threads_per_sm": 2048,
        "max_clock_mhz": 1980,
        "memory_clock_mhz": 3201,
        "memory_bus_bits": 6144,
        "ecc": True,
        "cooperative_launch": True,
        "driver_version": 13000,
        "runtime_version": 13000,
        "uuid_hash": "0123456789abcdef",
    }


A100 = device("NVIDIA A100-SXM4-40GB", 80)


def provenance(
    variants: list[str], date: str = "2026-11-21T10:15:00Z", gpu: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "argv": ["amasia", "study", "paper"],
        "study": "paper",
        "settings": {"cache": "cold,hot", "confidence": "0.95"},
        "date_utc": date,
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "compiler": "GNU 12.2.0",
        "cuda_compiler": "NVIDIA 13.0.88",
        "flags": "-O3",
        "architectures": "90-real",
        "sources": {variant: "ab" * 32 for variant in variants},
        "harness_digest": "cd" * 32,
        "device": gpu or device(),
        "device_state": {"power_limit_w": "700", "temperature_c": "35"},
    }


def ceilings(scale: float = 1.0) -> list[dict[str, Any]]:
    values = {
        "read_bandwidth": ("GB/s", 4690.0 * scale),
        "write_bandwidth": ("GB/s", 4700.0 * scale),
        "copy_bandwidth": ("GB/s", 4280.0 * scale),
        "fp32_rate": ("GFLOP/s", 65100.0 * scale),
        "int32_rate": ("Gop/s", 32000.0 * scale),
        "dependent_op_ns": ("ns", 2.1 / scale),
    }
    return [
        {
            "name": name,
            "unit": unit,
            "method": "A sentence.",
            "samples": [value * f for f in (0.999, 1.0, 1.001)],
            "value": value,
        }
        for name, (unit, value) in values.items()
    ]


CONFIDENCE = 0.95  # as provenance() says


class _Row(dict):
    """A row that ran. What its samples are made of: a median in ms, and the width by which it
    scatters of its own."""

    median = 0.0
    width = 0.0


class _Group(dict):
    """A group, and the noise that all rows share."""

    seed = 1
    spread = 0.004


def _deviations(rounds: int, confidence: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each round: what all rows share, of standard deviation 1, and what a row has of its own,
    with an interval of -1 to 1. Any sum of the two has the median 0, because every round has
    another with the opposite of both."""
    k = 1 + int(judged.median_record(range(rounds), confidence)["low"])
    middle = (rounds + 1) / 2
    own = (np.arange(1, rounds + 1) - middle) / (middle - k)
    rng = np.random.default_rng(seed)
    half = rng.standard_normal(rounds // 2)
    shared = np.concatenate([half, np.zeros(rounds % 2), -half[::-1]])
    order = rng.permutation(rounds)
    return shared[order], own[order]


def measure(g: _Group) -> None:
    """Writes the samples of every row that ran, so that two rows compare as their medians do, give
    or take the difference of their widths; then what follows from the samples."""
    timed = [row for row in g["rows"] if isinstance(row, _Row)]
    pairs = max(1, len(list(judged.pairs_of(g["rows"]))))
    rounds = g["rounds"]
    shared, own = _deviations(rounds, 1 - (1 - CONFIDENCE) / pairs, g.seed)
    for row in timed:
        times = row.median * np.exp(g.spread * shared + row.width * own)
        slow = np.asarray(row["samples"]["throttled"])
        row["samples"]["time_ms"] = np.where(slow, 1.3 * times, times).tolist()
    summarise(g)


def summarise(g: dict[str, Any]) -> None:
    """Sets what follows from the samples of a group."""
    for row, summary in zip(g["rows"], judged.row_summaries(g, CONFIDENCE), strict=True):
        if isinstance(row, _Row):
            row.update(summary)
    g["comparisons"] = judged.comparisons_of(g["rows"], CONFIDENCE)


def fail(row: dict[str, Any], status: str, reason: str) -> None:
    """Makes a row that ran one without a time."""
    of = untimed_row(row["variant"], row["role"], status, reason)
    row.update(status=status, reason=reason, samples=of["samples"])


def set_ratio(
    g: _Group, variant: str, role: str, ratio: float, half: float, repeat: int = 0
) -> None:
    """Makes a row compare as ``ratio`` * exp(+-``half``) with its reference."""
    row = next(
        r for r in g["rows"] if (r["variant"], r["role"], r["repeat"]) == (variant, role, repeat)
    )
    reference = next(of for r, of, _ in judged.pairs_of(g["rows"]) if r is row)
    row.median, row.width = reference.median / ratio, reference.width + half
    measure(g)


def timed_row(
    variant: str,
    role: str,
    median: float,
    width: float = 0.0,
    rounds: int = 21,
    repeat: int = 0,
    throttled: int = 0,
    schedule: str = "",
) -> _Row:
    """A row that ran, for measure() to fill in; the last samples are throttled. With a schedule its
    movement is a field of its own."""
    strategy = variant.split("/")[1]
    divided = {"schedule": schedule, "movement": {"stages": 3, "producers": 1}} if schedule else {}
    row = _Row()
    row.median, row.width = median, width
    members = {
        "variant": variant,
        "role": role,
        "repeat": repeat,
        "config": "iso" if role == "iso" else f"{schedule}/3" if schedule else "64x8x4",
        "config_source": "iso" if role == "iso" else "built-in default",
        "geometry": {"tile_rows": 16, "tile_columns": 64, "threads": 256},
        **divided,
        "status": "ok",
        "reason": "",
        "fallback": "",
        "verdict": {
            "passed": True,
            "norm": "exact",
            "error": 0,
            "bound": 0,
            "checked": 1000,
            "mismatches": 0,
            "first_mismatches": [],
        },
        "evidence": [
            {
                "kernel": f"_Z6kernel_{strategy}",
                "registers": 32 + 4 * STRATEGIES.index(strategy) if strategy in STRATEGIES else 64,
                "local_bytes": 0,
                "static_shared_bytes": 1024,
                "dynamic_shared_bytes": 8192,
                "threads": 256,
                "blocks_per_sm": 6,
                "cluster_blocks": 4 if strategy == "dsm" else 1,
                "bytes_in_flight_per_sm": 49152,
                "binary_version": 90,
                "source": "sass",
                "instructions": {"LDGSTS": 12, "total": 640, "LDG": 0},
            }
        ],
        "samples": {
            "round": list(range(rounds)),
            "position": [i % 7 for i in range(rounds)],
            "time_ms": [median] * rounds,
            "sm_clock_mhz": [1980.0] * (rounds - 1) + [None],
            "throttled": [False] * (rounds - throttled) + [True] * throttled,
        },
        **dict.fromkeys(("time_ms", "floor_fraction", "gflops", "gbytes_per_s")),
        "energy_mj": None,
        "source_digest": "ab" * 32,
    }
    row.update(members)
    return row


def untimed_row(variant: str, role: str, status: str, reason: str) -> dict[str, Any]:
    """A row without a time: failed, crashed or skipped."""
    failed = status == "failed"
    row = {
        "variant": variant,
        "role": role,
        "repeat": 0,
        "config": "iso",
        "config_source": "iso",
        "geometry": {},
        "status": status,
        "reason": reason,
        "samples": {n: [] for n in ("round", "position", "time_ms", "sm_clock_mhz", "throttled")},
    }
    if failed:
        row["verdict"] = {
            "passed": False,
            "norm": "max abs error / max abs reference",
            "error": None,
            "bound": 1e-5,
            "checked": 1000,
            "mismatches": 7,
            "first_mismatches": ["(0, 3): got nan, expected 80.5"],
        }
    return row


def group(
    app: str,
    size: dict[str, Any],
    base_ms: float,
    *,
    cache: str = "cold",
    launch: str = "stream",
    preset: str = "paper",
    speedups: dict[str, tuple[float, float]] | None = None,
    best_gain: float = 2.0,
    control: bool = True,
    comparator: str | None = None,
    half: float = 0.006,
    throttled: int = 0,
    rounds: int = 21,
    seed: int = 1,
) -> dict[str, Any]:
    """A comparison group: baseline at iso takes ``base_ms``, at best ``base_ms / best_gain``."""
    speedups = TYPICAL if speedups is None else speedups
    cells = float(np.prod([v for v in size.values() if isinstance(v, int)]))
    rows: list[dict[str, Any]] = []
    for index, role in enumerate(("iso", "best")):
        base = base_ms / (best_gain if role == "best" else 1)
        for strategy, ratios in speedups.items():
            rows.append(
                timed_row(
                    f"{app}/{strategy}", role, base / ratios[index],
                    0.0 if strategy == "baseline" else half,
                    rounds, throttled=throttled if strategy == "dsm" else 0,
                )
            )  # fmt: skip
        if control:
            again = timed_row(f"{app}/baseline", role, base / 1.0004, 0.003, rounds, repeat=1)
            rows.append(again)
    if comparator:
        rows.append(timed_row(f"{app}/{comparator}", "comparator", base_ms / 3, half, rounds))
    work = {
        "operations": cells * 3,
        "kind": "int32" if app in ("pathfinder", "nw", "histogram") else "fp32",
        "bytes_read": cells * 4,
        "bytes_written": cells,
        "dependent_operations": 10000,
    }
    g = _Group()
    g.seed = seed
    g.update(
        {
            "key": {"app": app, "size": size, "cache": cache, "launch": launch},
            "preset": preset,
            "seed": 7,
            "work": work,
            "floor": judged.floor_of(work, {c["name"]: c["value"] for c in ceilings()}),
            "rounds": rounds,
            "stop_reason": "interval narrow enough",
            "launch_blocked": True,
            "rows": rows,
            "comparisons": [],
            "warnings": [],
            "wall_s": 3.5,
        }
    )
    measure(g)
    return g


# Strategy -> the schedule that it is best with, what that gains the baseline, which is best with
# "wide", what movement gains with it, and with "wide" (None: declined).
DIVIDED = {
    "register_bypass": ("wide", 1.0, 1.02, 1.02),
    "overlap": ("tall", 1.2, 1.05, 1.03),
    "drop_off": ("iso", 0.8, 1.001, 0.9),
    "tma": ("tall", 1.2, 1.3, 1.25),
    "dsm": ("split", 0.9, 1.35, None),
}


def matched_group(
    app: str,
    size: dict[str, Any],
    base_ms: float,
    *,
    divided: dict[str, tuple[str, float, float, float | None]] | None = None,
    half: float = 0.006,
    **options: Any,
) -> dict[str, Any]:
    """A group whose speed-ups at best are divided into schedule and movement, as the harness does:
    the baseline once more with each schedule that a strategy is best with, each strategy once more
    with the baseline's."""
    divided = DIVIDED if divided is None else divided
    totals = {name: (1.0, of * by) for name, (_, of, by, _) in divided.items()}
    g = group(app, size, base_ms, speedups={"baseline": (1.0, 1.0), **totals}, half=half, **options)
    best_of = {"baseline": "wide", **{name: d[0] for name, d in divided.items()}}
    for row in g["rows"]:
        if row["role"] in ("iso", "best"):
            strategy = row["variant"].split("/")[1]
            row["schedule"] = "iso" if row["role"] == "iso" else best_of[strategy]
            row["movement"] = {"stages": 3}
    baseline = f"{app}/baseline"
    base = next(r.median for r in g["rows"] if (r["variant"], r["role"]) == (baseline, "best"))

    def add(variant: str, schedule: str, median: float, width: float) -> None:
        g["rows"].append(
            timed_row(variant, "matched", median, width, g["rounds"], schedule=schedule)
        )

    for schedule, gain in {d[0]: d[1] for d in divided.values() if d[0] != "wide"}.items():
        add(baseline, schedule, base / gain, 2 * half)  # and a strategy one half from that
    for name, (schedule, _, _, at_baseline) in divided.items():
        if schedule == "wide":
            continue
        if at_baseline is None:
            row = untimed_row(f"{app}/{name}", "matched", "skipped", "schedule wide: too wide")
            g["rows"].append({**row, "schedule": "wide"})
        else:
            add(f"{app}/{name}", "wide", base / at_baseline, half)
    measure(g)
    return g


def spelled_group(app: str, size: dict[str, Any], base_ms: float, **options: Any) -> dict[str, Any]:
    """A group with tma in a library's words, 0.8 times as fast as tma in that config."""
    g = group(app, size, base_ms, **options)
    words = timed_row(f"{app}/cuda_barrier", "comparator", base_ms / 2, 0.006, g["rounds"])
    counterpart = timed_row(f"{app}/tma", "counterpart", 0.8 * base_ms / 2, 0.0, g["rounds"])
    words["config"] = counterpart["config"] = "spelled"
    words["spells"] = "tma"
    g["rows"] += [words, counterpart]
    measure(g)
    return g


# Time in ms of each strategy with each schedule, or why it has none.
CROSSED: dict[str, dict[str, float | str]] = {
    "baseline": {"iso": 2.0, "wide": 1.5, "tall": 1.6},
    "overlap": {"iso": 1.9, "wide": 1.4, "tall": 1.2},
    "tma": {"iso": 1.6, "wide": 1.398, "tall": 1.0},
    "dsm": {"iso": "schedule iso: its tiles are too small to share", "wide": 1.599, "tall": 1.604},
}


def cross_group(
    app: str,
    size: dict[str, Any],
    *,
    crossed: dict[str, dict[str, float | str]] | None = None,
    half: float = 0.006,
    launch: str = "graph",
    **options: Any,
) -> dict[str, Any]:
    """A group as `amasia run --roles cross` measures it: every strategy with every schedule."""
    crossed = CROSSED if crossed is None else crossed
    g = group(app, size, 2.0, speedups={"baseline": (1, 1)}, launch=launch, **options)
    g["rows"] = []
    for schedule in crossed["baseline"]:
        for name, of in crossed.items():
            value = of[schedule]
            variant = f"{app}/{name}"
            if isinstance(value, str):
                row = untimed_row(variant, "cross", "skipped", value)
                g["rows"].append({**row, "schedule": schedule})
                continue
            # Against baseline by half, and twice that against each other.
            width = {"baseline": 0.0, "tma": -half}.get(name, half)
            g["rows"].append(timed_row(variant, "cross", value, width, schedule=schedule))
            if name == "baseline":
                again = timed_row(
                    variant, "cross", value / 1.0004, 0.003, repeat=1, schedule=schedule
                )
                g["rows"].append(again)
    measure(g)
    return g


def cross_like(*groups: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A file of `amasia run --roles cross`."""
    document_ = document(list(groups) or [cross_group("nw", {"n": 4096})], **options)
    document_["provenance"].update(study="cross", argv=["amasia", "run", "nw", "--roles", "cross"])
    return document_


def document(
    groups: list[dict[str, Any]],
    *,
    gpu: dict[str, Any] | None = None,
    date: str = "2026-11-21T10:15:00Z",
    ceiling_scale: float = 1.0,
) -> dict[str, Any]:
    """A file of these groups, with what follows from their samples and these ceilings."""
    variants = sorted({row["variant"] for g in groups for row in g["rows"]})
    of_gpu = ceilings(ceiling_scale)
    for g in groups:
        if g["floor"] is not None:
            g["floor"] = judged.floor_of(g["work"], {c["name"]: c["value"] for c in of_gpu})
        summarise(g)
    return {
        "schema": "amasia-result",
        "version": 5,
        "provenance": provenance(variants, date, gpu),
        "ceilings": of_gpu,
        "groups": groups,
    }


# --- Format 5 -------------------------------------------------------------------------------------


def _says_nothing(name: str, value: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return name == "repeat" and value == 0
    return not value


def _shaped(value: Any, of: dict[str, Any]) -> Any:
    """A value in the order of its schema, without optional members that say nothing. What the
    schema has no place for stays: a test may have put it there."""
    if "$ref" in of:
        of = schema.schema()["$defs"][of["$ref"].rpartition("/")[2]]
    if isinstance(value, dict) and "properties" in of:
        known = of["properties"]
        kept = {
            name: _shaped(value[name], known[name])
            for name in known
            if name in value and (name in of["required"] or not _says_nothing(name, value[name]))
        }
        return kept | {name: value[name] for name in value if name not in known}
    if isinstance(value, list) and "items" in of:
        return [_shaped(item, of["items"]) for item in value]
    return value


def _packed_samples(samples: dict[str, Any]) -> dict[str, Any]:
    """As a file has them, where each is a column."""
    if not isinstance(samples, dict) or not all(isinstance(of, list) for of in samples.values()):
        return samples
    packed = dict(samples)
    if packed.get("round") == list(range(len(packed.get("round", [])))):
        del packed["round"]
    if all(isinstance(of, bool) for of in packed.get("throttled", [None])):
        packed["throttled"] = [i for i, of in enumerate(packed["throttled"]) if of]
    for name in ("sm_clock_mhz", "cycles", "time_ns", "clock_mhz"):
        if all(value is None for value in packed.get(name, [])):
            packed.pop(name, None)
    return packed


def _packed(document_: dict[str, Any]) -> dict[str, Any]:
    """A document with its kernels in one table and its samples as columns."""
    kernels: list[Any] = []

    def row_of(row: dict[str, Any]) -> dict[str, Any]:
        row = dict(row)
        for name in ("samples", "repeat_samples"):
            if name in row:
                row[name] = _packed_samples(row[name])
        indices = []
        for kernel in row.get("evidence") or []:
            if kernel not in kernels:
                kernels.append(kernel)
            indices.append(kernels.index(kernel))
        row["evidence"] = indices
        return row

    def part_of(part: dict[str, Any]) -> dict[str, Any]:
        return {**part, "rows": [row_of(row) for row in part["rows"]]}

    lists = {
        name: [part_of(part) for part in document_[name]]
        for name in ("groups", "microbenchmarks")
        if name in document_
    }
    return {**document_, **lists, "kernels": kernels}


def sealed(document_: dict[str, Any]) -> str:
    """The text of a file: behind the first line what its digest is of."""
    name, version = document_["schema"], document_["version"]
    if name == "amasia-result":
        document_ = _shaped(_packed(document_), schema.schema())
    else:
        document_ = _shaped(document_, {"$ref": "#/$defs/profile_file"})
    return sealed_as_it_is({**document_, "schema": name, "version": version})


def sealed_as_it_is(document_: dict[str, Any]) -> str:
    """The same of a document that is of format 5 already, whatever it holds."""
    first = {name: document_.get(name) for name in ("schema", "version")}
    rest = {name: of for name, of in document_.items() if name not in (*first, "digest")}
    text = json.dumps(rest, separators=(",", ":"))[1:-1] + "\n}\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    begin = json.dumps(first, separators=(",", ":"))[:-1]
    return f'{begin},"digest":"sha256:{digest}",\n{text}'


def hotspot_size(n: int) -> dict[str, Any]:
    return {"rows": n, "cols": n, "steps": 5, "chip": "scaled"}


def pathfinder_size(rows: int, cols: int) -> dict[str, Any]:
    return {"rows": rows, "cols": cols, "pyramid": 20, "path": "none"}


def paper_like() -> dict[str, Any]:
    """Two apps, several sizes, cold and hot, stream and graph, and the odd cases: a failed, a
    crashed and a skipped row, unresolved comparisons, throttled samples, a warning."""
    groups = []
    for launch, gain in (("stream", 1.0), ("graph", 1.25)):
        for cache, warm in (("cold", 1.0), ("hot", 0.9)):
            modes = {"cache": cache, "launch": launch}
            for i, n in enumerate((1024, 4096, 8192)):
                g = group(
                    "hotspot", hotspot_size(n), 2.3 * (n / 8192) ** 2 * warm, seed=i,
                    preset="paper" if n == 8192 else "quick", half=0.02 if n == 1024 else 0.006,
                    **modes,
                )  # fmt: skip
                groups.append(g)
            for i, (rows, cols) in enumerate(((1000, 1_000_000), (10_000, 10_000))):
                g = group(
                    "pathfinder", pathfinder_size(rows, cols), (3.1, 6.2)[i] * warm / gain,
                    best_gain=6 / gain, seed=10 + i, throttled=3 if i else 0, **modes,
                )  # fmt: skip
                groups.append(g)
    odd = groups[1]
    replace = {
        "hotspot/drop_off": ("failed", "output differs from the reference: 7 of 1000 elements"),
        "hotspot/tma": ("crashed", "an illegal memory access was encountered"),
        "hotspot/dsm": ("skipped", "needs sm_90, this GPU is sm_80"),
    }
    for i, row in enumerate(odd["rows"]):
        if row["role"] == "best" and row["variant"] in replace:
            odd["rows"][i] = untimed_row(row["variant"], "best", *replace[row["variant"]])
    odd["warnings"] = ["3 samples were throttled; cool the GPU or lower its load and run again."]
    return document(groups)


def micro_row(
    at: dict[str, str], value: float | None, quantity: str = "latency", unit: str = "cycles"
) -> dict[str, Any]:
    """A point of a microbenchmark; without a value it was skipped."""
    n = 0 if value is None else 7
    return {
        "at": at,
        "quantity": quantity,
        "unit": unit,
        "larger_is_better": unit != "cycles",
        "status": "skipped" if value is None else "ok",
        "reason": "needs sm_90, this GPU is sm_80" if value is None else "",
        "remark": "",
        "evidence": [],
        "proof": [
            {
                "kernel": "_Z5chase", "instruction": "LDG", "claimed": 32, "in_loop": True,
                "found": 32, "source": "sass",
            }
        ],
        "samples": {
            "value": [value] * n, "cycles": [value] * n, "time_ns": [None] * n,
            "clock_mhz": [1980.0] * n,
        },
        "value": None if value is None else judged.median_record([value] * n, CONFIDENCE),
        "cycles": value,
        "time_ns": None,
        "clock_mhz": None if value is None else 1980.0,
        "stop_reason": "interval narrow enough" if n else "",
    }  # fmt: skip


def microbenchmark(
    name: str, rows: list[dict[str, Any]], findings: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "question": "What does it cost?",
        "method": "A paragraph.",
        "scope": "full",
        "rows": rows,
        "findings": findings or [],
        "warnings": [],
        "source_digest": "ab" * 32,
        "wall_s": 1.5,
    }


def measured(*microbenchmarks: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A file of these microbenchmarks and no groups."""
    return {**document([], **options), "microbenchmarks": list(microbenchmarks)}


def finding(level: str, quantity: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {
        "at": {"level": level}, "quantity": quantity, "unit": "KiB", "value": value, "low": low,
        "high": high, "how": "A sentence.",
    }  # fmt: skip


def persistence_rows() -> list[dict[str, Any]]:
    """A window that keeps a region up to the set-aside, and beyond it only when fitted."""
    rows = []
    for percent in (25, 50, 100, 200):
        for window, stream, kept in (
            ("off", "no", 1.0),
            ("off", "yes", 0.0),
            ("on", "yes", 1.0 if percent <= 100 else 0.0),
            ("fitted", "yes", 100 / percent),
        ):
            if window == "fitted" and percent <= 100:
                continue
            at = {
                "region_percent": str(percent), "window": window, "stream": stream,
                "readers": "one",
            }  # fmt: skip
            rows.append(micro_row(at, 660 - 380 * kept))
    return [*rows, micro_row({"level": "persisting l2"}, 36.0, "capacity", "MiB")]


def memory_like(**options: Any) -> dict[str, Any]:
    """A file of microbenchmarks only, as `amasia run 'memory/*'` writes it."""
    ladder = [
        micro_row(
            {"method": "ladder", "level": "l1", "footprint": str(2**e), "hint": hint},
            (32.0 if e <= 17 else 280.0 if e <= 24 else 660.0) if hint == "ca" else 281.0,
        )
        for hint, exponents in (("ca", range(11, 34)), ("cg", range(14, 24, 3)))
        for e in exponents
    ]
    luo = [
        micro_row({"method": "luo", "level": level, "stride": stride, "link": "index"}, value)
        for level, stride, value in (
            ("l1", "32", 41.0),
            ("l2", "128", 282.0),
            ("memory", "32", None),
        )
    ]
    flight = [
        micro_row(
            {"level": level, "in_flight": str(512 * 2**e * words), "words": str(words)},
            min(peak, 0.5 * peak * 2**e * words / 16), "bandwidth", "GB/s",
        )
        for level, peak in (("memory", 4500.0), ("l2", 8600.0))
        for words in (1, 2, 4)
        for e in range(7)
    ]  # fmt: skip
    widths = [
        micro_row(
            {"n": str(n), "mode": mode, "a": a, **more}, value, quantity, unit
        )
        for n in (8, 16, 32, 64, 128, 256)
        for mode in ("dense", "sparse")
        for a in ("shared", "registers")
        for more, value, quantity, unit in (
            ({}, max(n / 2, 16.0) + 70, "latency", "cycles"),
            ({}, max(n / 2, 24.0 if a == "shared" else 16.0), "interval", "cycles"),
            ({"warpgroups": "1", "data": "random"}, 800 * min(1, n / 64), "throughput", "TFLOP/s"),
            ({"warpgroups": "4", "data": "random"}, 810 * min(1, n / 48), "throughput", "TFLOP/s"),
        )
    ]  # fmt: skip
    energy = [
        micro_row(
            {
                "instruction": instruction, "input": "f16", "sum": "f32", "mode": mode,
                "data": data,
            },
            value, quantity, unit,
        )
        for instruction, mode, data, watts, rate in (
            ("wgmma", "dense", "random", 700.0, 820.0),
            ("wgmma", "dense", "zero", 500.0, 940.0),
            ("mma", "dense", "random", 480.0, 640.0),
            ("mma", "sparse", "random", 470.0, 960.0),
        )
        for quantity, value, unit in (
            ("power", watts, "W"),
            ("sustained", rate, "TFLOP/s"),
            ("efficiency", rate / watts, "TFLOP/s/W"),
        )
    ]  # fmt: skip
    peers = [micro_row({"from": "-", "to": "-"}, None, "bandwidth", "GB/s")]
    return measured(
        microbenchmark("tensor_core/wgmma_n", widths),
        microbenchmark("tensor_core/energy", energy),
        microbenchmark("memory/latency", ladder + luo, [finding("l1", "capacity", 192, 192, 224)]),
        microbenchmark(
            "memory/in_flight", flight,
            [finding("memory", "bytes in flight at 95 % of the bandwidth", 28e3, 25e3, 32e3)],
        ),
        microbenchmark("memory/persistence", persistence_rows()),
        microbenchmark("interconnect/peer", peers),
        **options,
    )  # fmt: skip


def async_copy_like(**options: Any) -> dict[str, Any]:
    """A file of the asynchronous copies, as `amasia run 'async_copy/*'` writes it."""
    mechanisms = ("plain", "register_bypass", "pipeline", "barrier", "drop_off", "bulk")
    swept = [
        micro_row(
            {"mechanism": m, "intensity": f"{i:g}", "occupancy": occupancy},
            min(4000.0 * i, 56000.0) * (0.7 if m == "plain" and occupancy == "low" else 1.0),
            "rate", "GFLOP/s",
        )
        for m in mechanisms
        for occupancy in ("full", "low")
        for i in (0.25, 1, 4, 16, 64)
    ]  # fmt: skip
    sizes = [
        micro_row(
            {"mechanism": m, "intensity": i, "tile": str(2**e)},
            3900.0 * (1.0 if m == "plain" else 0.9 + 0.02 * (e - 9)), "bandwidth", "GB/s",
        )
        for m in mechanisms
        for i in ("0.25", "16")
        for e in range(9, 16)
    ]  # fmt: skip
    return measured(
        microbenchmark("async_copy/intensity", swept),
        microbenchmark("async_copy/working_size", sizes),
        **options,
    )


def dsm_like(**options: Any) -> dict[str, Any]:
    """A file of the ring copy, as `amasia run dsm/ring_copy` writes it."""
    ring = [
        micro_row(
            {"op": op, "cluster": str(cluster), "threads": str(threads), "ilp": str(ilp),
             "width": str(width), "stride": "1", "offset": "0"},
            min(4400.0 if cluster == 2 else 3400.0, 0.25 * threads * ilp * width),
            "bandwidth", "GB/s",
        )
        for op, clusters in (("add", (1, 2, 4, 8)), ("push", (2,)))
        for cluster in clusters
        for threads in (64, 256, 1024)
        for ilp in (1, 4)
        for width in (4, 16)
    ]  # fmt: skip
    return measured(microbenchmark("dsm/ring_copy", ring), **options)


def dpx_like() -> dict:
    """Throughput that grows up to one block per SM and halves with one more."""
    rows = []
    for form, peak in (("dpx", 8000.0), ("plain", 1000.0)):
        for blocks in (33, 66, 132, 133, 264, 265):
            waves = -(-blocks // 132)
            value = peak * blocks / (132 * waves)
            at = {
                "function": "__viaddmax_s16x2_relu", "form": form, "blocks": str(blocks)
            }  # fmt: skip
            rows.append(micro_row(at, value, "throughput", "call/clk"))
    return measured(microbenchmark("dpx/blocks", rows))
