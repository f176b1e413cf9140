"""What is declared of every app, schedule and strategy: the phases of a run (model.py).

Numbers are counted, not measured. Bytes, blocks, launches and steps follow from the algorithm and
the geometry (apps/<app>/*.hpp). Instructions are those of a warp in the machine code of sm_90
(CUDA 13.0), by loops: a count of a loop times its trips, and what lies outside. Latencies are sums
of what a step's chain consists of, each from a microbenchmark. Whoever counted had seen the
recorded times; no number here was chosen to come near them, but no test can prove that. The
constants that are fitted to times are in evaluation.py, and are fitted without the app that they
are used for.

A family is one way in which an app is computed; ``FAMILIES`` lists them, each with the geometry
that it is known by. A row of another geometry is not predicted, and the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plots.prediction.model import Machine, Phase

SECTOR = 32  # bytes in which memory is read


@dataclass(frozen=True)
class Row:
    """What is known of a row before it runs."""

    app: str
    strategy: str
    schedule: str
    size: Mapping[str, Any]
    geometry: Mapping[str, float]
    movement: Mapping[str, float]
    config: str
    cache: str
    launch: str
    blocks_per_sm: float
    threads: float
    cluster: float
    spilled: float  # bytes of a thread

    def moves(self, name: str, default: float = 0.0) -> float:
        return float(self.movement.get(name, default))

    def has(self, name: str, default: float = 0.0) -> float:
        return float(self.geometry.get(name, default))

    @property
    def engine(self) -> bool:
        """Its copies are made by the copy engine."""
        return self.strategy in ("tma", "dsm")

    def number(self, name: str) -> float:
        return float(self.size[name])


def numbers(text: str) -> dict[str, float]:
    """ "tile=16, steps=2" -> its numbers."""
    found = {}
    for part in text.split(", "):
        name, equals, value = part.partition("=")
        if equals:
            try:
                found[name] = float(value)
            except ValueError:
                continue
    return found


def _up(value: float, to: float) -> float:
    return math.ceil(value / to - 1e-12) * to


def _travel(machine: Machine, row: Row, cached: bool) -> float:
    """Cycles from asking for a copy until it is there."""
    if row.strategy == "baseline":
        return machine.load_l2 if cached else machine.load_memory
    if row.engine:
        return machine.bulk_l2 if cached else machine.bulk_memory
    return machine.copy_l2 if cached else machine.copy_memory


def _received(machine: Machine, size: float) -> float:
    """Cycles from the first of so many bytes to the last, where nothing else is on its way to the
    SM: what a batch that is waited for at once takes beside the way of a copy."""
    return size / machine.received


# How a strategy brings stages, as async_copy/stage_cost names it. drop_off copies what its own
# threads read.
_BROUGHT = {
    "baseline": "registers", "register_bypass": "cp_async", "overlap": "cp_async",
    "drop_off": "cp_async", "tma": "bulk", "dsm": "bulk",
}  # fmt: skip


def _stage(machine: Machine, row: Row, producers: float, warps: float, size: float) -> float:
    """Cycles that a stage of so many bytes costs the warps that compute on it."""
    return machine.stage(_BROUGHT[row.strategy], producers, warps, size)


# A footprint up to this share of L2 is found there: beyond it the chase of memory/latency leaves
# the latency of L2 on Hopper, whose L2 has two halves.
_ROOM = 0.5


def _cached(machine: Machine, row: Row, footprint: float, visited: bool) -> bool:
    """Does L2 have what a launch reads: is there room, and was it read or written before?"""
    return footprint < _ROOM * machine.l2_bytes and (visited or row.cache == "hot")


# --- nw -------------------------------------------------------------------------------------------

# Instructions of a tile outside its anti-diagonals, and of one of those (a quarter of the loop); of
# overlap, which has a loop for copies, as counted (profile-nw).
_NW_ISO = {
    "baseline": (634, 15.5), "register_bypass": (617, 15.5), "overlap": (611, 19.5),
    "drop_off": (510, 28.5), "tma": (212, 17), "dsm": (693, 15.5),
}  # fmt: skip
# Cycles of an instruction outside loops where a warp has its scheduler for itself, as the only one
# of a block of nw's tiles has: the median of its kernels by the stalls in their machine code, which
# are 1.9 to 2.9.
_STRAIGHT = 2.65


def _nw_iso(machine: Machine, row: Row) -> list[Phase]:
    tiles = row.has("tiles", 1)
    down = math.ceil(row.number("rows") / (16 * tiles))
    across = math.ceil(row.number("cols") / 16)
    launches = np.arange(down + across - 1)
    count = np.minimum(np.minimum(launches + 1, down + across - 1 - launches), min(down, across))
    counts, times = np.unique(count, return_counts=True)
    outside, diagonal = _NW_ISO[row.strategy]
    cell = machine.shared + 2 * machine.op + machine.barrier(32)
    travel = _travel(machine, row, _cached(machine, row, 8 * down * across * 256 * tiles, False))
    latency = 31 * cell + (_STRAIGHT - 1) * outside
    if row.strategy == "dsm":  # a cluster that is ready, the neighbour's edge
        latency += machine.met(32) + machine.hand_over
    if row.strategy == "overlap":  # three barriers more, a wait for each group of rows
        latency += 4 * machine.barrier(32)
    return [
        Phase(
            launches=times.astype(float), blocks=counts.astype(float), steps=tiles, warps=1,
            instructions=outside + 31 * diagonal, latency=latency, travel=travel,
            read=1024 + 128, write=1024, resident=row.blocks_per_sm,
            wavefronts=31 * 4 + 2 * 16,
            rounds=1.0 if row.strategy == "tma" else 0.0,
        )
    ]  # fmt: skip


# Cycles in which a thread of a producer warp stores 16 bytes of scores and copies as many of ref,
# by the stalls of its machine code and the waits for what it has read: 63 to 130, by loop.
_NW_MOVED = 100.0


def _nw_bands(machine: Machine, row: Row) -> list[Phase]:
    """A walk of 32 lanes, four columns a step; a band follows the one above it (geometry.hpp)."""
    height, columns = row.has("band_rows", 128), row.number("cols")
    bands = math.ceil(row.number("rows") / height)
    batch = 32 * row.moves("batch", 2.0 if "pairs" in row.config else 1.0)
    lane_rows = height / 32
    # Of the walk's main loop, a step.
    instructions = 72.0 if lane_rows > 2 else 44.0
    period = batch / 4  # steps that a stage lasts
    stage = 4 * height * batch  # its bytes, of ref; as many of scores go the other way
    # The cells on the way from one lane's row above to the next lane's, and the shuffle between.
    chain = (lane_rows + 3) * machine.op + machine.shared
    producers = row.moves("producer_warps")
    copied = 0.0
    if row.strategy == "drop_off":  # the walker copies its own ref
        producers, copied = 0.0, 3 * lane_rows
    instructions += copied
    # What a copy costs beside its instructions, those of the walker's own.
    handed = _stage(machine, row, producers, 1, stage) / period - copied
    latency = chain + max(0.0, handed)
    ahead = max(1.0, row.moves("depth"))
    lag = 31 + 8 + 1 + 8
    held = machine.sms * row.blocks_per_sm
    deep = min(bands, held)
    steps = math.ceil(bands / held) * columns / 4 + 35 + (deep - 1) * lag
    # A word of the band above is waited for where it travels longer than it was asked for ahead.
    # What handing a stage over costs is no part of the time that hides a copy: both meet for it.
    step = instructions + chain
    late = max(0.0, (machine.hand_over if row.strategy == "dsm" else machine.word) - 8 * step)
    cells = bands * height * columns
    travel = _travel(machine, row, _cached(machine, row, 8 * cells, False))
    if row.strategy in ("baseline", "register_bypass"):
        # A producer stores scores, copies ref and waits for all of it, while as much is written.
        travel += stage / 16 / (32 * max(1.0, producers)) * _NW_MOVED
        travel += machine.arrival(
            stage, travel, stage * min(deep, machine.sms) * machine.clock_ghz / machine.copy_gb_s
        )
    # What of the way of a stage its period does not cover, on each step of it.
    exposed = max(0.0, travel - ahead * period * step) / period
    return [
        Phase(
            launches=1, blocks=deep, steps=steps, warps=1, instructions=instructions,
            latency=latency + exposed, start=travel + late * deep,
            read=4 * cells / deep / steps, write=4 * cells / deep / steps,
            resident=row.blocks_per_sm, persistent=True, wavefronts=9 * 4,
            rounds=1 / period if row.engine else 0.0,
        )
    ]  # fmt: skip


# --- lud ------------------------------------------------------------------------------------------

# Instructions of a warp: an internal tile, as counted (profile-lud: half of the warps of a block
# copy nothing); what the perimeter and the diagonal do besides their elimination.
_LUD_ISO = {
    "baseline": (130, 280, 200), "register_bypass": (148, 480, 250), "overlap": (181, 480, 250),
    "drop_off": (194, 420, 260), "tma": (106, 200, 170), "dsm": (179, 330, 260),
}  # fmt: skip


def _lud_iso(machine: Machine, row: Row) -> list[Phase]:
    n = row.number("n")
    per_block = row.has("tiles_per_block", 1)
    side = np.arange(math.ceil(n / 16) - 1, 0, -1, dtype=float)
    internal, perimeter, diagonal = _LUD_ISO[row.strategy]
    cached = _cached(machine, row, 4 * n * n, True)
    travel = _travel(machine, row, cached)
    # Elimination is product by product, each read from, and written to, shared memory by the same
    # warp: 225 and 15 divisions of the diagonal tile; 120 of a tile beside and 120 of one below,
    # whose lanes take turns, and 16 divisions.
    product, division = machine.shared + machine.op, machine.divide + 2 * machine.shared
    factored = 225 * product + 15 * division
    solved = 240 * product + 16 * division
    # Each block of a cluster that is ready sends its share of the tile that all need.
    dsm = row.strategy == "dsm"
    shares = machine.met(32) + machine.hand_over if dsm else 0.0
    linked = machine.met(256) + machine.hand_over if dsm else 0.0
    flight = 2.0 if per_block > 1 and row.strategy in ("overlap", "tma") else 0.0
    # An element of C is loaded when its product is known, but for these, which copy it, too.
    asked = 1.0 if row.strategy in ("drop_off", "tma") else 0.5
    blocks = np.ceil(side / per_block) * side
    read, l2, written = (0.0, 3072.0, 0.0) if cached else (1024.0, 2048.0, 1024.0)
    return [
        Phase(
            launches=len(side) + 1, blocks=1, warps=1, instructions=diagonal + 225 * 4 + 15 * 20,
            latency=factored + shares, travel=travel, wavefronts=225 * 4, resident=1,
        ),
        Phase(
            launches=1, blocks=side, warps=1, instructions=perimeter + 240 * 4 + 16 * 20,
            latency=solved + shares, travel=travel, wavefronts=240 * 4, l2=3072,
            write=0 if cached else 2048,
            resident=row.blocks_per_sm,
        ),
        Phase(
            launches=1, blocks=blocks, steps=per_block, warps=8, instructions=internal,
            latency=2 * machine.barrier(256) + machine.shared + 16 * machine.op
            + linked / per_block,
            wavefronts=8 * 20, travel=travel, flight=flight, read=read, l2=l2,
            write=written, resident=row.blocks_per_sm, persistent=per_block > 1, group=asked,
        ),
    ]  # fmt: skip


# Instructions of a warp per slice of 32 columns: of a tile of 64 x 64 elements a warp, four times
# its loop of 1024 multiply-adds and what moves the slice (as counted, profile-gemm: no more than
# half of what the code of a turn has is executed in each).
_FP32_SLICE = {
    "baseline": 4607.0, "register_bypass": 4607.0, "overlap": 4690.0, "drop_off": 5107.0,
    "tma": 4402.0, "dsm": 4402.0,
}  # fmt: skip
# Of lud's blocked elimination, instructions for a multiply-add (as counted, profile-lud).
_LUD_PER_PRODUCT = {
    "baseline": 1.217, "register_bypass": 1.146, "overlap": 1.209, "drop_off": 1.256, "tma": 1.155,
    "dsm": 1.252,
}  # fmt: skip
# The same of a small tile, by machine code: the loop over a slice and what is around it, of the
# copies what four or five of eight chunks bring, and of drop_off's not those of its own elements.
_LUD_PER_SMALL_PRODUCT = {
    "baseline": 1.48, "register_bypass": 1.54, "overlap": 1.53, "drop_off": 1.55, "tma": 1.32,
    "dsm": 1.32,
}  # fmt: skip
# Of a warp and slice of 32 columns: a tile of the update, and a small one of the chain.
_LUD_PRODUCTS, _LUD_SMALL_PRODUCTS = 4096.0, 1024.0
# Passes of its 192 reads of 16 bytes a lane through shared memory (as counted).
_FP32_PASSES = 546.0


def _lud_blocked(machine: Machine, row: Row) -> list[Phase]:
    """A chain of diagonal blocks, panels and strips, and beside it the update of the rest."""
    n = row.number("n")
    panels = math.ceil(n / 128)
    each = _LUD_PER_PRODUCT[row.strategy]
    cached = _cached(machine, row, 4 * n * n, True)
    travel = _travel(machine, row, cached)
    # A column of a diagonal block: a barrier, a division, a read and a product of each row.
    column = 2 * machine.barrier(256) + 2 * machine.shared + 8 * machine.op
    side = np.arange(panels - 1, 0, -1, dtype=float)
    # dsm's cluster meets once a tile, and neither block leaves before the other has read.
    linked = 2 * machine.met(128) if row.strategy == "dsm" else 0.0
    flight = 0.0 if row.strategy in ("baseline", "register_bypass") else 2.0
    # A slice of a small tile is four squares of 32 x 32, of a strip five. Who waits for a slice at
    # once, as baseline does where it solves panels (tests/python/test_early_waits.py), waits until
    # all of it has been received.
    slice_ = 4.5 * 32 * 32 * 4
    waited = travel + (0.0 if flight > 0 else _received(machine, slice_))
    chain: dict[str, Any] = dict(
        launches=1, blocks=2 * 4 * side, warps=4,
        instructions=_LUD_SMALL_PRODUCTS * _LUD_PER_SMALL_PRODUCT[row.strategy],
        travel=waited, flight=flight,
        latency=2 * machine.barrier(128) + machine.shared + linked / 4, l2=slice_,
        start=2 * travel, resident=row.blocks_per_sm, rounds=1.0 if row.engine else 0.0,
    )  # fmt: skip
    # Four slices of a panel, and of as many strips as a group has panels, half of them on average.
    group = max(1.0, min(row.has("k_update", 128) / 128, panels / max(row.has("group_share"), 1)))
    made = [
        Phase(launches=panels, blocks=1, warps=8, instructions=128 * 40, latency=128 * column,
              travel=travel, resident=1),
        Phase(steps=4, **chain),
        Phase(steps=4 * (1 + group / 2), **chain),
    ]  # fmt: skip
    # The rest of a third of n^3 multiply-adds, on a second stream beside the chain. Both want all
    # SMs, so that their times are added.
    blocks = machine.sms * row.blocks_per_sm
    in_chain = 2 * 4 * side.sum() * 4 * (2 + group / 2) * 4 * 32 * _LUD_SMALL_PRODUCTS
    slices = (n**3 / 3 - in_chain) / (128 * 128 * 32) / blocks
    if slices <= 0:  # a group of panels is all there is
        return made
    rest = Phase(
        launches=max(1.0, panels / group), blocks=blocks, steps=slices / max(1.0, panels / group),
        warps=4, instructions=_LUD_PRODUCTS * each,
        latency=machine.shared + machine.barrier(128), flight=flight, group=1.0,
        travel=travel + (0.0 if flight > 0 else _received(machine, 2 * 128 * 32 * 4)),
        wavefronts=4 * _FP32_PASSES,
        l2=2 * 128 * 32 * 4, write=0.0 if cached else 4 * 128 * 128 / (4 * group),
        read=0.0 if cached else 4 * 128 * 128 / (4 * group),
        resident=row.blocks_per_sm, persistent=True, rounds=1.0 if row.engine else 0.0,
    )  # fmt: skip
    return [*made, rest]


# --- hotspot --------------------------------------------------------------------------------------

# Instructions of a warp for a tile of two steps; of a further tile of a walk. What one warp of the
# eight executes, or half of them, counts so much less.
_HOTSPOT_ISO = {
    "baseline": (146, 121), "register_bypass": (142, 124), "overlap": (146, 143),
    "drop_off": (151, 151), "tma": (118, 129), "dsm": (264, 242),
}  # fmt: skip


# Passes of a tile through shared memory: a store, 5 reads and a store of a step by 8 warps; and the
# tile itself, which is read once more where a copy brought it. A warp reads two rows of 16 cells at
# a time, which meet in banks where rows are 20 cells apart (tma). As counted (profile-hotspot).
_HOTSPOT_PASSED = {
    "baseline": 104.0, "register_bypass": 149.0, "overlap": 150.0, "drop_off": 166.0, "tma": 188.0,
    "dsm": 126.0,
}  # fmt: skip


def _hotspot_iso(machine: Machine, row: Row) -> list[Phase]:
    rows, cols, steps = row.number("rows"), row.number("cols"), row.number("steps")
    across, columns = 1.0, 12.0
    if row.strategy == "dsm":
        across, columns = 8.0, 124.0
    tiles = math.ceil(rows / 12) * math.ceil(cols / columns) * across
    walks = row.schedule == "iso-walk"
    instructions = float(_HOTSPOT_ISO[row.strategy][walks])
    # of a step: the neighbours, the sum, a barrier before and after the store
    latency = 2 * (machine.shared + 5 * machine.op + 2 * machine.barrier(256))
    start = 0.0
    if row.strategy == "dsm":  # the cells at the sides are sent; the cluster meets once at first
        latency = 2 * (5 * machine.op + machine.hand_over)
        start = machine.met(256)
    elif row.strategy == "tma":  # barriers are ready; the result is complete, and has been read
        latency += 2 * machine.barrier(256) + machine.store_read
    launches = math.ceil(steps / 2)
    footprint = 12 * rows * cols
    phases = []
    for visited, times in ((False, 1.0), (True, launches - 1.0)):
        if times <= 0:
            continue
        cached = _cached(machine, row, footprint, visited)
        travel = _travel(machine, row, cached)
        read, l2 = (0.0, 2048.0) if cached else (8 * 144.0, 2048.0)
        if row.strategy == "dsm":
            read = 0.0 if cached else 8 * 12 * 124 / 8
        blocks, of_block = tiles, 1.0
        flight = 0.0
        if walks:
            blocks = min(tiles, machine.sms * row.blocks_per_sm)
            of_block = tiles / blocks
            flight = {"overlap": 1.0, "drop_off": 1.0, "tma": 2.0}.get(row.strategy, 0.0)
        phases.append(
            Phase(
                launches=times, blocks=blocks, steps=of_block, warps=8, instructions=instructions,
                latency=latency + start / of_block,
                wavefronts=_HOTSPOT_PASSED[row.strategy],
                travel=travel, flight=flight,
                read=read, l2=l2, write=0.0 if cached else 4 * 144.0, resident=row.blocks_per_sm,
                persistent=walks, rounds=1.0 if row.strategy == "tma" else 0.0,
                copies=3.0 if row.strategy == "tma" else 0.0,  # both grids in, the result out
            )
        )  # fmt: skip
    return phases


def _passes(steps: int, available: Sequence[int]) -> list[int]:
    """As plan_passes() of apps/hotspot/schedules.cpp."""
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for total in range(1, steps + 1):
        best.append(
            min(
                (best[total - p][0] + 1, best[total - p][1] + p * p, p)
                for p in available
                if p <= total
            )
        )
    plan = []
    while steps > 0:
        plan.append(best[steps][2])
        steps -= best[steps][2]
    return sorted(plan, reverse=True)


_HOTSPOT_PASSES = {5: (1, 5), 8: (1, 4, 8), 12: (1, 5, 8, 12)}
# Registers of a thread beyond the cells it holds (schedules.hpp).
_HOTSPOT_REGISTERS = {"4-warps-roomy": 80.0, "4-warps-8-steps": 56.0}
# Instructions of a warp for a row beside those of its steps, by how the row came.
_HOTSPOT_ROW = {
    "baseline": 40.0, "register_bypass": 44.0, "overlap": 40.0, "drop_off": 34.0, "tma": 36.0,
    "dsm": 60.0,
}  # fmt: skip


# Cycles of a row in which a warp issues nothing, even if nothing has to come from memory, by steps
# of a pass: by the machine code of sm_90, the stalls that the assembler set on the way of a
# row-block inside the grid, and waits for shared memory (33 cycles) and shuffles (24). Means over
# the kernels of a pass, which differ by 10 at most but in dsm's, in whose loop messages stand, too.
_HOTSPOT_STALLS = {
    "register_bypass": {1: 33.0, 4: 26.0, 5: 48.0, 8: 37.0, 12: 38.0},
    "overlap": {1: 43.0, 4: 22.0, 5: 42.0, 8: 36.0, 12: 39.0},
    "drop_off": {1: 24.0, 4: 43.0, 5: 42.0, 8: 35.0, 12: 46.0},
    "tma": {1: 43.0, 4: 35.0, 5: 45.0, 8: 51.0, 12: 48.0},
    "dsm": {1: 53.0, 4: 70.0, 5: 90.0, 8: 80.0, 12: 89.0},
    "baseline": {1: 43.0, 4: 35.0, 5: 45.0, 8: 51.0, 12: 48.0},  # by producer warps: tma's
}
# baseline holds the next row-block in registers, and its steps have what that leaves: their chains
# follow each other, and in some passes they spill. By schedule and steps: such cycles of a row,
# and bytes of a thread that are stored and loaded again in a row-block. (Others spill 16 at most.)
_HOTSPOT_BASELINE = {
    ("4-warps", 1): (140.0, 0.0), ("4-warps", 5): (197.0, 80.0), ("4-warps", 8): (181.0, 72.0),
    ("4-warps", 12): (147.0, 56.0), ("4-warps-roomy", 1): (42.0, 0.0),
    ("4-warps-roomy", 5): (73.0, 0.0), ("4-warps-roomy", 8): (76.0, 0.0),
    ("4-warps-roomy", 12): (147.0, 56.0), ("4-warps-8-steps", 1): (58.0, 0.0),
    ("4-warps-8-steps", 4): (103.0, 0.0), ("4-warps-8-steps", 8): (181.0, 72.0),
    ("8-warps", 1): (140.0, 0.0), ("8-warps", 5): (197.0, 80.0), ("8-warps", 8): (76.0, 0.0),
    ("8-warps", 12): (81.0, 0.0), ("8-warps-5-steps", 1): (140.0, 0.0),
    ("8-warps-5-steps", 5): (197.0, 80.0),
}  # fmt: skip
# Of what is spilled: times a row that a warp waits for it, by the machine code, and the share that
# L1 has lost by then (sm_read_bytes of profile-hotspot, beyond those of the grids).
_HOTSPOT_RELOADS, _HOTSPOT_LOST = 0.9, 0.5


def _hotspot_stream(machine: Machine, row: Row) -> list[Phase]:
    rows, cols, steps = row.number("rows"), row.number("cols"), int(row.number("steps"))
    warps = row.has("warps", 4)
    producers = row.moves("producer_warps")
    stage_rows = max(1.0, row.moves("stage_rows", 4))
    cluster = max(1.0, row.has("cluster_blocks", 1))
    footprint = 12 * rows * cols
    plan = _passes(steps, _HOTSPOT_PASSES.get(int(row.has("steps_per_pass", 12)), (1, 5, 8, 12)))
    phases = []
    for index, length in enumerate(plan):
        halo = _up(length, 4)
        if row.strategy == "dsm":
            of_cluster = (cluster * warps - 1) * 120 + 128 - 2 * halo
            across = math.ceil(cols / of_cluster) * cluster
        else:
            across = math.ceil(cols / (warps * (128 - 2 * halo)))
        registers = _up(12 * length + _HOTSPOT_REGISTERS.get(row.schedule, 40.0), 8)
        blocks_per_sm = max(
            1.0, min(4 * (512 // registers) // (warps + producers), 32 // (warps + producers))
        )
        resident = machine.sms * blocks_per_sm
        warm_up = _up(2 * length, stage_rows)
        chunk = _chunk_rows(rows, across, resident, stage_rows, warm_up)
        blocks = across * math.ceil(rows / chunk)
        streamed = min(chunk, rows) + warm_up
        cached = _cached(machine, row, footprint, index > 0)
        travel = _travel(machine, row, cached)
        instructions = stage_rows * (22.0 * length + _HOTSPOT_ROW[row.strategy])
        stalls, spilled = _HOTSPOT_STALLS[row.strategy][length], 0.0
        if row.strategy == "baseline" and not producers:
            stalls, spilled = _HOTSPOT_BASELINE.get((row.schedule, length), (stalls, 0.0))
        instructions += 2 * spilled / 4  # stored and loaded once a row-block
        if spilled:
            reload = (1 - _HOTSPOT_LOST) * machine.shared + _HOTSPOT_LOST * machine.l2
            stalls += _HOTSPOT_RELOADS * reload
        latency = stage_rows * stalls
        shuffles = stage_rows * warps * (2.0 * length + 4)
        if row.strategy == "dsm":
            # A window sends two rows of each step to either side, a message each.
            latency += machine.hand_over
            instructions += 4.0 * length
            shuffles += warps * 4.0 * length
        if row.strategy not in ("drop_off", "dsm"):
            latency += machine.barrier(32 * warps)
        flight = 0.0
        if row.strategy in ("overlap", "tma", "dsm", "drop_off") or producers:
            flight = max(1.0, row.moves("stages", 2) - 1)
        elif row.strategy == "baseline":
            flight = 1.0  # the next row-block travels to registers meanwhile
        columns = warps * (128 - 2 * halo) + 2 * halo
        finished = rows * cols / blocks / (streamed / stage_rows)
        read = 0.0 if cached else 8 * finished
        phases.append(
            Phase(
                launches=1, blocks=blocks, steps=streamed / stage_rows, warps=warps,
                instructions=instructions, latency=latency, wavefronts=shuffles,
                travel=travel, flight=flight, read=read, write=0.0 if cached else 4 * finished,
                l2=8 * columns * stage_rows, start=machine.memory,
                rounds=1.0 if row.engine else 0.0,
                in_flight=8 * columns * stage_rows * max(flight, 1), resident=blocks_per_sm,
            )
        )  # fmt: skip
    return phases


def _chunk_rows(
    rows: float, across: float, resident: float, stage_rows: float, warm_up: float
) -> float:
    """As best_chunk_rows() of apps/hotspot/strip.hpp."""
    least, best = math.inf, _up(rows, stage_rows)
    most = math.ceil(rows / stage_rows)
    for waves in range(1, 5):
        fit = waves * resident // across
        chunks = min(max(1.0, fit), most)
        chunk = _up(math.ceil(rows / chunks), stage_rows)
        cost = math.ceil(math.ceil(rows / chunk) * across / resident) * (chunk + warm_up)
        if cost < least:
            least, best = cost, chunk
    return best


# Instructions of a warp: its loop of a step, of the two that there are the one of squares inside
# the grid, without what only its first turn does; loads and stores of a square, as counted for
# baseline and tma (profile-hotspot), and more for those whose threads copy, by the machine code.
_SQUARE = {
    "baseline": (148, 213), "register_bypass": (150, 373), "overlap": (150, 373),
    "drop_off": (153, 253), "tma": (150, 162),
}  # fmt: skip


# Squares of an SM that passes are planned for (square.hpp).
_SQUARES_PLANNED = 3


def _squares(rows: float, cols: float, halo: int) -> float:
    """Squares that cover a grid with that halo; columns' halos are multiples of four."""

    def along(extent: float, lost: float) -> float:
        return 1.0 if extent <= 64 else math.ceil((extent - 2 * lost) / (64 - 2 * lost))

    return along(rows, halo) * along(cols, _up(halo, 4))


