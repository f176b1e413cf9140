"""What no kernel does, in machine code: hand back a stage before its reads came, and wait for a
tile that it has just asked for.

The waits are in the control bits of an instruction (since sm_70: bits 105 to 125 of 128; Jia et
al. 2018, arXiv 1804.06826). They hold the cycles until the next one may issue, and the scoreboards
that it releases when its result is there and when its operands have been read. A mask names the
scoreboards that must be clear before it issues.
"""

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tests.process import BUILD, ROOT, cached

# --- Listings -------------------------------------------------------------------------------------

_FUNCTION = re.compile(r"^[ \t]*Function : (\S+)", re.MULTILINE)
# An instruction, the second half of whose code has a line of its own.
_INSTRUCTION = re.compile(
    r"^[ \t]*/\*([0-9a-f]{4,6})\*/[ \t]+(.*?)[ \t]*;[ \t]*"
    r"/\* 0x[0-9a-f]{16} \*/[^\n]*\n[ \t]*/\* 0x([0-9a-f]{16}) \*/",
    re.MULTILINE,
)
_PREDICATE = re.compile(r"@!?U?P\w+\s+")
_TARGET = re.compile(r"0x([0-9a-f]+)\)?$")
_NO_SCOREBOARD = 7
_JUMP = re.compile(r"BRA|JMP")
_END = re.compile(r"EXIT|RET")
_REGISTER = re.compile(r"\bR(\d+)(\.64)?")
_ADDRESS = re.compile(r"\[[^\]]*\]")
_RESULT_PREDICATES = re.compile(r"(U?P[0-9T]\s*,\s*)+")
_NO_RESULT = re.compile(r"ST|RED|ATOMS\.POPC|BAR|SYNCS\.ARRIVE|UTMA|UBLK|U?[DFHI]SETP|BRA|EXIT")


class Instruction(NamedTuple):
    """One line of a listing."""

    address: int
    text: str
    sets: int  # scoreboard, 7 for none
    waits: int  # mask of scoreboards

    @property
    def operation(self) -> str:
        text = self.text
        return _PREDICATE.sub("", text, count=1) if text.startswith("@") else text

    def guard(self) -> str:
        """The predicate under which it runs, such as P1 or !P1; "" for always."""
        return self.text[1:].split()[0] if self.text.startswith("@") else ""

    def predicates_written(self) -> set[str]:
        """Predicates among its first two operands, which may be results."""
        operands = self.operation.partition(" ")[2].split(",")[:2]
        return {name for o in operands if re.fullmatch(r"U?P\d", name := o.strip())}

    def width(self) -> int:
        """Registers of a result, and of the data of a store."""
        operation = self.operation.split()[0]
        if re.search(r"\.128\b|M88\.4|[HID]MMA|HGMMA", operation):
            return 4
        return 2 if re.search(r"\.64\b|\.WIDE|M88\.2|^D|F64|^CS2R$", operation) else 1

    def operands(self) -> str:
        """All operands but predicates that stand before the first register: results, too."""
        return _RESULT_PREDICATES.sub("", self.operation.partition(" ")[2].strip(), count=1)

    def writes(self) -> set[int]:
        """The registers of its result."""
        found = _REGISTER.match(self.operands())
        if not found or _NO_RESULT.match(self.operation):
            return set()
        return {int(found.group(1)) + i for i in range(self.width())}

    def reads(self) -> set[int]:
        """The registers of its operands, with all that wide ones may cover; an address is one
        register, or two where it says so."""
        operands = self.operands()
        if self.writes():
            operands = operands.partition(",")[2]
        data = _ADDRESS.sub("", operands)
        addresses = "".join(_ADDRESS.findall(operands))
        found: set[int] = set()
        for text, least in ((addresses, 1), (data, self.width())):
            for register, pair in _REGISTER.findall(text):
                found |= {int(register) + i for i in range(max(2 if pair else 1, least))}
        return found

    def successors(self) -> tuple[int | None, bool]:
        """Where it jumps to, and whether the next instruction can follow."""
        operation = self.operation
        always = operation == self.text
        if _END.match(operation):
            return None, not always
        if not _JUMP.match(operation):
            return None, True
        target = _TARGET.search(operation)
        # A branch can also depend on a predicate among its operands: BRA.U UP0, `(.L_1).
        always = always and not re.search(r"\bU?P\d", operation)
        return int(target.group(1), 16) if target else None, not always


