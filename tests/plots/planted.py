"""Result files with planted times: the program's sample file (tests/golden/result.json), cut down
to its header, a row and a kernel. What follows from times is computed as the harness does
(harness/conclusions/recomputed.cpp, claim.cpp)."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from plots.data import schema, sessions
from plots.statistics.claims import NOT_RESOLVED, WITHIN_NOISE
from plots.statistics.intervals import corrected_confidence, median_interval
from plots.tree import ROOT
from tests import process

Record = dict[str, Any]

SAMPLE = json.loads((ROOT / "tests" / "golden" / "result.json").read_text(encoding="utf-8"))
_ROW = SAMPLE["groups"][0]["rows"][0]
CONFIDENCE = 0.95
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
# Strategy -> the schedule that it is best with, what that gains the baseline, which is best with
# "wide", what movement gains with it, and with "wide" (None: declined).
DIVIDED = {
    "register_bypass": ("wide", 1.0, 1.02, 1.02),
    "overlap": ("tall", 1.2, 1.05, 1.03),
    "drop_off": ("iso", 0.8, 1.001, 0.9),
    "tma": ("tall", 1.2, 1.3, 1.25),
    "dsm": ("split", 0.9, 1.35, None),
}
# Time in ms of each strategy with each schedule, or why it has none.
CROSSED: dict[str, dict[str, float | str]] = {
    "baseline": {"iso": 2.0, "wide": 1.5, "tall": 1.6},
    "overlap": {"iso": 1.9, "wide": 1.4, "tall": 1.2},
    "tma": {"iso": 1.6, "wide": 1.398, "tall": 1.0},
    "dsm": {"iso": "schedule iso: its tiles are too small to share", "wide": 1.599, "tall": 1.604},
}


# --- What follows from samples --------------------------------------------------------------------


def median_record(values: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE) -> Record:
    of = median_interval(np.asarray(values, dtype=float), confidence)
    record = {name: getattr(of, name) for name in ("median", "low", "high", "coverage", "n")}
    return {**record, "minimum": float(min(values)), "maximum": float(max(values))}


def _usable(row: Record) -> np.ndarray:
    """The rounds of the samples that count: throttled ones only where there are no others."""
    throttled = np.asarray(row["samples"]["throttled"], dtype=bool)
    return np.flatnonzero(throttled if throttled.all() else ~throttled)


def _times(row: Record, rounds: np.ndarray) -> np.ndarray:
    return np.asarray(row["samples"]["time_ms"], dtype=float)[rounds]


def floor_of(work: Record, ceilings: Sequence[Record]) -> Record:
    value = {c["name"]: c["value"] for c in ceilings}
    floor = {
        "bytes_ms": 1e-6 * (work["bytes_read"] + work["bytes_written"]) / value["copy_bandwidth"],
        "operations_ms": 1e-6 * work["operations"] / value[f"{work['kind']}_rate"],
        "dependency_ms": 1e-6 * work["dependent_operations"] * value["dependent_op_ns"],
    }
    bound = max(floor, key=floor.__getitem__)
    return {**floor, "floor_ms": floor[bound], "bound_by": bound.removesuffix("_ms")}


def pairs_of(rows: Sequence[Record]) -> list[tuple[Record, Record, str]]:
    """What is compared: a row, its reference, and the role of the comparison."""
    viewed = [
        SimpleNamespace(**{"schedule": "", "spells": "", "config": "", **row}, record=row)
        for row in rows
    ]
    pairs = sessions.pairs_of(viewed)
    return [(row.record, reference.record, role) for row, reference, role in pairs]


def _compared(row: Record, reference: Record, role: str, confidence: float) -> Record | None:
    both = np.intersect1d(_usable(row), _usable(reference))
    if not len(both):
        return None
    of = median_interval(_times(reference, both) / _times(row, both), confidence)
    resolved = of.coverage >= confidence and (of.low > 1 or of.high < 1)
    named = (("schedule", row), ("against_schedule", reference))
    return {
        "variant": row["variant"],
        "role": role,
        "against": reference["variant"],
        **{name: side["schedule"] for name, side in named if side.get("schedule")},
        "control": row["repeat"] > 0,
        "speedup": {
            "ratio": of.median,
            **{name: getattr(of, name) for name in ("low", "high", "coverage", "n")},
            "resolved": resolved,
        },
        "verdict": ("faster" if of.median > 1 else "slower") if resolved else NOT_RESOLVED,
    }


def within_noise(control: Mapping[str, Any], ratio: float) -> bool:
    """Whether a ratio is no farther from 1 than the farther end of a control that is resolved, or
    inside of one that is not."""
    if control["resolved"]:
        most = max(control["high"], 1 / control["low"])
        return bool(1 / most <= ratio <= most)
    return bool(control["low"] <= ratio <= control["high"])


def _claim(comparisons: Sequence[Record], mine: Record) -> str:
    """The verdict after the A/A control of the group."""

    def place(of: Record) -> tuple[str, Any]:
        role = of["role"] if of["role"] in ("iso", "cross") else "best"
        return role, of.get("schedule") if role == "cross" else None

    if mine["verdict"] == NOT_RESOLVED or mine["control"]:
        return mine["verdict"]
    controls = [c for c in comparisons if c["control"] and place(c) == place(mine)]
    inside = any(within_noise(c["speedup"], mine["speedup"]["ratio"]) for c in controls)
    return WITHIN_NOISE if inside else mine["verdict"]


def summarise(g: Record) -> None:
    """Sets what follows from the samples of a group."""
    work, floor = g["work"], g.get("floor")
    for row in g["rows"]:
        if not isinstance(row, _Row) or row["status"] != "ok":
            continue
        record = median_record(_times(row, _usable(row)))
        moved = work["bytes_read"] + work["bytes_written"]
        row["time_ms"] = record
        row["floor_fraction"] = floor["floor_ms"] / record["median"] if floor else None
        row["gflops"] = 1e-6 * work["operations"] / record["median"]
        row["gbytes_per_s"] = 1e-6 * moved / record["median"]
    pairs = pairs_of(g["rows"])
    each = corrected_confidence(CONFIDENCE, len(pairs))
    found = [_compared(*pair, each) for pair in pairs]
    g["comparisons"] = [c for c in found if c]
    for c in g["comparisons"]:
        c["claim"] = _claim(g["comparisons"], c)


# --- Rows and groups ------------------------------------------------------------------------------


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
    k = 1 + int(median_interval(range(rounds), confidence).low)
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
    pairs = max(1, len(pairs_of(g["rows"])))
    shared, own = _deviations(g["rounds"], corrected_confidence(CONFIDENCE, pairs), g.seed)
    for row in (row for row in g["rows"] if isinstance(row, _Row)):
        times = row.median * np.exp(g.spread * shared + row.width * own)
        slow = np.asarray(row["samples"]["throttled"])
        row["samples"]["time_ms"] = np.where(slow, 1.3 * times, times).tolist()
    summarise(g)


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
    registers = 32 + 4 * STRATEGIES.index(strategy) if strategy in STRATEGIES else 64
    kernel = {
        **SAMPLE["kernels"][0],
        "kernel": f"_Z6kernel_{strategy}",
        "registers": registers,
        "instructions": {"LDGSTS": 12, "total": 640, "LDG": 0},
    }
    divided = {"schedule": schedule, "movement": {"stages": 3, "producers": 1}} if schedule else {}
    row = _Row(
        _ROW,
        variant=variant,
        role=role,
        repeat=repeat,
        config="iso" if role == "iso" else f"{schedule}/3" if schedule else "64x8x4",
        **divided,
        evidence=[kernel],
        samples={
            "time_ms": [median] * rounds,
            "sm_clock_mhz": [1980.0] * (rounds - 1) + [None],
            "throttled": [False] * (rounds - throttled) + [True] * throttled,
        },
        energy_mj=None,
        source_digest="ab" * 32,
    )
    row.median, row.width = median, width
    return row


def untimed_row(variant: str, role: str, status: str, reason: str, schedule: str = "") -> Record:
    """A row without a time: failed, crashed or skipped."""
    row = {name: _ROW[name] for name in ("config", "config_source", "geometry")}
    row |= {"variant": variant, "role": role, "repeat": 0, "status": status, "reason": reason}
    row |= {"schedule": schedule} if schedule else {}
    row["samples"] = {name: [] for name in ("time_ms", "sm_clock_mhz", "throttled")}
    if status == "failed":
        row["verdict"] = {**_ROW["verdict"], "passed": False, "error": None, "mismatches": 7}
    return row


def fail(row: Record, status: str, reason: str) -> None:
    """Makes a row that ran one without a time."""
    kept = {"repeat", "config", "schedule", "source_digest"} & row.keys()
    as_before = {name: row[name] for name in kept}
    untimed = untimed_row(row["variant"], row["role"], status, reason)
    row.clear()
    row.update(untimed, **as_before)


def set_ratio(
    g: _Group, variant: str, role: str, ratio: float, half: float, repeat: int = 0
) -> None:
    """Makes a row compare as ``ratio`` * exp(+-``half``) with its reference."""
    row, reference = next(
        (row, of)
        for row, of, _ in pairs_of(g["rows"])
        if (row["variant"], row["role"], row["repeat"]) == (variant, role, repeat)
    )
    row.median, row.width = reference.median / ratio, reference.width + half
    measure(g)


def group(
    app: str,
    size: Record,
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
    digest: str = "ab",
    seed: int = 1,
) -> _Group:
    """A comparison group: baseline at iso takes ``base_ms``, at best ``base_ms / best_gain``."""
    rows: list[Record] = []
    for index, role in enumerate(("iso", "best")):
        base = base_ms / (best_gain if role == "best" else 1)
        for strategy, ratios in (TYPICAL if speedups is None else speedups).items():
            width = 0.0 if strategy == "baseline" else half
            slow = throttled if strategy == "dsm" else 0
            rows.append(
                timed_row(f"{app}/{strategy}", role, base / ratios[index], width, rounds, 0, slow)
            )
        if control:
            rows.append(timed_row(f"{app}/baseline", role, base / 1.0004, 0.003, rounds, repeat=1))
    if comparator:
        rows.append(timed_row(f"{app}/{comparator}", "comparator", base_ms / 3, half, rounds))
    cells = float(np.prod([v for v in size.values() if isinstance(v, int)]))
    work = {
        "operations": cells * 3,
        "kind": "int32" if app in ("pathfinder", "nw", "histogram") else "fp32",
        "bytes_read": cells * 4,
        "bytes_written": cells,
        "dependent_operations": 10000,
    }
    g = _Group(
        SAMPLE["groups"][0],
        key={"app": app, "size": size, "cache": cache, "launch": launch},
        preset=preset,
        work=work,
        floor=floor_of(work, ceilings()),
        rounds=rounds,
        rows=rows,
    )
    del g["interval_rule"]  # the exact one
    g.seed = seed
    for row in rows:
        row["source_digest"] = digest * 32
    measure(g)
    return g


def matched_group(
    app: str,
    size: Record,
    base_ms: float,
    *,
    divided: Mapping[str, tuple[str, float, float, float | None]] = DIVIDED,
    half: float = 0.006,
    **options: Any,
) -> _Group:
    """A group whose speed-ups at best are divided into schedule and movement, as the harness does:
    the baseline once more with each schedule that a strategy is best with, each strategy once more
    with the baseline's."""
    totals = {name: (1.0, of * by) for name, (_, of, by, _) in divided.items()}
    g = group(app, size, base_ms, speedups={"baseline": (1.0, 1.0), **totals}, half=half, **options)
    best_of = {"baseline": "wide", **{name: d[0] for name, d in divided.items()}}
    for row in (row for row in g["rows"] if row["role"] in ("iso", "best")):
        row["schedule"] = "iso" if row["role"] == "iso" else best_of[row["variant"].split("/")[1]]
        row["movement"] = {"stages": 3}
    base = next(row.median for row in g["rows"] if row["role"] == "best")

    def add(name: str, schedule: str, gain: float, width: float) -> None:
        variant, median = f"{app}/{name}", base / gain
        g["rows"].append(
            timed_row(variant, "matched", median, width, g["rounds"], schedule=schedule)
        )

    for schedule, gain in {d[0]: d[1] for d in divided.values() if d[0] != "wide"}.items():
        add("baseline", schedule, gain, 2 * half)  # and a strategy one half from that
    for name, (schedule, _, _, at_baseline) in divided.items():
        if schedule != "wide" and at_baseline is None:
            reason = "schedule wide: too wide"
            g["rows"].append(untimed_row(f"{app}/{name}", "matched", "skipped", reason, "wide"))
        elif schedule != "wide":
            add(name, "wide", at_baseline, half)
    measure(g)
    return g