def _square_steps(rows: float, cols: float, steps: int, resident: float) -> int:
    """As best_square_steps() of apps/hotspot/square.hpp."""

    def cost(length: int) -> float:
        waves = math.ceil(_squares(rows, cols, length) / resident)
        return math.ceil(steps / length) * (10 + waves * (length + 5))

    return min(range(1, min(20, steps) + 1), key=cost)


def _hotspot_square(machine: Machine, row: Row) -> list[Phase]:
    """Squares of 64 x 64 cells in registers, 16 cells a thread, up to 20 steps a launch."""
    rows, cols, steps = row.number("rows"), row.number("cols"), int(row.number("steps"))
    per_sm = max(1.0, row.blocks_per_sm)
    length = _square_steps(rows, cols, steps, machine.sms * _SQUARES_PLANNED)
    launches = math.ceil(steps / length)
    blocks = _squares(rows, cols, length)
    useful = math.sqrt(rows * cols / blocks)
    of_step, once = _SQUARE[row.strategy]
    step = machine.shared + 6 * machine.op + machine.barrier(256) + machine.shared
    phases = []
    for visited, times in ((False, 1.0), (True, launches - 1.0)):
        if times <= 0:
            continue
        cached = _cached(machine, row, 12 * rows * cols, visited)
        each = min(length, steps / launches)
        phases.append(
            Phase(
                launches=times, blocks=blocks, warps=8, instructions=once + each * of_step,
                latency=each * step,
                travel=_travel(machine, row, cached) + _received(machine, 8 * 4096),
                wavefronts=8 * each * 14, read=0.0 if cached else 8 * useful * useful,
                l2=8 * 4096, write=0.0 if cached else 4 * useful * useful,
                resident=per_sm,
            )
        )  # fmt: skip
    return phases