def listing(text: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The kernels of the text that `cuobjdump -sass` prints: each name with its instructions."""
    _, *parts = _FUNCTION.split(text)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        instructions = []
        for address, operation, code in _INSTRUCTION.findall(body):
            control = int(code, 16) >> 41
            sets, waits = control >> 5 & 7, control >> 11 & 63
            instructions.append(Instruction(int(address, 16), operation, sets, waits))
        yield name, instructions


def ways(kernel: list[Instruction], without: str = "\0") -> tuple[dict[int, int], list[list[int]]]:
    """The instructions by address, and which can follow each. A jump that begins with `without`
    is taken for one that goes on."""
    index = {instruction.address: i for i, instruction in enumerate(kernel)}
    after: list[list[int]] = []
    for i, instruction in enumerate(kernel):
        target, falls_through = instruction.successors()
        jumps = target in index and not instruction.operation.startswith(without)
        after.append([index[target]] if jumps else [])
        if falls_through and i + 1 < len(kernel):
            after[i].append(i + 1)
    return index, after


def objects(folder: str) -> list[Path]:
    """The object files with device code of the folders in apps or microbench."""
    return sorted(BUILD.glob(f"CMakeFiles/{folder}_*.dir/{folder}/*/*.cu.o"))


def kept_code(file: Path) -> Path:
    """Where the build kept the intermediate code of an object file."""
    if file.is_relative_to(BUILD / "examples"):
        example = file.relative_to(BUILD / "examples").parts[0]
        return BUILD / "examples" / example / "code" / example
    return BUILD / "code" / file.parent.relative_to(file.parents[2])


def code_for_90a(file: Path) -> str:
    """The machine code of an object file for sm_90a, empty when it has none: of what the build kept
    of it, if it did, because that has been disassembled for others before (tests/kept_listing.sh).
    Raises CalledProcessError when it cannot be read."""
    stem = file.name.removesuffix(".cu.o")
    names = [f"{stem}{ending}.cubin" for ending in ("", ".compute_90a", ".sm_90a")]
    # One that an earlier setting of the build left behind is older.
    kept = sorted(
        (path for name in names if (path := kept_code(file) / name).is_file()),
        key=lambda path: path.stat().st_mtime,
    )
    code = kept[-1] if kept else file
    command = [ROOT / "tests" / "kept_listing.sh", "-sass", "-arch", "sm_90a", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


Line = tuple[str, int, int]  # an instruction, the scoreboard it sets, the mask it waits for


def written(*lines: Line) -> list[Instruction]:
    """A kernel of these lines, as it is read from its listing."""
    text = ["\t\tFunction : kernel"]
    for i, (instruction, sets, waits) in enumerate(lines):
        control = (1 | sets << 5 | 7 << 8 | waits << 11) << 41
        text += [f"        /*{16 * i:04x}*/  {instruction} ;  /* 0x0000000000000000 */"]
        text += [f"                          /* 0x{control:016x} */"]
    ((name, kernel),) = listing("\n".join(text))
    assert name == "kernel" and len(kernel) == len(lines)
    return kernel


needs_90a = pytest.mark.skipif(
    shutil.which("cuobjdump") is None or "90a" not in cached("CMAKE_CUDA_ARCHITECTURES"),
    reason="needs cuobjdump, and a build with machine code for sm_90a",
)

AGAIN = ("@P1 BRA 0x0", 7, 0)
END = ("EXIT", 7, 0)
BARRIER = ("BAR.SYNC.DEFER_BLOCKING 0x0", 7, 0)

# --- Stages that bulk copies refill ---------------------------------------------------------------

# Reads of shared memory that are still in flight where a stage is handed back, in machine code.
#
# A bulk copy writes through another path than the loads of the threads. A stage is handed back by
# an arrival at an mbarrier, or by the block's barrier. A load from it that was issued and has not
# returned can then be overtaken by the copy that refills the stage. It happened once on an H200
# while microbench/async_copy was written: 64 to 320 wrong values in 2^28. Either the value must
# have arrived, which in machine code is a wait for the load's scoreboard, or fence.proxy.async must
# stand between. Only a load whose value is used afterwards counts.

_BULK_COPY = re.compile(r"UBLKCP|UTMALDG")
_BULK_LOAD = re.compile(r"UTMALDG|UBLKCP\.S\.G")
_HAND_BACK = re.compile(r"SYNCS\.ARRIVE|BAR\.(SYNC|ARV|RED)")
_SHARED_LOAD = re.compile(r"LDSM?\b")
_FENCE = re.compile(r"FENCE\.VIEW\.ASYNC")
_DRAINED = re.compile(r"DEPBAR\.LE SB(\d), 0x0")


def overtaken_reads(kernel: list[Instruction]) -> list[tuple[Instruction, list[int]]]:
    """The hand-backs that a bulk load can follow while loads from shared memory are in flight whose
    values are used afterwards, each with the addresses of these loads."""
    index, after = ways(kernel)
    # By it or what can follow. From the end, so that only loops take another turn.
    refilled = {i for i, of in enumerate(kernel) if _BULK_LOAD.match(of.operation)}
    known_before = -1
    while known_before < len(refilled):
        known_before = len(refilled)
        for i in reversed(range(len(kernel))):
            if not refilled.isdisjoint(after[i]):
                refilled.add(i)

    # (scoreboard, address) of the loads in flight where an instruction is reached.
    reached: list[set[tuple[int, int]] | None] = [None] * len(kernel)
    found: dict[int, list[int]] = {}
    queue: list[tuple[int, set[tuple[int, int]]]] = [(0, set())] if kernel else []
    while queue:
        i, pending = queue.pop()
        known = reached[i]
        if known is not None and pending <= known:
            continue
        pending = reached[i] = pending | (known or set())
        instruction = kernel[i]
        operation = instruction.operation
        pending = {p for p in pending if not instruction.waits >> p[0] & 1}
        if drained := _DRAINED.match(operation):
            pending = {p for p in pending if p[0] != int(drained.group(1))}
        if _FENCE.match(operation):
            pending = set()
        if pending and i in refilled and _HAND_BACK.match(operation):
            found[i] = sorted(address for _, address in pending)
        if _SHARED_LOAD.match(operation) and instruction.sets != _NO_SCOREBOARD:
            pending = pending | {(instruction.sets, instruction.address)}
        queue += [(j, pending) for j in after[i]]
    results = []
    for i, addresses in sorted(found.items()):
        needed = [a for a in addresses if _used_after(kernel, after, i, kernel[index[a]].writes())]
        if needed:
            results.append((kernel[i], needed))
    return results


def _used_after(
    kernel: list[Instruction], after: list[list[int]], start: int, registers: set[int]
) -> bool:
    """Whether one of the registers can be read after `start` before it is overwritten. A register
    overwritten under a predicate is followed on as long as that has its value, for readers under
    other predicates and on ways on which it has the other."""
    seen: dict[int, set[tuple[int, frozenset[str]]]] = {}
    work = [(j, {(register, frozenset[str]()) for register in registers}) for j in after[start]]
    while work:
        i, live = work.pop()
        if live <= seen.get(i, set()):
            continue
        seen[i] = live = live | seen.get(i, set())
        instruction = kernel[i]
        guard, reads, writes = instruction.guard(), instruction.reads(), instruction.writes()
        other = "" if not guard else guard[1:] if guard[0] == "!" else f"!{guard}"
        if any(register in reads and guard not in guards for register, guards in live):
            return True
        if guard:
            live = {(r, guards | {guard} if r in writes else guards) for r, guards in live}
            live = {(r, guards) for r, guards in live if not {guard, other} <= guards}
        else:
            live = {(r, guards) for r, guards in live if r not in writes}
        changed = instruction.predicates_written()
        live = {(r, frozenset(g for g in gs if g.strip("!") not in changed)) for r, gs in live}
        jump, _ = instruction.successors()
        for j in after[i]:
            # Where the jump is taken its guard has its value, and behind it the other one.
            holds = guard if kernel[j].address == jump else other if jump is not None else ""
            work.append((j, {(r, gs) for r, gs in live if not holds or holds not in gs}))
    return False


def may_copy_in_bulk(file: Path) -> bool:
    """False if the PTX that the build kept of an object has none: to disassemble takes long."""
    texts = [p.read_text() for p in kept_code(file).glob(f"{file.name.removesuffix('.cu.o')}.*ptx")]
    return not texts or any("cp.async.bulk" in text for text in texts)


BULK = ("@P0 UBLKCP.S.G [UR8], [UR4], UR7", 7, 0)
READ = ("LDS R10, [R4+UR8]", 2, 0)
USED = ("FADD R5, R5, R10", 7, 1 << 2)
ARRIVE = ("@!P3 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR6], RZ", 7, 0)
MATRIX = ("LDSM.16.M88.4 R8, [R7]", 2, 0)
WAITING = (ARRIVE[0], 7, 1 << 2)
FENCE = ("FENCE.VIEW.ASYNC.S", 7, 0)
DRAINED, DRAINED_OTHER = ((f"DEPBAR.LE SB{board}, 0x0", 7, 0) for board in (2, 1))
USE_OF_OTHER = ("FADD R5, R5, R11", 7, 1 << 3)
# The value is used in an inner loop; on the way out, past the arrival, one is loaded anew.
BACK_TO_READ, OUTER = ("@P1 BRA 0x10", 7, 0), ("@P2 BRA 0x0", 7, 0)
ANOTHER, GUARDED = ("LDS R11, [R4+UR8]", 2, 0), ("@P4 LDS R10, [R4+UR8]", 2, 0)
# Loaded anew and used under a predicate.
ANEW, ANEW_USED = ("@!P4 LDG R10, [R2]", 7, 0), ("@!P4 FADD R5, R5, R10", 7, 0)
SET_ANEW, OTHERWISE = ("ISETP.NE.AND P4, PT, R3, RZ, PT", 7, 0), ("@P4 LDG R10, [R2]", 7, 0)
# Loaded anew under P4, or set to zero behind a branch that is taken under P4.
WIDE, W_USED = ("LDS.64 R10, [R4+UR8]", 2, 0), ("FADD R5, R5, R11", 7, 0)
W_ANEW, W_OTHER = ((f"@P{p} LDG.E.64 R10, [R2]", 7, 0) for p in (4, 5))
TAKEN, TAKEN_OTHER = ((f"@P{p} BRA 0x60", 7, 0) for p in (4, 5))
ZERO, NARROW_ZERO = ("CS2R R10, SRZ", 7, 0), ("CS2R.32 R10, SRZ", 7, 0)
SKIP_LOAD, SKIP_USE = ("@P2 BRA 0x30", 7, 0), ("@P2 BRA 0x40", 7, 0)
UNIFORM = ("BRA.U UP1, 0x40", 7, 0)


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        # A read in flight at the arrival.
        ((BULK, READ, ARRIVE, USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, READ, BARRIER, USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, MATRIX, ARRIVE, USED, AGAIN, END), [(0x20, [0x10])]),
        # One that came, or is fenced.
        ((BULK, READ, USED, ARRIVE, AGAIN, END), []),
        ((BULK, READ, WAITING, USED, AGAIN, END), []),
        ((BULK, READ, DRAINED, ARRIVE, AGAIN, END), []),
        ((BULK, READ, FENCE, ARRIVE, USED, AGAIN, END), []),
        # Another scoreboard is no wait.
        ((BULK, READ, USE_OF_OTHER, ARRIVE, USED, AGAIN, END), [(0x30, [0x10])]),
        ((BULK, READ, DRAINED_OTHER, ARRIVE, USED, AGAIN, END), [(0x30, [0x10])]),
        # What is not needed may be overtaken.
        ((BULK, USED, READ, BACK_TO_READ, ARRIVE, READ, OUTER, END), []),
        ((BULK, USED, READ, BACK_TO_READ, ARRIVE, ANOTHER, OUTER, END), [(0x40, [0x20])]),
        ((BULK, USED, READ, BACK_TO_READ, ARRIVE, GUARDED, OUTER, END), [(0x40, [0x20])]),
        ((BULK, READ, ARRIVE, ANEW, ANEW_USED, AGAIN, END), []),
        ((BULK, READ, ARRIVE, ANEW, USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, READ, ARRIVE, ANEW, SET_ANEW, ANEW_USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, READ, ARRIVE, ANEW, OTHERWISE, USED, AGAIN, END), []),
        # A branch tells which value its predicate has.
        ((BULK, WIDE, ARRIVE, W_ANEW, TAKEN, ZERO, W_USED, AGAIN, END), []),
        ((BULK, WIDE, ARRIVE, W_OTHER, TAKEN, ZERO, W_USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, WIDE, ARRIVE, W_ANEW, TAKEN_OTHER, ZERO, W_USED, AGAIN, END), [(0x20, [0x10])]),
        ((BULK, WIDE, ARRIVE, W_ANEW, TAKEN, NARROW_ZERO, W_USED, AGAIN, END), [(0x20, [0x10])]),
        # Only what a copy can follow counts, on every way to the arrival.
        ((BULK, READ, ARRIVE, USED, END), []),
        ((BULK, SKIP_LOAD, READ, ARRIVE, USED, AGAIN, END), [(0x30, [0x20])]),
        ((BULK, READ, SKIP_USE, USED, ARRIVE, USED, AGAIN, END), [(0x40, [0x10])]),
        ((BULK, READ, UNIFORM, USED, ARRIVE, USED, AGAIN, END), [(0x40, [0x10])]),
        ((BULK, ARRIVE, USED, READ, AGAIN, END), [(0x10, [0x30])]),  # round the loop
    ],
)
def test_overtaken_reads_are_found(kernel: tuple[Line, ...], found: list) -> None:
    assert [(i.address, loads) for i, loads in overtaken_reads(written(*kernel))] == found


@needs_90a
def test_no_kernel_hands_back_a_stage_before_its_reads_came() -> None:
    kernels, findings = 0, []
    of_examples = sorted(BUILD.glob("examples/*/CMakeFiles/*.dir/*.cu.o"))
    for file in filter(may_copy_in_bulk, objects("apps") + objects("microbench") + of_examples):
        text = code_for_90a(file)
        for name, kernel in listing(text) if _BULK_COPY.search(text) else ():
            kernels += any(_BULK_COPY.search(i.text) for i in kernel)
            findings += [
                f"{file.parent.name}/{file.name}: {name}: {i.text} at {i.address:#x}, loads at "
                + ", ".join(f"{a:#x}" for a in loads)
                for i, loads in overtaken_reads(kernel)
            ]
    assert findings == []
    assert kernels > 0  # the listings were read, and their bulk copies known


# --- Early waits ----------------------------------------------------------------------------------

# No kernel waits for a tile that it has just asked for, but those that are meant to.
#
# A tile that is loaded while another is computed hides the latency of memory only if nothing waits
# for it meanwhile. The source does not decide that. The machine has six scoreboards. A load that
# shares one with another is waited for with the other. A load behind a branch is waited for where
# the paths join. A kernel that is written to load ahead then stalls at every load, and its
# comparison with another kernel is one of compilers.
#
# This looks at the loads of tiles in loops: those that bring as many bytes at once as any in a loop
# of their kernel, without .STRONG. Narrower ones are tickets, tags and what is left over at an
# edge. Strong ones are polled, and waited for by intent. Kernels without shared memory move no
# tiles.
#
# For LDG and LD the distance is from the load to the first instruction, on any way, that waits for
# its scoreboard, even if another load set that. For LDGSTS it is to the first wait for its group:
# DEPBAR.LE with fewer groups left than were committed since. Waits on an mbarrier and bulk copies
# are not followed.
#
# Only waits in a loop that also has the load count: loads before the first tile and drains behind
# the last one have nothing to hide behind. A loop is the code between a branch back and its target,
# less what is passed once. The second try of a wait is excluded: ptxas puts it behind the kernel,
# so that its branch back spans all that follows the loop.
#
# Early is a wait within 16 instructions, or within a sixteenth of a long loop that has no other
# loop in it: 16 instructions take some 30 to 70 cycles, a load from memory some 700.

LEAST = 16
SHARE_OF_LOOP = 16

_GLOBAL_LOAD = re.compile(r"LDG?\b")
_ASYNC_COPY = re.compile(r"LDGSTS\b")
_SHARED = re.compile(r"(LDS|LDSM|STS|LDGSTS|UBLKCP|UTMALDG)\b")
_OTHER_MEMORY = re.compile(r"(LD|ST|LDG|STG|LDS|LDSM|STS|LDL|STL|LDGSTS|UBLKCP|UTMALDG)\b")
_LEFT = re.compile(r"DEPBAR\.LE SB(\d), 0x([0-9a-f]+)")
_MOST_GROUPS = 8  # more are in flight in no kernel; bounds the search

Loop = range  # the indices of the instructions between a backward branch and its target


class EarlyWait(NamedTuple):
    """A load, what waits for it, and how many instructions later."""

    load: Instruction
    by: Instruction
    distance: int
    loop: int  # address
    loop_length: int


def bytes_at_once(instruction: Instruction) -> int:
    """What a thread brings with it from global memory, 0 for other instructions and for strong
    loads; 16 for a bulk copy, which brings more."""
    operation = instruction.operation.split()[0]
    if _BULK_COPY.match(operation):
        return 16
    loads = _GLOBAL_LOAD.match(operation) or _ASYNC_COPY.match(operation)
    if not loads or ".STRONG" in operation:
        return 0
    for word, size in ((".128", 16), (".64", 8), ("16", 2), ("8", 1)):
        if word in operation:
            return size
    return 4


def _ways(kernel: list[Instruction]) -> tuple[list[list[int]], list[Loop]]:
    """What can follow each instruction, and the loops. Ways into the code for diverged warps, which
    ptxas puts behind the kernel, are left out: whole warps do not go there."""
    _, after = ways(kernel, without="BRA.DIV")
    loops = []
    for i, following in enumerate(after):
        loops += [range(j, i + 1) for j in following[:1] if j <= i]
    return after, loops


def _components(after: list[list[int]]) -> list[int]:
    """A number for each instruction, the same for those that can follow each other again and again
    (strongly connected components)."""
    ways = [(i, j) for i, following in enumerate(after) for j in following] or [(0, 0)]
    places = np.transpose(ways)
    graph = coo_array((np.ones(len(ways)), tuple(places)), shape=(len(after), len(after)))
    return connected_components(graph, connection="strong")[1].tolist()


def _polls(kernel: list[Instruction], loop: Loop) -> bool:
    """Whether a loop does nothing but wait for others."""
    return not any(
        _OTHER_MEMORY.match(kernel[i].operation) and ".STRONG" not in kernel[i].operation
        for i in loop
    )


def _first_wait(
    kernel: list[Instruction], after: list[list[int]], load: int, around: Loop, limit: int
) -> tuple[int, Instruction] | None:
    """The nearest wait for the load at this index, on ways that stay in the loop around it, if it
    comes within less than `limit` instructions."""
    copies = bool(_ASYNC_COPY.match(kernel[load].operation))
    scoreboard = kernel[load].sets
    queue = deque((j, 1, 0) for j in after[load] if j in around)
    seen: set[tuple[int, int]] = set()
    while queue:
        i, distance, committed = queue.popleft()
        if distance >= limit:
            return None
        if (i, committed) in seen:
            continue
        seen.add((i, committed))
        instruction = kernel[i]
        left = _LEFT.match(instruction.operation)
        if copies:
            if left and committed > int(left[2], 16):
                return distance, instruction
            if instruction.operation.startswith("LDGDEPBAR"):
                committed = min(committed + 1, _MOST_GROUPS)
        elif instruction.waits >> scoreboard & 1 or (left and int(left[1]) == scoreboard):
            return distance, instruction
        queue.extend((j, distance + 1, committed) for j in after[i] if j in around)
    return None


def early_waits(kernel: list[Instruction]) -> list[EarlyWait]:
    """The loads of a kernel that are waited for too early."""
    if not any(_SHARED.match(i.operation) for i in kernel):
        return []
    after, loops = _ways(kernel)
    loops = [loop for loop in loops if not _polls(kernel, loop)]
    component = _components(after)
    innermost: dict[int, Loop] = {}
    outermost: dict[int, Loop] = {}
    for loop in sorted(loops, key=len, reverse=True):
        for i in loop:
            if component[i] == component[loop[-1]]:
                innermost[i] = loop
                outermost.setdefault(i, loop)
    sizes = {i: size for i in innermost if (size := bytes_at_once(kernel[i]))}
    widest = max(sizes.values(), default=0)
    found = []
    for i in sorted(i for i, size in sizes.items() if size == widest):
        instruction, loop = kernel[i], innermost[i]
        if _BULK_COPY.match(instruction.operation):
            continue
        if _GLOBAL_LOAD.match(instruction.operation) and instruction.sets == _NO_SCOREBOARD:
            continue
        inner = any(o[0] in loop and o[-1] in loop for o in loops if o != loop)
        limit = LEAST if inner else max(LEAST, len(loop) // SHARE_OF_LOOP)
        if wait := _first_wait(kernel, after, i, outermost[i], limit):
            distance, by = wait
            found.append(EarlyWait(instruction, by, distance, kernel[loop[0]].address, len(loop)))
    return found


def kernel_name(mangled: str) -> str:
    """The name of a kernel without its namespaces, with its template arguments as they are mangled:
    "strips<INS0_6StripsILi8EEE...>". The hash in the name of an unnamed namespace changes with the
    folder of the build."""
    rest, name = mangled.removeprefix("_ZN").removeprefix("_Z"), ""
    while found := re.match(r"(\d+)", rest):
        length = int(found[1])
        name, rest = rest[found.end() :][:length], rest[found.end() + length :]
        if not mangled.startswith("_ZN"):
            break
    rest = re.sub(r"\d+_GLOBAL__N__\w*?_cu_[0-9a-f]+_\d+", "", rest)
    return f"{name}<{rest}>"


STRATEGIES = ("baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm")


# Kernels that wait early, by why they may: their variant, and a pattern for kernel_name().
ACCEPTED = {
    "iso: the original loads a tile, waits for it and computes": [
        ("gemm/baseline", r"original<"),
        ("gemm/dsm", r"original<"),
        ("histogram/baseline", r"baseline_original<"),
        ("histogram/dsm", r"dsm_original<"),
        ("lavamd/(baseline|drop_off)", r"forces_of_box<.*OneParticle"),
        ("pathfinder/(baseline|dsm)", r"pyramid<"),
    ],
    "iso: a row per thread, one element ahead at most": [("gemm/drop_off", r"original<")],
    "iso: keys behind the last whole step are loaded and counted one by one": [
        (
            "histogram/(register_bypass|overlap|drop_off)",
            r"(bypass|overlap|drop_off)_original<.*Li4E",
        )
    ],
    "producer warps do nothing else: they load what their registers hold, wait and store it": [
        ("gemm/baseline", r"specialised<.*RegisterProducer"),
        ("lud/baseline", r"tensor_update<.*RegisterFeed"),
        ("nw/baseline", r"copied_bands<"),
        ("pathfinder/baseline", r"copied_strips<.*HandedWall"),
    ],
    "at the end of the walk alone: behind the last stage a producer has no more to ask for": [
        ("gemm/overlap", r"specialised<.*CopyProducer"),
        ("pathfinder/overlap", r"copied_strips<.*Tall3E.*HandedWall"),
        ("pathfinder/overlap", r"copied_strips<.*Tall3Close.*HandedWall"),
    ],
    "a thread asks for its neighbour's record when it has the index; other warps hide the wait": [
        ("cfd/(baseline|register_bypass|overlap|tma|dsm)", r"walk<"),
        ("cfd/(overlap|drop_off|dsm)", r"resident<"),
    ],
    "only where a counter overflowed: keys are counted again where they lie": [
        ("histogram/register_bypass", r"walk_tiles<.*Unseen")
    ],
    "warps that have nothing to multiply bring the next slice, three shares at a time": [
        ("lud/baseline", r"product<.*SolveTile")
    ],
    "it loads the only block there is": [("lud/baseline", r"diagonal<.*ThroughRegisters")],
    "to be mended: of two rows in registers the second is stored right after it was asked for": [
        ("pathfinder/baseline", r"copied_strips<.*Wide8.*LoadedWall")
    ],
}

LOAD = ("LDG.E.128 R8, desc[UR4][R2.64]", 3, 0)
STORE = ("STS.128 [R4], R8", 7, 1 << 3)
OTHER = ("FFMA R20, R21, R22, R20", 7, 0)
COPY = ("LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", 7, 0)
COMMIT = ("LDGDEPBAR", 0, 0)
DRAIN, LEAVE_ONE, LEAVE_TWO = ((f"DEPBAR.LE SB0, {left:#x}", 7, 0) for left in range(3))
SHARED, SHARED_APART = ("LDS R30, [R5]", 3, 0), ("LDS R30, [R5]", 2, 0)
USE, USE_APART = (("FADD R31, R31, R30", 7, 1 << board) for board in (3, 2))
POLL = ("LDG.E.STRONG.GPU R8, desc[UR4][R2.64]", 3, 0)
TICKET, RECEIVED = ("LDG.E R30, desc[UR4][R6.64]", 2, 0), ("IADD3 R31, R30, 0x1, RZ", 7, 1 << 2)
NARROW_STORE = ("STS [R4], R20", 7, 0)
FOR_TILE = (LOAD, *[OTHER] * 40, STORE, SHARED_APART)
INNER = (f"@P2 BRA {16 * (len(FOR_TILE) - 1):#x}", 7, 0)
LATE = (*[OTHER] * 40, STORE, AGAIN, END)
TILE = (LOAD, *[OTHER] * 20, STORE)
# The second try of the loop's wait is behind the kernel, the tile's load in between.
FIRST_TRY, BACK = ("@!P0 BRA 0x1b0", 7, 0), ("BRA 0x30", 7, 0)
DIVERGED = ("BRA.DIV UR4, 0x150", 7, 0)
COLLECTIVE = ("WARPSYNC.COLLECTIVE R9, 0x160", 7, 1 << 3)
BODY = (OTHER, OTHER, FIRST_TRY, *[OTHER] * 20)


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        # A load that is stored at once, or behind the work, or in the next round.
        ((LOAD, STORE, AGAIN, END), [(0x0, 1)]),
        ((LOAD, *[OTHER] * 14, STORE, AGAIN, END), [(0x0, 15)]),
        ((LOAD, *[OTHER] * 15, STORE, AGAIN, END), []),
        ((STORE, LOAD, *[OTHER] * 20, BARRIER, AGAIN, END), []),
        # A long loop has to wait later, but not one around others.
        ((LOAD, *[OTHER] * 40, STORE, *[OTHER] * 1000, AGAIN, END), [(0x0, 41)]),
        ((LOAD, *[OTHER] * 80, STORE, *[OTHER] * 1000, AGAIN, END), []),
        ((*FOR_TILE, INNER, *[OTHER] * 1000, AGAIN, END), []),
        # A wait for the scoreboard is a wait for the load, too.
        ((SHARED, LOAD, USE, *LATE), [(0x10, 1)]),
        ((SHARED_APART, LOAD, USE_APART, *LATE), []),
        ((LOAD, ("DEPBAR.LE SB3, 0x0", 7, 0), *LATE), [(0x0, 1)]),
        ((LOAD, ("DEPBAR.LE SB2, 0x0", 7, 0), *LATE), []),
        # Made again under a condition; behind it the ways join, with a wait.
        (
            (LOAD, ("@P2 BRA 0x30", 7, 0), LOAD, ("MOV R30, R31", 7, 1 << 3), *LATE),
            [(0x0, 2), (0x20, 1)],
        ),
        # Only loops count: not what is loaded before the tiles, or follows a loop.
        ((LOAD, STORE, END), []),
        ((LOAD, AGAIN, STORE, END), []),
        ((LOAD, AGAIN, STORE, ("@P2 BRA 0x0", 7, 0), END), [(0x0, 2)]),
        ((*BODY, AGAIN, LOAD, STORE, END, OTHER, BACK), []),
        ((*BODY, OTHER, LOAD, STORE, ("@P1 BRA 0x30", 7, 0), OTHER, BACK), [(0x180, 1)]),
        # Polling is waiting by intent, and narrow loads beside wide ones bring no tile.
        ((POLL, ("ISETP.NE.AND P1, PT, R8, RZ, PT", 7, 1 << 3), AGAIN, NARROW_STORE, END), []),
        ((TICKET, RECEIVED, *TILE, AGAIN, END), []),
        ((TICKET, RECEIVED, NARROW_STORE, AGAIN, END), [(0x0, 1)]),
        ((TICKET, RECEIVED, ("UTMALDG.2D [UR8], [UR4]", 7, 0), AGAIN, END), []),
        # A kernel without shared memory moves no tiles.
        ((LOAD, ("STG.E.128 desc[UR4][R6.64], R8", 7, 1 << 3), AGAIN, END), []),
        # The code for diverged warps is no way.
        ((LOAD, DIVERGED, *[OTHER] * 17, STORE, AGAIN, COLLECTIVE, ("BRA 0x20", 7, 0)), []),
        # Copies, and the groups that may stay.
        ((COPY, COMMIT, DRAIN, BARRIER, AGAIN, END), [(0x0, 2)]),
        ((COPY, COMMIT, *[OTHER] * 20, DRAIN, BARRIER, AGAIN, END), []),
        ((COPY, COMMIT, LEAVE_ONE, BARRIER, *[OTHER] * 20, AGAIN, END), []),
        ((COPY, COMMIT, LEAVE_ONE, BARRIER, *[OTHER] * 5, AGAIN, END), [(0x0, 12)]),
        ((COPY, COMMIT, LEAVE_TWO, BARRIER, *[OTHER] * 5, AGAIN, END), []),
        ((COPY, DRAIN, COMMIT, *[OTHER] * 20, AGAIN, END), []),
        ((COPY, COMMIT, *[OTHER] * 20, LEAVE_ONE, AGAIN, DRAIN, END), []),
    ],
)
def test_early_waits_are_found(kernel: tuple[Line, ...], found: list[tuple[int, int]]) -> None:
    assert [(w.load.address, w.distance) for w in early_waits(written(*kernel))] == found


@needs_90a
def test_no_kernel_waits_for_what_it_has_just_asked_for() -> None:
    files = {f"{f.parent.name}/{f.name.removesuffix('.cu.o')}": f for f in objects("apps")}
    variants = {name: file for name, file in files.items() if name.split("/")[1] in STRATEGIES}
    assert variants, "the build has no variants"
    known = [case for cases in ACCEPTED.values() for case in cases]
    known = [case for case in known if any(re.fullmatch(case[0], name) for name in variants)]
    findings, needed = [], set()
    with ThreadPoolExecutor() as pool:  # most of the time is the disassembler's
        texts = pool.map(code_for_90a, variants.values())
    for variant, text in zip(variants, texts, strict=True):
        for mangled, instructions in listing(text):
            kernel, waits = kernel_name(mangled), early_waits(instructions)
            if variant.endswith("/register_bypass"):  # Algorithm 1 waits for its copies at once
                waits = [w for w in waits if not _ASYNC_COPY.match(w.load.operation)]
            matching = {c for c in known if re.fullmatch(c[0], variant) and re.match(c[1], kernel)}
            needed |= matching if waits else set()
            findings += [f"{variant}: {kernel}: {w}" for w in waits if not matching]
    assert findings == []
    assert set(known) == needed, "these wait early no more: take them off the list"