def spelled_group(app: str, size: Record, base_ms: float) -> _Group:
    """A group with tma implemented with a library, 0.8 times as fast as tma in that config."""
    g = group(app, size, base_ms)
    library = timed_row(f"{app}/cuda_barrier", "comparator", base_ms / 2, 0.006, g["rounds"])
    counterpart = timed_row(f"{app}/tma", "counterpart", 0.8 * base_ms / 2, 0.0, g["rounds"])
    library["config"] = counterpart["config"] = "spelled"
    library["spells"] = "tma"
    g["rows"] += [library, counterpart]
    measure(g)
    return g


def cross_group(
    app: str,
    size: Record,
    *,
    crossed: Mapping[str, Mapping[str, float | str]] = CROSSED,
    half: float = 0.006,
    launch: str = "graph",
) -> _Group:
    """A group as `amasia run --roles cross` measures it: every strategy with every schedule."""
    g = group(app, size, 2.0, speedups={"baseline": (1, 1)}, launch=launch)
    g["rows"] = []
    for schedule in crossed["baseline"]:
        for name, of in crossed.items():
            value, variant = of[schedule], f"{app}/{name}"
            if isinstance(value, str):
                g["rows"].append(untimed_row(variant, "cross", "skipped", value, schedule))
                continue
            # Against baseline by half, and twice that against each other.
            width = {"baseline": 0.0, "tma": -half}.get(name, half)
            g["rows"].append(timed_row(variant, "cross", value, width, schedule=schedule))
            if name == "baseline":
                control = (variant, "cross", value / 1.0004, 0.003)
                g["rows"].append(timed_row(*control, repeat=1, schedule=schedule))
    measure(g)
    return g