# --- pathfinder -----------------------------------------------------------------------------------

# Instructions of a warp: of a launch before and after its rows, and of a row.
_PATH_ISO = {
    "baseline": (77, 27), "register_bypass": (366, 22), "overlap": (450, 45),
    "drop_off": (94, 50), "tma": (130, 39), "dsm": (140, 95),
}  # fmt: skip


def _pathfinder_iso(machine: Machine, row: Row) -> list[Phase]:
    rows, cols = row.number("rows"), row.number("cols")
    cluster = max(1.0, row.has("cluster", 1))
    blocks = math.ceil(cols / (256 * cluster - 40)) * cluster
    launches = math.ceil((rows - 1) / 20)
    outside, of_row = _PATH_ISO[row.strategy]
    strategy = row.strategy
    ahead = row.moves("rows_in_flight") >= 20  # the baseline's control
    if strategy == "baseline" and ahead:
        outside, of_row = 330, 22
    if strategy == "drop_off" and row.moves("slots", 2) > 2:
        outside, of_row = 150, 62
    travel = _travel(machine, row, _cached(machine, row, 4 * rows * cols, False))
    # of a row: three costs above, two minima and a sum, the store, and again behind a barrier
    latency = 2 * machine.shared + 6 * machine.op + 2 * machine.barrier(256)
    start, flight, waits = 0.0, 0.0, 0.0
    if strategy == "baseline" and not ahead:
        waits, start = travel, machine.l2
    elif strategy == "dsm":
        waits, start = machine.memory, machine.l2 + machine.linked(256)
        latency += machine.hand_over - machine.barrier(256)
    elif strategy == "drop_off":
        waits, flight, start = travel, max(1.0, row.moves("slots", 2)), travel
    else:  # all rows of the launch, before the first or, by groups, before each
        start = travel + _received(machine, 20 * 256 * 4)
        start += (20 if strategy == "overlap" else 0) * machine.op
    start += outside * 2
    return [
        Phase(
            launches=launches, blocks=blocks, steps=20, warps=8, instructions=of_row,
            latency=latency, wavefronts=8 * 7, travel=waits, flight=flight,
            read=4 * (256 - 40 / cluster), l2=4 * 256, start=start, resident=row.blocks_per_sm,
        ),
    ]  # fmt: skip


