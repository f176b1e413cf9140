"""The traits of a user's kernel, from a report of Nsight Compute or its machine code: for the twin
(plots/advice/twin.py), which is asked about a kernel by its traits.

Nothing is guessed. A trait that is neither derived nor given by hand is that of most recorded
twins, and the answer lists it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plots.advice import machine_code, ncu_report
from plots.advice.machine_code import WAYS, TileLoop
from plots.advice.ncu_report import Counted
from plots.advice.twin_traits import integer
from plots.errors import PlotsError

_FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
_FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
_FMUL = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
_INTO_SMS = ("l1tex__m_xbar2l1tex_read_bytes.sum", "dram__bytes_read.sum")
_STAGED_BARRIERS = 2  # of a block's barriers per tile, those that the movement itself needs

# What has to be given by hand, where neither report nor code shows it.
BY_HAND = {
    "tile": "bytes of a tile (--tile 16KiB): nothing says how much a copy brings",
    "row_bytes": "bytes of a row (--trait row_bytes=512)",
    "layout": "how the rows of a tile lie: run, box or gather (--trait layout=box)",
    "halo": "elements around a tile that neighbours own (--trait halo=1)",
    "common": "rows that neighbouring blocks have in common (--trait common=8)",
    "fma": "multiply-adds per element (--trait fma=16, or --intensity)",
    "chain": "whether each multiply-add waits for the one before it (--trait chain=dependent)",
    "reads": "how often each byte of a tile is read (--trait reads=1)",
    "out_bytes": "bytes written per tile (--trait out_bytes=8192)",
    "barriers": "block barriers per tile beyond those of the movement (--trait barriers=0)",
    "threads": "threads of a block (--block 256)",
    "registers": "registers per thread (--trait registers=64)",
    "stages": "tiles that a block holds (--trait stages=3)",
    "workspace": "shared memory beside the tiles (--trait workspace=0)",
    "tiles_per_block": "tiles of a block, 0 for blocks that stay (--trait tiles_per_block=0)",
    "launches": "launches that the work is divided into (--trait launches=1)",
    "mebibytes": "size of the input in MiB (--trait mebibytes=256)",
}


@dataclass
class Observed:
    """What is known of one kernel: traits by the names of the twin, each with where it is from, and
    facts that are no trait, as sentences."""

    kernel: str = ""
    traits: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    shared_bytes: int | None = None  # of a block, static and dynamic

    def doubt(self, tile: int) -> str:
        """What speaks against a tile of so many bytes being one of this kernel; "" if nothing."""
        if self.shared_bytes is None or tile <= self.shared_bytes:
            return ""
        return (
            f"A tile of {tile} bytes does not fit in the {self.shared_bytes} bytes of shared "
            "memory that a block of this kernel has: the answer is that of a kernel that has room "
            "for it."
        )

    def take(self, trait: str, value: int, origin: str) -> None:
        """A trait, unless it is known already."""
        if trait not in self.traits:
            self.traits[trait] = str(value)
            self.origins[trait] = origin

    def unknown(self, given: Mapping[str, str]) -> dict[str, str]:
        """What nothing says, of the traits that are not ``given`` by hand: trait -> what it is."""
        known = {*self.traits, *given}
        if {"tile", "rows"} & known:
            known |= {"tile"}
        if "intensity" in known:
            known |= {"fma"}
        return {name: what for name, what in BY_HAND.items() if name not in known}


def from_report(path: Path, kernel: str | None = None) -> Observed:
    """What a report of Nsight Compute says. Raises PlotsError."""
    launches = machine_code.named(ncu_report.read_report(path), kernel, path)
    first = launches[0]
    of = Observed(first.name)
    if len(launches) > 1:
        of.facts.append(f"{len(launches)} launches of it are in the report; the first is taken")
    if first.block is not None:
        x, y, z = first.block
        of.take("threads", x * y * z, "the block's size in the report")
    elif size := first.metrics.get("launch__block_size"):
        of.take("threads", int(size), "launch__block_size")
    if registers := first.metrics.get("launch__registers_per_thread"):
        of.take("registers", int(registers), "launch__registers_per_thread")
    shared = [
        first.metrics.get(f"launch__shared_mem_per_block_{kind}") for kind in ("static", "dynamic")
    ]
    if None not in shared:
        of.shared_bytes = round(sum(s for s in shared if s is not None))
        of.facts.append(f"{of.shared_bytes} bytes of shared memory per block")
    _arithmetic_of(first, of)
    _bytes_of(first, of)
    if not of.traits:
        raise PlotsError(
            f"{path}: holds no metric of {first.name or 'its kernel'} that says a trait: record it "
            "with ncu --set full, or at least --section LaunchStats"
        )
    return of


def _arithmetic_of(launch: Counted, of: Observed) -> None:
    """Multiply-adds for each four bytes that came in, where both were counted."""
    counts = [launch.metrics.get(name) for name in (_FFMA, _FADD, _FMUL)]
    source = next((name for name in _INTO_SMS if launch.metrics.get(name)), None)
    if source is None or any(count is None for count in counts):
        return
    arithmetic = sum(count for count in counts if count is not None)
    elements = launch.metrics[source] / 4
    of.take(
        "fma", round(arithmetic / elements),
        f"fp32 instructions of the threads over {source} / 4",
    )  # fmt: skip


def _bytes_of(launch: Counted, of: Observed) -> None:
    read = launch.metrics.get("dram__bytes_read.sum")
    if read:
        of.facts.append(f"{read / 2**20:.4g} MiB read from DRAM")
        of.take("mebibytes", max(1, round(read / 2**20)), "dram__bytes_read.sum")


def _volume(option: str, text: str) -> int:
    """ "32,8" or "32x8" -> 256. Raises PlotsError."""
    sides = [integer(side) for side in text.replace("x", ",").split(",")]
    if len(sides) > 3 or not all(sides):
        raise PlotsError(f"expected {option} as X, X,Y or X,Y,Z, not {text!r}")
    return math.prod(side or 1 for side in sides)


def threads_of(block: str) -> int:
    """Of a block that there can be. Raises PlotsError."""
    threads = _volume("--block", block)
    if threads > 1024:
        raise PlotsError(f"expected a block of at most 1024 threads as --block, not {block!r}")
    return threads


def from_cubin(path: Path, block: str | None, grid: str | None, kernel: str | None) -> Observed:
    """What machine code says, with the launch shape. Raises PlotsError."""
    if block is None:
        raise PlotsError("--cubin needs --block (and better --grid): a cubin does not say them")
    threads = threads_of(block)
    kernels = machine_code.read_kernels(path)
    # Without optimisation device functions are listed, too: no kernel has to be named for this.
    for one in kernels if kernel is None else [machine_code.choose(kernels, kernel, path)]:
        if not one.is_optimised:
            raise PlotsError(
                f"{path}: {one.name} is from a debug build (nvcc -G, or -O0 for ptxas): its loads, "
                "stores and registers are not those of the kernel that runs; compile it without -G "
                "(-lineinfo keeps line numbers)"
            )
    chosen = machine_code.choose(kernels, kernel, path)
    of = Observed(chosen.name)
    of.take("threads", threads, "--block")
    if chosen.registers is not None:
        of.take("registers", chosen.registers, "cuobjdump -res-usage")
    if chosen.local_bytes:
        of.facts.append(f"{chosen.local_bytes} bytes of local memory per thread (spills or arrays)")
    if grid is not None:
        of.facts.append(f"a grid of {_volume('--grid', grid)} blocks")
    loop = machine_code.tile_loop(chosen)
    if loop is None:
        of.facts.append(
            "it brings nothing to shared memory: which way of moving tiles suits it is no question "
            "that it has; give the traits of the tiled kernel that it could be"
        )
        return of
    of.facts += _facts_of(loop)
    _take_loop(loop, threads, chosen.static_shared, of)
    return of


def _facts_of(loop: TileLoop) -> list[str]:
    where = "in the loop over tiles" if loop.in_loop else "in all of its code, which has no loop"
    ways = [
        f"{count} {name} ({WAYS[name][1]}, as in {WAYS[name][0]})"
        for name, count in sorted(loop.ways.items())
    ]
    said = [f"tiles travel by {' and '.join(ways)}, {where}"]
    if loop.tiles > 1:
        said.append(f"the compiler took {loop.tiles} tiles into one turn of the loop")
    if loop.has_loops:
        said.append("a loop inside works on the tile, how often is not in the code")
    else:
        said.append(
            f"{loop.instructions:.0f} instructions of a thread and {loop.barriers:g} block "
            "barriers per tile"
        )
    if loop.guarded:
        said.append(f"{loop.guarded} of the copies stand under a condition and are taken as done")
    if loop.tensor:
        said.append(
            f"{loop.tensor} tensor-core instructions per turn: the twin has none, so its advice "
            "does not hold for what they compute"
        )
    return said


def _take_loop(loop: TileLoop, threads: int, shared: int | None, of: Observed) -> None:
    origin = "the machine code of the loop over tiles" if loop.in_loop else "the machine code"
    if loop.brought is not None:
        tile = loop.brought * threads
        of.take("tile", tile, f"{loop.brought} bytes per thread in {origin}")
        if not loop.has_loops:
            of.take("fma", round(4 * loop.fp32 / loop.brought), f"fp32 instructions in {origin}")
            if loop.read:
                of.take("reads", max(1, round(loop.read / loop.brought)), f"LDS in {origin}")
            own = max(0, round(loop.barriers) - _STAGED_BARRIERS)
            of.take("barriers", own, f"BAR in {origin}, less {_STAGED_BARRIERS} of the movement")
        if loop.written is not None:
            out = min(tile, loop.written * threads) // 16 * 16
            of.take("out_bytes", out, f"STG in {origin}")
        if set(loop.ways) == {"LDG->STS"} and shared is not None and shared >= tile:
            of.take("workspace", shared - tile, "static shared memory beside one tile")
    elif "UTMALDG" in loop.ways:
        of.facts.append("the bytes of a tensor copy stand in its tensor map, not in the code")
    elif "UBLKCP" in loop.ways:
        of.facts.append("the bytes of a bulk copy stand in a register, not in the code")
    else:
        of.facts.append("not every tile takes the same copies: how many bytes one has is not known")


def merged(first: Observed, second: Observed) -> Observed:
    """What both say of one kernel; of what both say, what the first does."""
    both = Observed(first.kernel or second.kernel, dict(first.traits), dict(first.origins))
    for name, value in second.traits.items():
        if name not in both.traits:
            both.traits[name], both.origins[name] = value, second.origins[name]
    both.facts = [*first.facts, *second.facts]
    both.shared_bytes = second.shared_bytes if first.shared_bytes is None else first.shared_bytes
    return both


def as_text(of: Observed, given: Mapping[str, str]) -> str:
    """What was derived, from what, and what was not."""
    lines = [f"Of {of.kernel or 'the kernel'}:"]
    lines += [f"  {fact}" for fact in of.facts]
    for name, value in of.traits.items():
        by_hand = " (given by hand instead)" if name in given else ""
        lines.append(f"  {name}={value}, from {of.origins[name]}{by_hand}")
    if missing := of.unknown(given):
        lines.append("Not derived, so as in most recorded twins; better given by hand:")
        lines += [f"  {name}: {what}" for name, what in missing.items()]
    return "\n".join(lines) + "\n"
