"""How many blocks of a twin an SM holds in each strategy, from its traits alone. And where a kernel
lies among others: its coordinates are what of its traits decides a strategy's gain, so that near
kernels are alike.

The rules of twins are those of microbench/twin (the strategies' own files, geometry.hpp and
strategies.cu): a test holds them to every recorded twin.

Traits that act through something else have no coordinate of their own. Registers and shared memory
beside the tiles limit the blocks of an SM: the coordinates are the blocks and their bytes in
flight. Arithmetic counts per byte moved, and the length of a row as the bytes that one instruction
can ask for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BARRIERS = 32  # bytes behind the tiles of a strategy whose tiles the copy engine brings
_MOST_BLOCKS = 32  # on an SM, whatever they hold
_ONE_TILE = ("baseline", "register_bypass")
_BULK = ("tma", "dsm")


def numbers(traits: Mapping[str, str]) -> dict[str, int]:
    """The traits that are no words."""
    return {name: int(value) for name, value in traits.items() if value.isdigit()}


def _blocks_by_shared(shared_bytes: int, device: Mapping[str, Any]) -> int:
    """Blocks for which it has shared memory, which comes 128 bytes at a time and with what every
    block has beside its own."""
    of_block = math.ceil(shared_bytes / 128) * 128 + device.get("shared_reserved", 0)
    return int(device["shared_per_sm"] // of_block) if of_block else _MOST_BLOCKS


def most_threads(chunks: int) -> int:
    """Of a block of a twin whose threads compute on so many times 16 bytes each."""
    return 1024 if chunks < 4 else 640 if chunks < 8 else 512


def twin_registers(chunks: int) -> int:
    """Registers per thread that such a twin may need: it has as many blocks per SM as with these,
    although a real kernel may have fewer."""
    return 65536 // most_threads(chunks) // 8 * 8


LEAST_REGISTERS = twin_registers(1)


@dataclass(frozen=True)
class Held:
    """What the blocks of one strategy hold. Of dsm ``blocks_per_sm`` is an upper bound: the blocks
    of a cluster have to lie in one part of the GPU. Where a file does not describe the GPU it is
    None."""

    tile_bytes: int
    shared_bytes: int
    in_flight_per_block: int
    blocks_per_sm: int | None = None
    blocks_at_once: float = math.nan  # on an SM, the mean, when a launch has fewer

    @property
    def in_flight_per_sm(self) -> float:
        """Bytes that can be in flight, the mean over the SMs."""
        return self.in_flight_per_block * self.blocks_at_once


def held(
    strategy: str, traits: Mapping[str, str], device: Mapping[str, Any], registers: int = 0
) -> Held:
    """What blocks with these traits hold in a strategy, on the GPU that a result file describes,
    when a thread has the registers that the traits say, or ``registers`` if that is more."""
    n = numbers(traits)
    rows, row_bytes, threads = n["rows"], n["row_bytes"], n["threads"]
    halo, stages = n.get("halo", 0), n.get("stages", 3)
    # Left and right of a row whole pieces of 16 bytes are copied; a stage is a multiple of 128.
    chunks = (rows + 2 * halo) * (row_bytes // 16 + 2 * math.ceil(halo / 4))
    stage = math.ceil(chunks / 8) * 128
    if strategy == "drop_off":  # slots of each thread's own, for all that it reads
        each = math.ceil(rows * row_bytes / 16 / threads)
        stage = 16 * n.get("reads", 1) * threads * each
    if strategy in _ONE_TILE:
        stages = 1
    tiles = stages * stage
    shared = tiles + n.get("workspace", 0) + (_BARRIERS if strategy in _BULK else 0)
    in_flight = max(stages - 1, 1) * stage
    needed = ("registers_per_sm", "max_threads_per_sm", "shared_per_sm", "sm_count")
    if not all(device.get(name) for name in needed):
        return Held(tiles, shared, in_flight)
    # As geometry.hpp has it, of the SM as a whole: not of its four parts.
    of_warp = math.ceil(max(n.get("registers", LEAST_REGISTERS), registers) * 32 / 256) * 256
    blocks = min(
        device["registers_per_sm"] // of_warp // math.ceil(threads / 32),
        device["max_threads_per_sm"] // threads,
        _blocks_by_shared(shared, device),
        _MOST_BLOCKS,
    )
    of_launch = n.get("mebibytes", 256) * (1 << 20) // (rows * row_bytes) // n.get("launches", 1)
    launched = of_launch // max(n.get("tiles_per_block", 0), 1)
    at_once = min(blocks, launched / device["sm_count"])
    return Held(tiles, shared, in_flight, blocks, at_once)


def registers_of_its_twin(traits: Mapping[str, str]) -> int:
    """Registers per thread that limit the blocks of the twin with these traits, whose threads
    divide its tile."""
    chunks = int(traits["rows"]) * int(traits["row_bytes"]) // 16
    own = twin_registers(max(chunks // int(traits["threads"]), 1))
    return max(own, int(traits.get("registers", LEAST_REGISTERS)))


# --- Places ---------------------------------------------------------------------------------------

# Coordinate -> what one unit of it (a factor of two of a number, a quarter of a share, one of a
# word) adds to the distance over which correlation falls. Fitted once, by
# maximum likelihood, to the twins of an H100: the grid, and the first 400 random ones.
SCALES = {
    "balance": 0.060,
    "barriers": 0.040,
    "blocks": 0.119,
    "blocks_of_baseline": 0.093,
    "box": 0.028,
    "chunks": 0.083,
    "common": 0.040,
    "dependent": 0.095,
    "extra": 0.426,
    "gather": 0.207,
    "halo": 0.084,
    "in_flight": 0.043,
    "in_flight_of_baseline": 0.086,
    "message": 0.040,
    "out_bytes": 0.037,
    "persistent": 0.087,
    "reads": 0.163,
    "stages": 0.013,
    "steps": 0.038,
    "steps_of_baseline": 0.036,
    "threads": 0.069,
    "warps": 0.110,
}
NUGGET = 8.5e-4  # variance of a repeated measurement, in variances of all

# They act through blocks, bytes, steps and balance, which are coordinates.
_THROUGH_OTHERS = (
    "fma", "launches", "mebibytes", "registers", "row_bytes", "tile", "tiles_per_block",
    "workspace",
)  # fmt: skip
# Instructions of a thread for 16 bytes of a tile, beside multiply-adds and reads of shared memory.
_OTHER_INSTRUCTIONS = 8


def position(traits: Mapping[str, str]) -> Mapping[str, float]:
    """Each trait that is a number in powers of two; bytes written and rows in common as shares of
    the tile, four to the whole."""
    n = {name: float(value) for name, value in traits.items() if value.isdigit()}
    tile = n.pop("rows", 1) * n.get("row_bytes", 1)
    shares = {
        "out_bytes": n.pop("out_bytes", 0) / max(tile, 1),
        "common": n.pop("common", 0) * n.get("row_bytes", 1) / max(tile, 1),
    }
    return {
        "tile": math.log2(max(tile, 1)),
        **{name: 4 * share for name, share in shares.items()},
        **{name: math.log2(1 + value) for name, value in n.items()},
    }


def coordinates(
    traits: Mapping[str, str], strategy: str, device: Mapping[str, Any], registers: int = 0
) -> dict[str, float]:
    """Of a kernel in a strategy, on a GPU as a result file describes it. ``registers``: per thread,
    when the kernel has more than its traits say."""
    place = {name: v for name, v in position(traits).items() if name not in _THROUGH_OTHERS}
    for trait, word in (("layout", "box"), ("layout", "gather"), ("chain", "dependent")):
        place[word] = float(traits.get(trait) == word)
    n = numbers(traits)
    tile, halo, each = n["rows"] * n["row_bytes"], n.get("halo", 0), n.get("tiles_per_block", 0)
    # Left and right of a row whole pieces of 16 bytes are copied.
    row = n["row_bytes"] + 32 * math.ceil(halo / 4)
    copied = (n["rows"] + 2 * halo) * row
    issued = (4 * (n.get("fma", 0) + n.get("reads", 1)) + _OTHER_INSTRUCTIONS) * tile / 16
    place["balance"] = math.log2(issued / (copied + n.get("out_bytes", 0)))
    place["chunks"] = math.log2(tile / 16 / n["threads"])
    place["extra"] = math.log2(copied / tile)
    place["message"] = math.log2(tile if traits.get("layout") == "run" else row)
    place["persistent"] = float(each == 0)
    tiles = n.get("mebibytes", 256) * (1 << 20) / tile / n.get("launches", 1)
    for end, of in (("", strategy), ("_of_baseline", "baseline")):
        mine = held(of, traits, device, registers)
        if mine.blocks_per_sm is None:
            continue  # the file does not describe the GPU
        resident = device["sm_count"] * max(mine.blocks_per_sm, 1)
        place["blocks" + end] = math.log2(max(mine.blocks_at_once, 1 / 64))
        place["in_flight" + end] = math.log2(max(mine.in_flight_per_sm, 16))
        place["steps" + end] = math.log2(each or max(tiles / resident, 1))
    if "blocks_of_baseline" in place:
        place["warps"] = place["blocks_of_baseline"] + math.log2(n["threads"] / 32)
    return place