# Instructions of a warp for a row of its window, four and twelve columns a lane; and, where the
# computing warps copy, of a 16-byte chunk.
_STRIP_ROW = {4: 19.5, 12: 45.0}
# Cycles of a row of four columns a lane, those of its instructions included: by the machine code,
# the loop of stages of 18 rows less that of 14. Shuffles are under way meanwhile.
_TALL_ROW = 25.5
# Cycles in which a thread of a producer warp copies 16 bytes, by the machine code (12 to 28).
_STRIP_COPIED = 15.0
_STRIP_CHUNK = {"baseline": 10.0, "register_bypass": 8.0, "overlap": 8.0, "drop_off": 9.0}


def _pathfinder_strips(machine: Machine, row: Row) -> list[Phase]:
    rows, cols = row.number("rows"), row.number("cols")
    warps, lane_columns = row.has("warps", 3), row.has("lane_columns", 4)
    cluster, owned = max(1.0, row.has("cluster", 1)), row.has("owned_columns", 96)
    halo, outer = row.has("halo", 28), row.has("outer_halo", 56)
    window = 32 * lane_columns
    stride = window - 2 * halo
    tile = (warps - 1) * stride + window
    stage_rows, stages = max(1.0, row.moves("stage_rows", 1)), max(1.0, row.moves("stages", 2))
    producers = row.moves("producer_warps")
    blocks = math.ceil(cols / owned) * cluster
    resident = max(1.0, row.blocks_per_sm)
    tall = lane_columns < 12
    persistent = blocks <= machine.sms * resident
    round_ = row.has("round", 1)
    # of a row: a shuffle every `round` rows, a minimum and a sum
    chain = (machine.shared + machine.op) / round_ + 2 * machine.op
    if tall:
        chain = _TALL_ROW - _STRIP_ROW[4]
    instructions = _STRIP_ROW[4 if tall else 12] * stage_rows
    chunks = stage_rows * tile / 4 / (32 * warps)  # of a thread and stage
    if row.strategy == "drop_off":
        chunks = stage_rows * lane_columns / 4
    copied = 0.0 if producers else chunks * _STRIP_CHUNK.get(row.strategy, 0.0)
    instructions += 12 if producers else copied + 20
    # What a stage costs beside the instructions of those that copy it for themselves.
    size = 4 * stage_rows * tile
    handed = _stage(machine, row, producers, warps, size) - copied
    latency = chain * stage_rows + max(0.0, handed)
    if not row.engine:  # which reads the next stage while costs travel
        latency += machine.shared
    # Exchanges: inside a block or cluster every `halo` rows, with others every `outer` rows.
    inner = machine.hand_over if row.strategy == "dsm" and cluster > 1 else (
        2 * machine.shared + machine.barrier(32 * warps)
    )  # fmt: skip
    if outer > halo or cluster > 1:
        latency += stage_rows / halo * inner
    if persistent:
        latency += stage_rows / outer * machine.word
    cached = _cached(machine, row, 4 * rows * cols, False)
    travel = _travel(machine, row, cached)
    flight = 0.0
    if row.strategy in ("overlap", "drop_off", "tma", "dsm"):
        flight = max(1.0, stages - 1)
    elif producers or row.moves("depth"):
        flight = 1.0
    if row.strategy in ("baseline", "register_bypass") and producers:
        # They stand still until all of a stage is there, and only then copy the next one.
        travel += size / 16 / (32 * producers) * _STRIP_COPIED + _received(machine, size)
    elif flight == 0:  # as do those who compute
        travel += _received(machine, size)
    launches = 1.0 if persistent else math.ceil((rows - 1) / outer)
    steps = (rows - 1) / stage_rows / launches
    return [
        Phase(
            launches=launches, blocks=blocks, steps=steps, warps=warps, instructions=instructions,
            latency=latency,
            wavefronts=warps * stage_rows * (lane_columns / 4 * 4 + 3 / round_ * 1.0)
            + stage_rows * (2 * warps * window if row.strategy == "drop_off" else tile) * 4 / 128,
            rounds=1.0 if row.engine else 0.0, boxes=math.ceil(tile / 256) if row.engine else 0.0,
            travel=travel, flight=flight, read=0.0 if cached else 4 * stage_rows * cols / blocks,
            l2=size, start=2 * travel, resident=resident,
            in_flight=size * max(flight, 1.0), persistent=persistent,
        )
    ]  # fmt: skip


