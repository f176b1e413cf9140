"""occupancy.md: where a strategy and the baseline have different numbers of blocks on an SM at
one schedule, and what limits them.

A movement gain is measured at one schedule, but not with one occupancy: registers and shared memory
follow from the movement. Where stages want the room it is the mechanism. Where registers do, it may
be how an address is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plots.data.frames import KERNEL_MEMBERS
from plots.data.load import Results, rows_by_identity
from plots.data.sessions import rows_in
from plots.data.strategies import NAMES
from plots.judge.residency import blocks_by_registers, blocks_by_shared
from plots.markdown import MADE, plain, table, wrapped
from plots.units import interval_digits

REGISTERS, SHARED, THREADS = "registers", "shared memory", "threads"
CLUSTERS, BARRIERS = "clusters", "named barriers"


@dataclass(frozen=True)
class Kernel:
    """What a kernel of a row wants of an SM, and how many of its blocks an SM holds."""

    registers: int  # of a thread
    shared: int  # bytes of a block, static and dynamic
    threads: int  # of a block
    blocks_per_sm: int  # as the driver says; of a cluster, as many as its clusters have together
    cluster_blocks: int

    def limits(self, device: Mapping[str, Any]) -> dict[str, int]:
        """How many blocks an SM has room for, by each of what they share."""
        return {
            REGISTERS: blocks_by_registers(self.registers, self.threads, device),
            SHARED: blocks_by_shared(self.shared, device),
            THREADS: device["max_threads_per_sm"] // self.threads,
        }


def kernels_of(text: str) -> list[Kernel]:
    """The kernels of a row, from the column of that name (plots/data/load.py); none where the row
    has not run."""
    return [
        Kernel(**dict(zip(KERNEL_MEMBERS, map(int, kernel.split()), strict=True)))
        for kernel in filter(None, text.split("; "))
    ]


def limited_by(mine: Kernel, theirs: Kernel, device: Mapping[str, Any]) -> tuple[str, ...]:
    """Why an SM holds fewer blocks of one kernel than of the other; nothing if it holds as
    many."""
    if mine.blocks_per_sm == theirs.blocks_per_sm:
        return ()
    few, many = sorted((mine, theirs), key=lambda kernel: kernel.blocks_per_sm)
    short = [what for what, most in few.limits(device).items() if most < many.blocks_per_sm]
    # A kernel that keeps the numbers of its barriers in registers gets all 16 that a block may have
    # ("used 16 barriers", says ptxas); the driver counts four such blocks on an SM.
    return tuple(short) or (CLUSTERS if few.cluster_blocks > 1 else BARRIERS,)


@dataclass(frozen=True)
class Difference:
    """A config of a strategy and one of the baseline at one schedule, with different blocks on an
    SM. ``gains``: the least and the largest movement gain, over all sizes and modes in which the
    two met."""

    gpu: str
    app: str
    schedule: str
    strategy: str
    config: str
    against: str  # config of the baseline
    mine: Kernel
    theirs: Kernel
    why: tuple[str, ...]
    gains: tuple[float, float]


def _pairs(results: Results) -> Iterator[tuple[Any, Any, float]]:
    """Row of a strategy, row of the baseline at the same schedule, measured gain."""
    for part in filter(None, (results, results.cross)):
        rows = rows_by_identity(part.rows)
        comparisons = part.comparisons
        at_one = comparisons["schedule"] == comparisons["against_schedule"]
        of_baseline = comparisons["against"].str.endswith("/baseline")
        others = comparisons["strategy"].isin(NAMES) & (comparisons["strategy"] != "baseline")
        for c in comparisons[at_one & of_baseline & others].itertuples():
            pair = [rows.get((c.group, name)) for name in rows_in(c.identity)]
            if len(pair) == 2 and None not in pair:
                yield *pair, float(c.ratio)


def differences(results: Results) -> list[Difference]:
    """One for each GPU, app, schedule and pair of configs, in the order of the tables."""
    devices = {
        gpu: provenance["device"]
        for gpu, provenance in zip(results.files["gpu"], results.files["provenance"], strict=True)
    }
    found: dict[tuple[str, ...], list[tuple[Kernel, Kernel, tuple[str, ...], float]]] = {}
    for mine, theirs, gain in _pairs(results):
        device = devices[mine.gpu]
        schedule = mine.schedule or mine.role
        key = (mine.gpu, mine.app, schedule, mine.strategy, mine.config, theirs.config)
        for a, b in zip(kernels_of(mine.kernels), kernels_of(theirs.kernels), strict=False):
            if why := limited_by(a, b, device):
                found.setdefault(key, []).append((a, b, why, gain))
                break  # the first kernel of the two rows that differs
    made = []
    for key, several in found.items():
        a, b, why, _ = several[0]
        gains = [gain for *_, gain in several]
        made.append(Difference(*key, a, b, why, (min(gains), max(gains))))
    gpus = {gpu: i for i, gpu in enumerate(results.gpus)}
    strategies = {name: i for i, name in enumerate(NAMES)}
    return sorted(
        made,
        key=lambda d: (gpus[d.gpu], d.app, d.schedule, strategies[d.strategy], d.config, d.against),
    )


def _of(kernel: Kernel, why: tuple[str, ...]) -> str:
    """Blocks, and what they want of what is short."""
    wants = {
        REGISTERS: f"{kernel.registers} registers",
        SHARED: f"{kernel.shared / 1024:.0f} KiB",
        THREADS: f"{kernel.threads} threads",
    }
    if kernel.cluster_blocks > 1:
        wants[CLUSTERS] = f"clusters of {kernel.cluster_blocks}"
    told = ", ".join(wants[what] for what in why if what in wants)
    return f"{kernel.blocks_per_sm} ({told})" if told else f"{kernel.blocks_per_sm}"


def _told(why: tuple[str, ...]) -> str:
    return " and ".join(why)


def _gain(least: float, largest: float) -> str:
    digits = interval_digits(least, largest)
    low, high = f"{least:.{digits}f}", f"{largest:.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _movement(config: str, schedule: str) -> str:
    """What the name of a config says beyond its schedule, to stand behind a name or a number."""
    movement = config.removeprefix(schedule).strip("/")
    return f", {plain(movement)}" if movement else ""


_HEAD = ("app", "schedule", "strategy", "blocks", "of baseline", "limited by", "movement gain")


def _cells(d: Difference) -> tuple[str, ...]:
    return (
        d.app,
        plain(d.schedule),
        d.strategy + _movement(d.config, d.schedule),
        _of(d.mine, d.why),
        _of(d.theirs, d.why) + _movement(d.against, d.schedule),
        _told(d.why),
        _gain(*d.gains),
    )


def page(results: Results) -> str:
    """The page as Markdown. Of several GPU models, each has its part."""
    found = differences(results)
    parts = [
        "# Blocks on an SM",
        MADE,
        wrapped(
            "A movement gain is measured at one schedule. That does not make it the gain of one",
            "occupancy: what a movement holds in registers and in shared memory decides how many",
            "blocks an SM has, and more blocks hide more latency. This page lists every strategy",
            "and schedule whose blocks on an SM are not as many as the baseline's beside it, what",
            "limits whichever has fewer, and the movement gains that were measured so. Where the",
            "limit is shared memory, stages want the room, and that is part of what the strategy",
            "is. Where it is registers, two explanations compete: a movement that has to hold what",
            "it moves (baseline, mostly), or code that could be leaner. At `iso` and its controls",
            "no strategy should differ by registers; a test knows those that do. Whether a",
            "difference matters is another question: a launch of few blocks fills no SM, and a",
            "kernel that waits for the bandwidth of memory does not wait for blocks.",
        ),
    ]
    for gpu in results.gpus:
        of_gpu = [d for d in found if d.gpu == gpu]
        if not of_gpu:
            continue
        counts = Counter(_told(d.why) for d in of_gpu).most_common()
        told = ", ".join(f"{count} by {why}" for why, count in counts)
        parts += [
            f"## {plain(results.heading(gpu))}",
            wrapped(f"{len(of_gpu)} differ: {told}."),
            table(_HEAD, map(_cells, of_gpu), texts=6),
        ]
    return "\n\n".join(filter(None, [*parts, wrapped(results.uncommitted)])) + "\n"