# --- Files ----------------------------------------------------------------------------------------


def device(name: str = "NVIDIA H200", compute_capability: int = 90) -> Record:
    of = SAMPLE["provenance"]["device"]
    return {**of, "name": name, "compute_capability": compute_capability}


A100 = device("NVIDIA A100-SXM4-40GB", 80)


def ceilings(scale: float = 1.0) -> list[Record]:
    values = {
        "read_bandwidth": ("GB/s", 4690.0 * scale),
        "write_bandwidth": ("GB/s", 4700.0 * scale),
        "copy_bandwidth": ("GB/s", 4280.0 * scale),
        "fp32_rate": ("GFLOP/s", 65100.0 * scale),
        "int32_rate": ("Gop/s", 32000.0 * scale),
        "dependent_op_ns": ("ns", 2.1 / scale),
    }
    return [
        {"name": name, "unit": unit, "method": "A sentence.", "samples": [value], "value": value}
        for name, (unit, value) in values.items()
    ]


def document(
    groups: Sequence[Record],
    *,
    gpu: Record | None = None,
    date: str = "2026-11-21T10:15:00Z",
    ceiling_scale: float = 1.0,
) -> Record:
    """A file of these groups, with what follows from their samples and these ceilings."""
    of_gpu = ceilings(ceiling_scale)
    for g in groups:
        if g["floor"] is not None:
            g["floor"] = floor_of(g["work"], of_gpu)
        summarise(g)
    provenance = {
        **copy.deepcopy(SAMPLE["provenance"]),
        "date_utc": date,
        "device": gpu or device(),
        "settings": {"cache": "cold,hot", "confidence": str(CONFIDENCE)},
        "sources": {row["variant"]: "ab" * 32 for g in groups for row in g["rows"]},
    }
    head = {name: SAMPLE[name] for name in ("schema", "version")}
    return {**head, "provenance": provenance, "ceilings": of_gpu, "groups": list(groups)}