# --- histogram ------------------------------------------------------------------------------------

# Instructions of a warp and tile of a word per thread: int32, uint8.
_HIST_ISO = {
    "baseline": (12.8, 18.8), "register_bypass": (21.5, 28.3), "overlap": (24, 31),
    "drop_off": (20, 27), "tma": (26, 33), "dsm": (16.7, 24),
}  # fmt: skip


def _key_bytes(row: Row) -> float:
    return 1.0 if row.size.get("type") == "uint8" else 4.0


def _histogram_iso(machine: Machine, row: Row) -> list[Phase]:
    keys, key_bytes, bins = row.number("keys"), _key_bytes(row), row.number("bins")
    blocks = row.has("blocks", 240)
    load = row.moves("load_bytes", 4)
    tile = 192 * load
    steps = max(1.0, keys * key_bytes / tile / blocks)
    words = load / 4
    instructions = _HIST_ISO[row.strategy][key_bytes < 4] * words
    travel = _travel(machine, row, _cached(machine, row, keys * key_bytes, False))
    barrier = machine.barrier(192)
    latency, flight, group = machine.shared, 0.0, 1.0
    match row.strategy:
        case "baseline" | "dsm":
            group, latency = 4.0, 0.0  # four loads of the unrolled loop are asked for together
        case "register_bypass":
            latency += 2 * barrier
        case "overlap":
            latency, flight = latency + barrier, 1.0
        case "drop_off":
            flight = 2.0
        case "tma":
            latency, flight = latency + barrier, 2.0
    latency += (_STRAIGHT - 1) * instructions  # few warps, most of which wait
    adds = 192 * load / key_bytes
    wavefronts = adds / 32 * 2 + tile / 128 * 2
    # Half of the counters are the neighbour's.
    sent = adds / 2 / machine.remote_adds if row.strategy == "dsm" else 0.0
    if row.strategy in ("baseline", "dsm"):  # keys that wait in registers
        wavefronts -= tile / 128 * 2
    return [
        Phase(
            launches=1, blocks=blocks, steps=steps, warps=6, instructions=instructions,
            latency=latency, wavefronts=wavefronts, sent=sent, travel=travel, flight=flight,
            group=group, read=tile, start=machine.memory, resident=max(row.blocks_per_sm, 2),
            persistent=True, rounds=1.0 if row.strategy == "tma" else 0.0,
        ),
        Phase(launches=1, blocks=math.ceil((bins + 1) / 8), warps=8, instructions=160,
              travel=machine.l2, group=1, l2=8 * 240 * 4, resident=8),
    ]  # fmt: skip


