"""Reads of shared memory that are still in flight where a stage is handed back, in machine code.

A bulk copy writes through another path than the loads of the threads. A stage is handed back by an
arrival at an mbarrier, or by the block's barrier. A load from it that was issued and has not
returned can then be overtaken by the copy that refills the stage. It happened once on an H200 while
microbench/async_copy was written: 64 to 320 wrong values in 2^28. Either the value must have
arrived, which in machine code is a wait for the load's scoreboard, or fence.proxy.async must stand
between. Only a load whose value is used afterwards counts.

The waits are in the control bits of an instruction (since sm_70: bits 105 to 125 of 128; Jia et
al. 2018, arXiv 1804.06826). They hold the cycles until the next one may issue, and the scoreboards
that it releases when its result is there and when its operands have been read. A mask names the
scoreboards that must be clear before it issues.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.process import BUILD, ROOT

# The begin of a kernel, or an instruction, the second half of whose code has a line of its own.
_ENTRY = re.compile(
    r"^[ \t]*(?:Function : (\S+)|/\*([0-9a-f]{4,6})\*/[ \t]+(.*?)[ \t]*;[ \t]*"
    r"/\* 0x[0-9a-f]{16} \*/[^\n]*\n[ \t]*/\* 0x([0-9a-f]{16}) \*/)",
    re.MULTILINE,
)
_PREDICATE = re.compile(r"@!?U?P\w+\s+")
_TARGET = re.compile(r"0x([0-9a-f]+)\)?$")
_NO_SCOREBOARD = 7

_BULK_LOAD = re.compile(r"UTMALDG|UBLKCP\.S\.G")
_HAND_BACK = re.compile(r"SYNCS\.ARRIVE|BAR\.(SYNC|ARV|RED)")
_SHARED_LOAD = re.compile(r"LDSM?\b")
_FENCE = re.compile(r"FENCE\.VIEW\.ASYNC")
_DRAINED = re.compile(r"DEPBAR\.LE SB(\d), 0x0")
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
    name, instructions = "", []
    for function, address, operation, code in _ENTRY.findall(text):
        if function:
            if name:
                yield name, instructions
            name, instructions = function, []
        else:
            control = int(code, 16) >> 41
            sets, waits = control >> 5 & 7, control >> 11 & 63
            instructions.append(Instruction(int(address, 16), operation, sets, waits))
    if name:
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


def overtaken_reads(kernel: list[Instruction]) -> list[tuple[Instruction, list[int]]]:
    """The hand-backs that a bulk load can follow while loads from shared memory are in flight whose
    values are used afterwards, each with the addresses of these loads."""
    index, after = ways(kernel)
    refilled = [bool(_BULK_LOAD.match(i.operation)) for i in kernel]  # by it or what can follow
    before: list[list[int]] = [[] for _ in kernel]
    for i, following in enumerate(after):
        for j in following:
            before[j].append(i)
    work = [i for i, found in enumerate(refilled) if found]
    while work:
        for i in before[work.pop()]:
            if not refilled[i]:
                refilled[i] = True
                work.append(i)

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
        if pending and refilled[i] and _HAND_BACK.match(operation):
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


def disassemble(cuobjdump: str, file: Path, architecture: str) -> str:
    """The machine code of a file for an architecture such as sm_90a, empty when it has none. Raises
    CalledProcessError when it cannot be read."""
    command = [cuobjdump, "-sass", "-arch", architecture, file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# --- What the build made, and listings written by hand --------------------------------------------

CUOBJDUMP = shutil.which("cuobjdump")
KEPT_LISTING = ROOT / "tests" / "kept_listing.sh"


def objects(folder: str) -> list[Path]:
    """The object files with device code of the folders in apps or microbench."""
    return sorted(BUILD.glob(f"CMakeFiles/{folder}_*.dir/{folder}/*/*.cu.o"))


def example_objects() -> list[Path]:
    """The same of the apps of examples/, where the build has them."""
    return sorted(BUILD.glob("examples/*/CMakeFiles/*.dir/*.cu.o"))


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
    return disassemble(str(KEPT_LISTING), kept[-1] if kept else file, "sm_90a")


def architectures() -> str:
    """What the build folder has code for: "75-real;90a-real"."""
    cache = BUILD / "CMakeCache.txt"
    lines = cache.read_text(encoding="utf-8").splitlines() if cache.is_file() else []
    found = [line for line in lines if line.startswith("CMAKE_CUDA_ARCHITECTURES:")]
    return found[0].partition("=")[2] if found else ""


def written(*lines: tuple[str, int, int]) -> str:
    """A listing of one kernel from (instruction, scoreboard it sets, mask it waits for)."""
    text = ["\t\tFunction : kernel"]
    for i, (instruction, sets, waits) in enumerate(lines):
        control = (1 | sets << 5 | 7 << 8 | waits << 11) << 41
        text += [f"        /*{16 * i:04x}*/  {instruction} ;  /* 0x0000000000000000 */"]
        text += [f"                          /* 0x{control:016x} */"]
    return "\n".join(text)
