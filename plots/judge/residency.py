"""How many blocks of a kernel an SM holds; and what the blocks of a twin hold in each strategy,
from its traits alone.

The rules of twins are those of microbench/twin (the strategies' own files, geometry.hpp and
strategies.cu): a test holds them to every recorded twin.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BARRIERS = 32  # bytes behind the tiles of a strategy whose tiles the copy engine brings
_MOST_BLOCKS = 32  # on an SM, whatever they hold
_ONE_TILE = ("baseline", "register_bypass")
_BULK = ("tma", "dsm")


def _blocks_by_shared(shared_bytes: int, device: Mapping[str, Any]) -> int:
    """Blocks for which it has shared memory, which comes 128 bytes at a time and with what every
    block has beside its own."""
    of_block = math.ceil(shared_bytes / 128) * 128 + device.get("shared_reserved", 0)
    return int(device["shared_per_sm"] // of_block) if of_block else _MOST_BLOCKS


def twin_registers(chunks: int) -> int:
    """Registers per thread that a twin may need whose threads compute on so many times 16 bytes
    each: it has as many blocks per SM as with these, although a real kernel may have fewer."""
    most_threads = 1024 if chunks < 4 else 640 if chunks < 8 else 512
    return 65536 // most_threads // 8 * 8


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
    n = {name: int(value) for name, value in traits.items() if value.isdigit()}
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