# Instructions of a warp for a key: where the counters of a block have copies, int32 and uint8; with
# windows or halves of words.
_HIST_KEY = {"copies": (11.5, 4.5), "ranges": (15.0, 9.0), "packed": (19.0, 12.0)}
# and for a 16-byte chunk of keys
_HIST_CHUNK = {
    "baseline": 4.0, "register_bypass": 6.0, "overlap": 7.0, "drop_off": 7.0, "tma": 4.0,
    "dsm": 4.0,
}  # fmt: skip


def _clears(times: float) -> Phase:
    """Counters are cleared by launches of their own (clear_then() of apps/histogram)."""
    return Phase(launches=times, blocks=1)


def _histogram_walk(machine: Machine, row: Row) -> list[Phase]:
    keys, key_bytes, bins = row.number("keys"), _key_bytes(row), row.number("bins")
    threads, per_sm = row.has("threads", 1024), max(1.0, row.has("blocks_per_sm", 1))
    home = row.schedule if row.schedule in ("ranges", "packed") else "copies"
    blocks = machine.sms * per_sm
    chunk_keys = 16 / key_bytes
    stages = row.moves("stages", 2)
    tile = row.moves("stage_bytes", 16 * threads * row.moves("chunks", 2))
    room = 200e3 / per_sm - (0 if row.strategy == "baseline" else stages * tile)
    size = 2.0 if home == "packed" else 4.0
    windows = math.ceil(bins * size / room) if home != "copies" else 1.0
    copies = min(32.0, max(1.0, 2.0 ** math.floor(math.log2(max(1.0, room / (4 * bins))))))
    if home != "copies":
        copies = 1.0
    counted = keys * windows
    steps = max(1.0, counted * key_bytes / tile / blocks)
    of_key = _HIST_KEY[home][key_bytes < 4]
    instructions = tile / 16 / threads * (chunk_keys * of_key + _HIST_CHUNK[row.strategy])
    # Additions of a warp meet in banks: not where each lane has its own copy, and at random where
    # there is one; between the two as the logarithm of the copies.
    between = math.log2(copies) / 5
    rate = machine.random_adds * (machine.own_adds / machine.random_adds) ** between
    wavefronts = tile / key_bytes / rate
    if row.strategy != "baseline":
        wavefronts += 2 * tile / 128
    travel = _travel(machine, row, _cached(machine, row, keys * key_bytes, False))
    flight = {"register_bypass": 0.0, "baseline": 1.0}.get(row.strategy, max(1.0, stages - 1))
    latency = machine.shared
    if row.strategy in ("overlap", "register_bypass"):
        latency += machine.barrier(threads) * (2 if row.strategy == "register_bypass" else 1)
    if flight == 0:
        travel += _received(machine, tile)
    merge = bins * copies / threads * 4 + machine.l2
    # A cluster waits until all its blocks have counters, and until none reads them any more.
    together = 2 * machine.linked(threads) if row.strategy == "dsm" else 0.0
    return [
        _clears(1),
        Phase(
            launches=1, blocks=blocks, steps=steps, warps=threads / 32, instructions=instructions,
            latency=latency, wavefronts=wavefronts, travel=travel, flight=flight,
            read=tile / windows, l2=tile, start=machine.memory + 2 * merge + together,
            resident=per_sm, in_flight=tile * max(flight, 1), persistent=True,
            rounds=1.0 if row.engine else 0.0,
        ),
    ]  # fmt: skip