def cross_like(*groups: Record, **options: Any) -> Record:
    """A file of `amasia run --roles cross`."""
    made = document(groups or [cross_group("nw", {"n": 4096})], **options)
    made["provenance"].update(study="cross", argv=["amasia", "run", "nw", "--roles", "cross"])
    return made


def hotspot_size(n: int) -> Record:
    return {"rows": n, "cols": n, "steps": 5, "chip": "scaled"}


def paper_like() -> Record:
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
                size = {"rows": rows, "cols": cols, "pyramid": 20, "path": "none"}
                g = group(
                    "pathfinder", size, (3.1, 6.2)[i] * warm / gain, best_gain=6 / gain,
                    seed=10 + i, throttled=3 if i else 0, **modes,
                )  # fmt: skip
                groups.append(g)
    best = {row["variant"]: row for row in groups[1]["rows"] if row["role"] == "best"}
    for strategy, status, reason in (
        ("drop_off", "failed", "output differs from the reference: 7 of 1000 elements"),
        ("tma", "crashed", "an illegal memory access was encountered"),
        ("dsm", "skipped", "needs sm_90, this GPU is sm_80"),
    ):
        fail(best[f"hotspot/{strategy}"], status, reason)
    groups[1]["warnings"] = ["3 samples were throttled; cool the GPU or lower its load and repeat."]
    return document(groups)


