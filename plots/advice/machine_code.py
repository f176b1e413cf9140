"""How a kernel moves its tiles, by its machine code: the loop that brings a tile to shared memory,
and what one iteration of it does.

Read from `cuobjdump -sass`, for a kernel that the suite did not compile. Counts are of a thread, or
of a warp for what one thread does for all. Numbers that only the running program knows (the bytes
of a bulk copy, the iterations of an inner loop) are not guessed.
"""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plots.errors import PlotsError, nearest
from plots.processes import run
from plots.tree import ROOT

_FUNCTION = re.compile(r"\s*Function : (\S+)")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,6})\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
_TARGET = re.compile(r"0x([0-9a-f]+)")
_REGISTER = re.compile(r"\bR(\d+)\b")
_USE_OF = re.compile(r"\s*Function (\S+?):\s*$")
_USE = re.compile(r"REG:(\d+) .*?SHARED:(\d+) LOCAL:(\d+)")
_ARCHITECTURE = re.compile(r"code for sm_(\d+)")
_RESERVED_FROM, _RESERVED = 90, 1024  # of sm_90 on, cuobjdump counts what CUDA takes of a block
_FP32 = ("FFMA", "FADD", "FMUL", "FMNMX")
# A loop inside the loop over tiles that does nothing of this only waits.
_WORK = ("LDS", "LDSM", "STS", "STG", "LDG", "LDGSTS", "UBLKCP", "UTMALDG", *_FP32)
_TENSOR = ("HMMA", "IMMA", "DMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "BMMA", "QMMA")

# How tiles come to shared memory: instruction -> strategy that does it so.
WAYS = {
    "LDG->STS": ("baseline", "loads to registers and stores to shared memory"),
    "LDGSTS": ("register_bypass, overlap or drop_off", "cp.async"),
    "UBLKCP": ("tma", "bulk copies of a run of bytes"),
    "UTMALDG": ("tma", "tensor copies of a box"),
}


@dataclass(frozen=True)
class Instruction:
    """One line of a listing."""

    address: int
    guard: str
    opcode: str
    operands: str

    @property
    def group(self) -> str:
        """ "LDG" of "LDG.E.128.CONSTANT"."""
        return self.opcode.split(".")[0]

    @property
    def bytes(self) -> int:
        """That a load, store or copy moves for a thread."""
        for text in self.opcode.split(".")[1:]:
            if text in ("64", "128"):
                return int(text) // 8
            if text in ("U8", "S8"):
                return 1
            if text in ("U16", "S16"):
                return 2
        return 4

    def first_register(self) -> int | None:
        """Of its operands without addresses: the result of a load, the data of a store."""
        found = _REGISTER.search(re.sub(r"\[[^\]]*\]", "", self.operands))
        return int(found[1]) if found else None


@dataclass(frozen=True)
class Kernel:
    """A kernel as listed: name, resources (None where they are not said), instructions."""

    name: str
    instructions: tuple[Instruction, ...]
    architecture: int | None = None
    registers: int | None = None
    static_shared: int | None = None
    local_bytes: int | None = None

    @property
    def is_optimised(self) -> bool:
        """False with -G or ptxas -O0: such code moves registers to themselves, a seventh of its
        instructions and more. Optimised code has no such move."""
        idle = sum(
            i.group == "MOV" and len(set(i.operands.replace(" ", "").split(","))) == 1
            for i in self.instructions
        )
        return 20 * idle < max(1, len(self.instructions))


@dataclass(frozen=True)
class TileLoop:
    """What happens for one tile: how it is brought, as counts by WAYS; bytes per thread where they
    are known, else None; what is computed and written. ``in_loop``: it is a loop's body, else all
    of the kernel's code; ``has_loops``: there is a loop inside that does something of the tile and
    whose turns are not known, so that arithmetic and reads are not, either. What not every turn
    passes is not counted, and where a copy or a store is among it, its bytes are not known.
    """

    ways: dict[str, int]
    brought: int | None
    read: int
    written: int | None
    fp32: int
    barriers: float
    instructions: float
    guarded: int
    in_loop: bool
    has_loops: bool
    tensor: int = 0
    tiles: int = 1


def find_cuobjdump() -> str:
    """As the harness looks for it: $CUOBJDUMP, PATH, $CUDA_HOME/bin, $CUDA_PATH/bin,
    /usr/local/cuda/bin; then where scripts/setup.sh puts it, on the PATH of its own shell only.
    Raises PlotsError."""
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    folders = [os.path.join(home, "bin") for home in (*homes, "/usr/local/cuda") if home]
    folders += sorted(map(str, ROOT.glob(".cuda/disassemblers/nvidia/*/bin")))
    named = os.environ.get("CUOBJDUMP")
    for candidate in (named, shutil.which("cuobjdump"), *(f"{f}/cuobjdump" for f in folders)):
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    raise PlotsError(
        "cuobjdump is not on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin. It comes with the "
        "CUDA toolkit, and scripts/setup.sh fetches it; or set CUOBJDUMP=/path/to/cuobjdump"
    )


def read_kernels(path: Path) -> list[Kernel]:
    """The kernels in a cubin, an object file or a program, by cuobjdump. Raises PlotsError."""
    if not path.is_file():
        raise PlotsError(f"{path}: expected a cubin, found nothing")
    cuobjdump = find_cuobjdump()
    try:
        texts = [run([cuobjdump, option, str(path)]) for option in ("-sass", "-res-usage")]
    except PlotsError as error:
        raise PlotsError(
            f"{path}: expected a cubin, an object or a program with machine code; {error}"
        ) from None
    kernels = list(kernels_in(*texts))
    if not kernels:
        raise PlotsError(f"{path}: holds no machine code of a kernel, PTX at most: compile it for "
                         "an architecture (nvcc -arch=sm_90 -cubin)")  # fmt: skip
    return kernels


def kernels_in(listing: str, resources: str) -> Iterator[Kernel]:
    """The kernels of `cuobjdump -sass`, with what `cuobjdump -res-usage` says of them. Of a kernel
    that is there for several architectures, each."""
    used = _resources(resources)
    architecture: int | None = None
    name, instructions = "", []

    def kernel() -> Kernel:
        registers, shared, local = used.get(name, (None, None, None))
        reserved = architecture is not None and architecture >= _RESERVED_FROM
        if shared is not None and reserved and shared >= _RESERVED:
            shared -= _RESERVED
        return Kernel(name, tuple(instructions), architecture, registers, shared, local)

    for line in listing.splitlines():
        if found := _FUNCTION.match(line):
            if name:
                yield kernel()
            name, instructions = found[1], []
        elif found := _ARCHITECTURE.search(line):
            if name:
                yield kernel()
            name, architecture = "", int(found[1])
        elif name and (found := _INSTRUCTION.match(line)):
            guard = (found[2] or "").strip()
            instructions.append(Instruction(int(found[1], 16), guard, found[3], found[4].strip()))
    if name:
        yield kernel()


def _resources(text: str) -> dict[str, tuple[int, int, int]]:
    """Function -> registers, static shared memory and local memory in bytes."""
    used, name = {}, ""
    for line in text.splitlines():
        if found := _USE_OF.match(line):
            name = found[1]
        elif name and (found := _USE.search(line)):
            used[name] = (int(found[1]), int(found[2]), int(found[3]))
    return used


def named(kernels: Sequence[Any], name: str | None, path: Path) -> list[Any]:
    """Those of one kernel: of that name, or of which the name is a part, or all if they have one
    name. Raises PlotsError."""
    exact = [k for k in kernels if k.name == name]
    found = exact or [k for k in kernels if name is None or name in k.name]
    if not found:
        names = list(dict.fromkeys(k.name for k in kernels))
        raise PlotsError(f"{path}: has no kernel {name!r}; {nearest(str(name), names)}")
    if len({k.name for k in found}) > 1:
        shown = "; ".join(dict.fromkeys(k.name for k in found))
        raise PlotsError(f"{path}: which kernel? --kernel NAME, one of {shown}")
    return found


def choose(kernels: Sequence[Kernel], name: str | None, path: Path) -> Kernel:
    """The kernel of that name for the newest architecture. Raises PlotsError."""
    return max(named(kernels, name, path), key=lambda k: k.architecture or 0)


def _blocks(code: Sequence[Instruction]) -> tuple[list[range], list[list[int]]]:
    """The basic blocks of some code as ranges of places, and which blocks can follow each."""
    place = {instruction.address: i for i, instruction in enumerate(code)}

    def target(instruction: Instruction) -> int | None:
        found = _TARGET.findall(instruction.operands)
        return place.get(int(found[-1], 16)) if found else None

    starts = {0}
    for i, instruction in enumerate(code):
        if instruction.group in ("BRA", "JMP"):
            starts |= {i + 1, target(instruction) or 0}
        elif instruction.group in ("EXIT", "RET"):
            starts.add(i + 1)
    order = sorted(start for start in starts if start < len(code))
    ends = [*order[1:], len(code)]
    blocks = [range(a, b) for a, b in zip(order, ends, strict=True)]
    number = {block.start: n for n, block in enumerate(blocks)}
    follow = []
    for n, block in enumerate(blocks):
        last = code[block.stop - 1]
        after = []
        if last.group in ("BRA", "JMP") and (to := target(last)) is not None:
            after.append(number[to])
        # A branch can also depend on a predicate among its operands.
        always = not last.guard and not re.search(r"\bU?P\d", last.operands)
        ends_here = last.group in ("BRA", "JMP", "EXIT", "RET") and always
        if not ends_here and n + 1 < len(blocks):
            after.append(n + 1)
        follow.append(after)
    return blocks, follow


def _before(follow: Sequence[Sequence[int]]) -> list[list[int]]:
    """The blocks that each can follow."""
    return [[n for n, after in enumerate(follow) if to in after] for to in range(len(follow))]


def _dominators(follow: Sequence[Sequence[int]]) -> list[int]:
    """Of each block those through which every way to it goes, as bits."""
    before = _before(follow)
    every = (1 << len(follow)) - 1
    found = [1, *[every] * (len(follow) - 1)]
    changed = True
    while changed:
        changed = False
        for n in range(1, len(follow)):
            through = every
            for b in before[n]:
                through &= found[b]
            through |= 1 << n
            if through != found[n]:
                found[n], changed = through, True
    return found


@dataclass(frozen=True)
class _Piece:
    """Places of some code in order, and those of them that are passed each time."""

    places: tuple[int, ...]
    sure: frozenset[int]


def _pieces(code: Sequence[Instruction]) -> tuple[_Piece, list[_Piece]]:
    """All of the code, and each loop in it, the smallest first. A jump back makes a loop where
    every way to it goes through where it leads: code that was laid out of line jumps back, too, and
    is none."""
    blocks, follow = _blocks(code)
    dominators, before = _dominators(follow), _before(follow)

    def piece(members: Sequence[int], ends: Sequence[int]) -> _Piece:
        on_every_way = (1 << len(blocks)) - 1
        for end in ends:
            on_every_way &= dominators[end]
        return _Piece(
            tuple(i for b in members for i in blocks[b]),
            frozenset(i for b in members if on_every_way >> b & 1 for i in blocks[b]),
        )

    bodies: dict[int, set[int]] = {}
    backs: dict[int, list[int]] = {}
    for n, after in enumerate(follow):
        for head in after:
            # Not the branch to itself behind the end of a kernel.
            if dominators[n] >> head & 1 and (n != head or len(blocks[n]) > 1):
                backs.setdefault(head, []).append(n)
                body, waiting = bodies.setdefault(head, {head}), [n]
                while waiting:
                    block = waiting.pop()
                    if block not in body:
                        body.add(block)
                        waiting += before[block]
    loops = [piece(sorted(body), backs[head]) for head, body in bodies.items()]
    ends = [n for n, b in enumerate(blocks) if code[b.stop - 1].group == "EXIT" and not follow[n]]
    return piece(range(len(blocks)), ends), sorted(
        loops, key=lambda of: (len(of.places), of.places)
    )


def _pairs(code: Sequence[Instruction]) -> list[tuple[Instruction, Instruction]]:
    """Loads from global memory and the stores to shared memory of what they brought. In a loop a
    store may come before the load that brings what the next turn stores: so twice over the code."""
    brought: dict[int, Instruction] = {}
    found: dict[int, tuple[Instruction, Instruction]] = {}
    for instruction in (*code, *code):
        if instruction.group == "STS":
            register = instruction.first_register()
            load = brought.get(register) if register is not None else None
            if load is not None:
                found[instruction.address] = (load, instruction)
        elif (register := instruction.first_register()) is not None:
            if instruction.group == "LDG":
                for i in range(max(1, instruction.bytes // 4)):
                    brought[register + i] = instruction
            elif instruction.group not in ("STG", "STL", "ST", "RED"):
                brought.pop(register, None)
    return [found[address] for address in sorted(found)]


def _ways(code: Sequence[Instruction]) -> tuple[Counter[str], list[Instruction]]:
    """How data comes to shared memory in some code, and the instructions that write it there."""
    pairs = [store for _, store in _pairs(code)]
    copies = [i for i in code if i.group in ("LDGSTS", "UBLKCP", "UTMALDG")]
    # A bulk copy out of shared memory has another order of its ends.
    copies = [i for i in copies if i.group != "UBLKCP" or i.opcode.startswith("UBLKCP.S.G")]
    ways = Counter(i.group for i in copies)
    if pairs:
        ways["LDG->STS"] = len(pairs)
    return ways, [*pairs, *copies]


def _tiles_in(code: Sequence[Instruction], movers: Sequence[Instruction]) -> int:
    """Tiles of one turn: a compiler may unroll the loop over tiles. Each is brought, waited for at
    a barrier, and handed back at another."""
    addresses = {i.address for i in movers}
    tiles, fresh = 0, True
    for instruction in code:
        if instruction.address in addresses:
            tiles, fresh = tiles + fresh, False
        elif instruction.group == "BAR":
            fresh = True
    return max(tiles, 1)


def tile_loop(kernel: Kernel) -> TileLoop | None:
    """The smallest loop that brings data to shared memory, else all of the code; None for a kernel
    that brings none there."""
    # What never runs stands for an alignment of the pipeline.
    code = [i for i in kernel.instructions if i.guard != "@!PT"]
    if not _ways(code)[0]:
        return None
    whole, loops = _pieces(code)
    piece = whole
    for candidate in loops:
        of = [code[i] for i in candidate.places]
        # Waiting for an mbarrier is a loop, too, and one warp's copies are another.
        computes = any(i.group in ("LDS", "LDSM", "BAR", *_TENSOR) for i in of)
        if _ways(of)[0] and computes:
            piece = candidate
            break
    ways, movers = _ways([code[i] for i in piece.places])
    inside = {
        code[i].address
        for loop in loops
        if set(loop.places) < set(piece.places)
        for i in loop.places
        if code[i].group in _WORK
    }
    passed = [code[i] for i in sorted(piece.sure)]
    always = {i.address for i in passed}
    tiles = _tiles_in(passed, movers)
    counted = Counter(i.group for i in passed)
    stores = [code[i] for i in piece.places if code[i].group == "STG"]

    def known(of: Sequence[Instruction]) -> int | None:
        """Bytes of a thread per tile, where each of these is passed once in each turn."""
        if any(i.address in inside or i.address not in always for i in of):
            return None
        return sum(i.bytes for i in of) // tiles

    return TileLoop(
        dict(ways),
        None if ways["UBLKCP"] or ways["UTMALDG"] else known(movers),
        sum(i.bytes for i in passed if i.group in ("LDS", "LDSM")) // tiles,
        known(stores),
        sum(counted[name] for name in _FP32) // tiles,
        counted["BAR"] / tiles,
        sum(n for name, n in counted.items() if name != "NOP") / tiles,
        sum(bool(i.guard) for i in movers),
        piece is not whole,
        bool(inside),
        sum(code[i].group in _TENSOR for i in piece.places),
        tiles,
    )