def _histogram_partitioned(machine: Machine, row: Row) -> list[Phase]:
    """Keys dealt out to ranges in global memory, two bytes each, then counted range by range."""
    keys, sms = row.number("keys"), machine.sms
    blocks = 2.0 * sms
    dealt, counted = keys / blocks, keys / sms
    return [
        _clears(2),
        Phase(
            launches=1, blocks=blocks, warps=16, instructions=dealt / 32 / 16 * 60, read=4 * dealt,
            write=2 * dealt, wavefronts=dealt / 32 * 10, resident=2, persistent=True,
            start=machine.memory,
        ),
        Phase(
            launches=2, blocks=sms, warps=32, instructions=counted / 32 / 32 * 7, read=counted,
            wavefronts=counted / machine.random_adds / 2, persistent=True, start=machine.memory,
        ),
    ]  # fmt: skip


# --- gemm -----------------------------------------------------------------------------------------

# The CUDA sample: instructions of a warp and slice of 32 columns (of tma and dsm, whose waits are
# loops, as counted in results/*/profile-gemm.json), and passes of a block and slice through shared
# memory, as counted. Of those a row of B for each of 32 products, and two for 16 bytes of A that
# all lanes read, four where each lane has its own, are 48 of a warp, or 64.
_GEMM_ISO = {
    "baseline": (98, 1610), "register_bypass": (93, 1708), "overlap": (105, 1706),
    "drop_off": (157, 2876), "tma": (101, 1538), "dsm": (125, 1615),
}  # fmt: skip


_ELEMENT_BYTES = {"bf16": 2.0, "e4m3": 1.0}


def _gemm_travel(machine: Machine, row: Row) -> float:
    """A panel is read by many blocks, all at about one time: whoever asks first waits for memory,
    and the others with it, unless both matrices were in L2 before."""
    m, n, k = row.number("m"), row.number("n"), row.number("k")
    element = _ELEMENT_BYTES.get(str(row.size.get("mode", "fp32")), 4.0)
    return _travel(machine, row, _cached(machine, row, (m + n) * k * element, False))


def _gemm_iso(machine: Machine, row: Row) -> list[Phase]:
    m, n, k = row.number("m"), row.number("n"), row.number("k")
    instructions, passes = _GEMM_ISO[row.strategy]
    blocks = math.ceil(m / 32) * math.ceil(n / 32)
    travel = _gemm_travel(machine, row)
    barrier = machine.barrier(1024)
    latency = machine.shared + barrier
    flight, group = 0.0, 1.0
    if row.strategy in ("overlap", "tma"):
        flight = 1.0
    if row.strategy in ("baseline", "register_bypass", "overlap"):
        latency += barrier  # before a slice is copied where another one was read
    if row.strategy == "dsm":  # the other block's half of B is there
        latency += machine.hand_over
    l2 = 2 * 4096.0
    if row.strategy == "drop_off":  # every thread copies the row of A that it multiplies
        # Past L1, so that each of 32 lanes that want the same 16 bytes is sent a sector for itself,
        # and four columns at a time, each waited for while the next are asked for.
        l2 = 4096.0 + 8 * 1024 * SECTOR
        group = 1 / 8
    if row.strategy == "dsm":
        l2 = 1.5 * 4096
    return [
        Phase(
            launches=1, blocks=blocks, steps=k / 32, warps=32, instructions=instructions,
            latency=latency, wavefronts=passes, travel=travel, flight=flight,
            group=group, l2=l2, start=machine.memory, resident=max(1.0, row.blocks_per_sm),
            rounds=1.0 if row.strategy == "tma" else 0.0,
            read=4 * (m + n) * k / blocks / (k / 32), write=4 * m * n / blocks / (k / 32),
        )
    ]  # fmt: skip


# Instructions of a warp for a slice of wgmma, where the threads that multiply copy, too (12 pieces
# of 16 bytes each): tf32 in layout nn, bf16 in nn, all types in tn.
_WGMMA_SLICE = {
    "baseline": (369, 342, 306), "register_bypass": (344, 349, 329), "overlap": (344, 349, 329),
    "tma": (70, 70, 70), "dsm": (70, 70, 70),
}  # fmt: skip
# The same where a warpgroup beside them copies, by the pieces of a thread.
_PRODUCED_SLICE = {
    24: (593, 460, 380), 20: (509, 509, 509), 16: (316, 316, 315), 12: (297, 297, 296)
}  # fmt: skip


def _operand_reads(row: Row, tile_m: float, tile_n: float) -> float:
    """Rows and columns of a slice that warps of mma.sync read from shared memory, 64 x 64 elements
    or, where eight warps share 128 x 128, 64 x 32 each. (What wgmma reads of it is in its rate.)"""
    eight = "8-warps" in row.config or (tile_n == 128 and row.threads == 256)
    shared_sums = "shared" in row.config  # whose second kernel has 256 threads whatever the first
    columns = 32.0 if eight and not shared_sums else 64.0
    warps = tile_m * tile_n / (64 * columns)
    return warps * (64 + columns)


def _wgmma_chain(
    machine: Machine, row: Row, tile_m: float, tile_n: float, slice_k: float, bytes_in: float
) -> dict[str, float]:
    """Who copies a slice for the tensor cores, and what that waits for. The engine and cp.async
    some slices ahead wait for nothing. Through registers, the next slice is asked for when the last
    one has left them: a round trip, its bytes and their stores for each slice. cp.async that is
    waited for at once: a round trip and the bytes, and, where the stage is the only one, the
    multiplication."""
    mode = str(row.size["mode"])
    column = 2 if row.size.get("layout") == "tn" else int(mode != "tf32")
    producers = row.moves("producer_warps") > 1
    stages = row.moves("stages", 2)
    rate = machine.tensor_gflop_s("wgmma", mode) / machine.sms / machine.clock_ghz
    if producers:
        pieces = bytes_in / 16 / 128
        counted = _PRODUCED_SLICE[min(_PRODUCED_SLICE, key=lambda n: abs(n - pieces))]
        found = {"warps": 4.0, "instructions": float(counted[column])}
    else:
        found = {"warps": 8.0, "instructions": float(_WGMMA_SLICE[row.strategy][column])}
    barrier = 0.0 if producers else machine.barrier(row.threads)
    stored = bytes_in / 128
    multiplied = 0.0 if producers else 2 * tile_m * tile_n * slice_k / rate + barrier
    if row.strategy in ("baseline", "register_bypass"):
        waits = barrier + (stored if row.strategy == "baseline" else multiplied)
        besides = _gemm_travel(machine, row) + found["instructions"] + waits
        share = bytes_in / (machine.l2_gb_s / machine.sms / machine.clock_ghz)
        arrives = machine.arrival(bytes_in, besides, share)
        return {**found, "flight": 0.0, "latency": arrives + waits}
    match row.strategy:
        case "overlap":
            return {**found, "flight": stages / 2 if producers else stages - 2, "latency": barrier}
        case _:
            return {**found, "flight": max(1.0, stages - 1)}