# --- Microbenchmarks ------------------------------------------------------------------------------


def micro_row(
    at: dict[str, str], value: float | None, quantity: str = "latency", unit: str = "cycles"
) -> Record:
    """A point of a microbenchmark; without a value it was skipped."""
    n = 0 if value is None else 7
    row = {
        "at": at,
        "quantity": quantity,
        "unit": unit,
        "larger_is_better": unit != "cycles",
        "status": "ok" if n else "skipped",
        "proof": [
            {
                "kernel": "_Z5chase", "instruction": "LDG", "claimed": 32, "in_loop": True,
                "found": 32, "source": "sass",
            }
        ],
        "samples": {"value": [value] * n, "cycles": [value] * n, "clock_mhz": [1980.0] * n},
    }  # fmt: skip
    if value is None:
        return {**row, "reason": "needs sm_90, this GPU is sm_80"}
    more = {"value": median_record([value] * n), "cycles": value, "clock_mhz": 1980.0}
    return {**row, **more, "stop_reason": "interval narrow enough"}


def microbenchmark(name: str, rows: list[Record], findings: Sequence[Record] = ()) -> Record:
    return {
        "name": name,
        "question": "What does it cost?",
        "method": "A paragraph.",
        "scope": "full",
        "rows": rows,
        "findings": list(findings),
        "warnings": [],
        "source_digest": "ab" * 32,
        "wall_s": 1.5,
    }


def measured(*microbenchmarks: Record, **options: Any) -> Record:
    """A file of these microbenchmarks and no groups."""
    return {**document([], **options), "microbenchmarks": list(microbenchmarks)}


