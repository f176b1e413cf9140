"""Whether any kernel can have the given traits, and whether the twin can.

The rules are those of ``contradiction`` in microbench/twin/traits.hpp: tests hold both to the same
cases (tests/plots/contradicting_traits.json). A trait that is not there is not judged.
"""

import math
from collections.abc import Mapping
from typing import Any

Traits = Mapping[str, str]

_THREADS = range(32, 1025, 32)
# What the traits that are no numbers may be.
WORDS = {"layout": ("run", "box", "gather"), "chain": ("independent", "dependent")}

# The least and the most that `amasia run twin` takes of those that are numbers.
LIMITS = {
    "rows": (1, 256),
    "row_bytes": (16, 65536),
    "halo": (0, 32),
    "common": (0, 255),
    "out_bytes": (0, 1048576),
    "reads": (1, 32),
    "fma": (0, 4096),
    "barriers": (0, 64),
    "threads": (32, 1024),
    "stages": (2, 4),
    "registers": (16, 255),
    "workspace": (0, 1048576),
    "tiles_per_block": (0, 65536),
    "launches": (1, 16),
    "mebibytes": (1, 4096),
}


def _numbers(traits: Traits) -> dict[str, int]:
    return {name: int(value) for name, value in traits.items() if value.isdigit()}


def _chunks(n: Mapping[str, int]) -> int:
    """Pieces of 16 bytes in a tile without its halo."""
    return n.get("rows", 1) * n.get("row_bytes", 16) // 16


def contradiction(traits: Traits) -> str:
    """Why no kernel has these traits together, in one sentence; "" when one may."""
    n = _numbers(traits)
    for name, least in (("row_bytes", 16), ("out_bytes", 16), ("threads", 32)):
        if n.get(name, 0) % least:
            return f"{name} is not a multiple of {least}"
    if n.get("out_bytes", 0) > _chunks(n) * 16:
        return "out_bytes is more than the tile has (rows x row_bytes)"
    halo, common, rows = n.get("halo", 0), n.get("common", 0), n.get("rows", 1)
    if halo and traits.get("layout") != "box":
        return "a halo needs the layout box"
    if halo and n.get("reads", 3) < 3:
        return "a halo is there to be read: reads is at least 3"
    if halo > rows:
        return "the halo is larger than the tile"
    if common >= rows:
        return "common has to leave a row of the tile's own"
    if halo and common:
        return "a tile has a halo or common rows, not both"
    return ""


def indivisible(traits: Traits) -> str:
    """Why the twin's threads cannot share the tile, although a kernel's might; "" when they can."""
    n = _numbers(traits)
    chunks, threads = _chunks(n), n.get("threads", 32)
    each = chunks // max(threads, 1)
    if each and (chunks % threads or 8 % each):
        return (
            f"a thread computes on 1, 2, 4 or 8 times 16 bytes of a tile; {threads} threads do not "
            f"divide {chunks} x 16 bytes so"
        )
    most = 1024 if each < 4 else 640 if each < 8 else 512
    if threads > most:
        return (
            f"a block has at most {most} threads when each computes on {each} x 16 bytes of a tile"
        )
    return ""


def beyond_the_twin(traits: Traits) -> str:
    """Which traits `amasia run twin` does not take, and what it takes; "" when it takes all."""
    return "; ".join(
        f"the twin's {name} can be {LIMITS[name][0]} to {LIMITS[name][1]}"
        for name, value in _numbers(traits).items()
        if name in LIMITS and not LIMITS[name][0] <= value <= LIMITS[name][1]
    )


def nearest_divisible(traits: Traits) -> dict[str, str] | None:
    """The same traits with the nearest number of threads that the twin can have; None when it can
    have none."""
    asked = int(traits["threads"])
    options = sorted(_THREADS, key=lambda threads: (abs(math.log2(threads / asked)), threads))
    for threads in options:
        found = {**traits, "threads": str(threads)}
        if not indivisible(found):
            return found
    return None


def beyond(traits: Traits, device: Mapping[str, Any]) -> str:
    """What the GPU that a result file describes has too little of for one block with these traits,
    in any strategy, in one sentence; "" when a block fits or the file does not say."""
    n = _numbers(traits)
    halo = n.get("halo", 0)
    # Left and right of a row whole pieces of 16 bytes are copied, 4 elements each.
    row = n.get("row_bytes", 16) + 2 * 16 * math.ceil(halo / 4)
    tile = (n.get("rows", 1) + 2 * halo) * row
    shared = tile + n.get("workspace", 0)
    most = device.get("shared_per_block")
    if most and shared > most:
        held = ["one tile with its halo" if halo else "one tile"]
        held += [f"a workspace of {n['workspace']}"] if n.get("workspace") else []
        return (
            f"{' and '.join(held)} {'take' if held[1:] else 'takes'} {shared} bytes of shared "
            f"memory, and a block can have {most} there"
        )
    threads, registers = n.get("threads", 32), n.get("registers", 16)
    held = device.get("registers_per_sm")
    # The hardware hands out registers to a warp in steps of 8 per thread.
    if held and threads * math.ceil(registers / 8) * 8 > held:
        return (
            f"a block of {threads} threads with {registers} registers each does not fit on an SM, "
            f"which has {held} registers"
        )
    return ""