def _gemm_tiles(machine: Machine, row: Row) -> list[Phase]:
    m, n, k = row.number("m"), row.number("n"), row.number("k")
    tile_m, tile_n, slice_k = row.has("tile_m", 128), row.has("tile_n", 128), row.has("k_slice", 32)
    tiles = math.ceil(m / tile_m) * math.ceil(n / tile_n)
    mode = str(row.size.get("mode", "fp32"))
    element = _ELEMENT_BYTES.get(mode, 4.0)
    per_sm = max(1.0, row.blocks_per_sm)
    held = machine.sms * per_sm
    shared_sums = "shared" in row.config
    producers = row.moves("producer_warps") > 0
    waves = tiles / held if shared_sums else math.ceil(tiles / held - 1e-9)
    blocks = held if shared_sums else min(float(tiles), held)
    steps = max(1.0, waves * k / slice_k)
    bytes_in = (tile_m + tile_n) * slice_k * element
    stages = row.moves("stages", row.has("stages", 2))
    waits = row.strategy == "register_bypass" and not producers
    barrier = machine.barrier(row.threads) * (2 if waits else 1)
    common: dict[str, Any] = dict(
        launches=1, blocks=blocks, steps=steps, travel=_gemm_travel(machine, row),
        flight=0.0 if waits else max(1.0, stages - 1), start=2 * machine.memory, resident=per_sm,
        persistent=True, rounds=1.0 if row.engine else 0.0,
        # Two blocks share the columns of B.
        l2=(tile_m + tile_n / 2) * slice_k * element if row.strategy == "dsm" else bytes_in,
        read=(m + n) * k * element / blocks / steps, write=4 * m * n / blocks / steps,
    )  # fmt: skip
    if waits:
        common["travel"] += _received(machine, bytes_in)
    phases = []
    if mode == "fp32":
        warps = tile_m * tile_n / 4096  # 64 x 64 elements of a warp, 128 of a lane
        # drop_off: four lanes and every other warp along a row copy the same of A, each to a slot
        # of its own. What comes through L1 for a lane is written by itself (as counted, 32 passes
        # for a warp's copy of 16 bytes a lane).
        own = 32 * warps * 8 * slice_k / 4 if row.strategy == "drop_off" else 0.0
        # Where warps beside them copy, those that multiply have a loop like tma's.
        counted = _FP32_SLICE["tma" if producers else row.strategy]
        phases.append(
            Phase(**common, warps=warps, instructions=counted * slice_k / 32,
                  latency=machine.shared + barrier, beside=producers,
                  wavefronts=warps * _FP32_PASSES * slice_k / 32 + bytes_in / 128 + own)
        )  # fmt: skip
    else:
        wgmma = "wgmma" in row.config
        rate = machine.fed_gflop_s(mode) if wgmma else machine.tensor_gflop_s("mma", mode)
        # Where blocks are few, only those SMs multiply that have one.
        each_sm = rate * 1e9 / machine.sms
        on_sm = blocks / min(blocks, machine.sms)
        seconds = 2 * tile_m * tile_n * slice_k * on_sm * steps / each_sm
        if wgmma:
            chain = _wgmma_chain(machine, row, tile_m, tile_n, slice_k, bytes_in)
            # A tile's sums are stored by those who multiply, all blocks at about one time; only
            # where two warpgroups take turns does the other one multiply meanwhile. L2 takes them
            # as fast as it gives, and has the rest of the tile to send them on.
            each = 4 * tile_m * tile_n * machine.sms / machine.l2_gb_s / 1e9
            stored = each * (1.0 if "ping-pong" in row.config else max(1.0, waves))
            common["start"] += stored * machine.clock_ghz * 1e9
            phases.append(
                Phase(**{**common, **chain}, wavefronts=bytes_in / 128, seconds=seconds + stored,
                      beside=True)
            )  # fmt: skip
        else:
            reads = _operand_reads(row, tile_m, tile_n) * slice_k * element
            phases.append(
                Phase(**common, warps=8, latency=barrier, wavefronts=(reads + bytes_in) / 128,
                      seconds=seconds)
            )  # fmt: skip
    if shared_sums:
        pieces = min(held, 2.0 * tiles)
        phases.append(
            Phase(launches=1, blocks=held, warps=8, instructions=100,
                  l2=2 * 4 * tile_m * tile_n * pieces / held, travel=machine.l2, resident=per_sm)
        )  # fmt: skip
    return phases


# --- All ------------------------------------------------------------------------------------------

Declared = Callable[[Machine, Row], list[Phase]]


@dataclass(frozen=True)
class Family:
    """One way in which an app is computed. ``fits`` says whether a row is of it."""

    app: str
    name: str
    fits: Callable[[Row], bool]
    phases: Declared


FAMILIES = (
    Family("nw", "tiles", lambda r: "tiles" in r.geometry, _nw_iso),
    Family("nw", "bands", lambda r: "band_rows" in r.geometry, _nw_bands),
    Family("lud", "tiles", lambda r: "tiles_per_block" in r.geometry, _lud_iso),
    Family("lud", "blocked", lambda r: "k_update" in r.geometry, _lud_blocked),
    Family("hotspot", "squares", lambda r: r.geometry.get("tile") == 64, _hotspot_square),
    Family("hotspot", "tiles", lambda r: r.geometry.get("tile") == 16, _hotspot_iso),
    Family("hotspot", "streams", lambda r: "columns_per_lane" in r.geometry, _hotspot_stream),
    Family("pathfinder", "pyramids", lambda r: "pyramid_height" in r.geometry, _pathfinder_iso),
    Family("pathfinder", "strips", lambda r: "lane_columns" in r.geometry, _pathfinder_strips),
    Family("histogram", "sample", lambda r: "sub_histograms" in r.geometry, _histogram_iso),
    Family("histogram", "partitioned", lambda r: "deal_threads" in r.geometry,
           _histogram_partitioned),
    # Additions in global memory are in no microbenchmark, so that "global" is not predicted.
    Family("histogram", "walks",
           lambda r: "blocks_per_sm" in r.geometry and r.schedule != "global", _histogram_walk),
    Family("gemm", "sample", lambda r: r.geometry.get("tile_m") == 32, _gemm_iso),
    Family("gemm", "tiles", lambda r: "tile_m" in r.geometry, _gemm_tiles),
)  # fmt: skip


def family_of(row: Row) -> Family | None:
    """The family of a row; None where no traits are declared."""
    return next((f for f in FAMILIES if f.app == row.app and f.fits(row)), None)