def memory_like(**options: Any) -> Record:
    """Latencies of three levels, one of them skipped; a microbenchmark that measured nothing."""
    latencies = [
        micro_row({"method": "luo", "level": level, "stride": stride, "link": "index"}, value)
        for level, stride, value in (
            ("l1", "32", 41.0),
            ("l2", "128", 282.0),
            ("memory", "32", None),
        )
    ]
    l1 = {"at": {"level": "l1"}, "quantity": "capacity", "unit": "KiB", "value": 192, "low": 192,
          "high": 224, "how": "A sentence."}  # fmt: skip
    peers = [micro_row({"from": "-", "to": "-"}, None, "bandwidth", "GB/s")]
    return measured(
        microbenchmark("memory/latency", latencies, [l1]),
        microbenchmark("interconnect/peer", peers),
        **options,
    )


# --- Profiles -------------------------------------------------------------------------------------

# A row that takes 900 cycles, waits half of them for memory and issues in a quarter; the profiler
# adds a tenth. Its clock has 1000 cycles in a microsecond.
_COUNTED = {
    "time_ms": 1e-3,
    "cycles": 1000.0,
    "sm_busy": 0.9,
    "busiest_cycles": 900.0,
    "issue_slots": 0.25,
    "instructions": 100_000.0,
    "occupancy": 0.5,
    "dram_read_bytes": 4e6,
    "dram_write_bytes": 1e6,
    "dram_use": 0.4,
    "l2_use": 0.3,
    "shared_passes": 20_000.0,
    "shared_conflicts": 0.0,
}
_STALLS = {
    "selected": 0.1, "not_selected": 0.1, "long_scoreboard": 0.5, "barrier": 0.2, "wait": 0.1,
}  # fmt: skip


def counters(stalls: Mapping[str, float] | None = None, **changes: float | None) -> Record:
    """Counters like _COUNTED but for ``changes``; None is what was not counted."""
    values = {**dict.fromkeys(schema.scalars("counters")), **_COUNTED, **changes}
    return {**values, "stalls": dict(_STALLS if stalls is None else stalls)}


Counted = Callable[[Record], Record | None]


def profile(results: Record, counted: Counted) -> Record:
    """The profile of the rows of a result document: of each what ``counted`` says of it."""
    texts = ("variant", "role", "config", "schedule", "status", "reason", "source_digest")
    groups = [
        {
            **{name: group[name] for name in ("key", "preset", "seed")},
            "rows": [
                {
                    **{name: row.get(name) or "" for name in texts},
                    "counters": counted(row) if row["status"] == "ok" else None,
                }
                for row in group["rows"]
                if not row.get("repeat")
            ],
            "warnings": [],
        }
        for group in results["groups"]
    ]
    return {
        "schema": "amasia-profile",
        "version": 2,
        "provenance": {**results["provenance"], "argv": ["amasia", "profile"]},
        "profiler": "Nsight Compute 2025.3.1.0",
        "groups": groups,
    }


# --- Format 5 -------------------------------------------------------------------------------------


def _packed(row: Record, kernels: list[Any]) -> Record:
    """A row with its samples as a file has them, and its kernels in the table of all."""
    row = {name: value for name, value in row.items() if value is not None}
    samples = dict(row["samples"])
    if all(isinstance(of, bool) for of in samples.get("throttled", [None])):
        samples["throttled"] = [i for i, of in enumerate(samples["throttled"]) if of]
    for name in ("throttled", "sm_clock_mhz", "cycles", "time_ns", "clock_mhz"):
        if all(value is None for value in samples.get(name, ())):
            samples.pop(name, None)
    kernels += [kernel for kernel in row.get("evidence", ()) if kernel not in kernels]
    indices = [kernels.index(kernel) for kernel in row.get("evidence", ())]
    return {**row, "samples": samples, "evidence": indices}


def sealed(document_: Record) -> str:
    """The text of a file."""
    kernels: list[Any] = []
    packed = dict(document_)
    if document_["schema"] == SAMPLE["schema"]:
        for name in {"groups", "microbenchmarks"} & document_.keys():
            packed[name] = [
                {k: v for k, v in part.items() if v is not None}
                | {"rows": [_packed(row, kernels) for row in part["rows"]]}
                for part in document_[name]
            ]
        packed["kernels"] = kernels
    return process.sealed(packed)
