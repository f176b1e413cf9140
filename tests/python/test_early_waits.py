"""No kernel waits for a tile that it has just asked for, but those that are meant to.


A tile that is loaded while another is computed hides the latency of memory only if nothing waits
for it meanwhile. The source does not decide that. The machine has six scoreboards. A load that
shares one with another is waited for with the other. A load behind a branch is waited for where the
paths join. A kernel that is written to load ahead then stalls at every load, and its comparison
with another kernel is one of compilers.

This looks at the loads of tiles in loops: those that bring as many bytes at once as any in a loop
of their kernel, without .STRONG. Narrower ones are tickets, tags and what is left over at an edge.
Strong ones are polled, and waited for by intent. Kernels without shared memory move no tiles.

For LDG and LD the distance is from the load to the first instruction, on any way, that waits for
its scoreboard, even if another load set that. For LDGSTS it is to the first wait for its group:
DEPBAR.LE with fewer groups left than were committed since. Waits on an mbarrier and bulk copies are
not followed.

Only waits in a loop that also has the load count: loads before the first tile and drains behind the
last one have nothing to hide behind. A loop is the code between a branch back and its target, less
what is passed once. The second try of a wait is excluded: ptxas puts it behind the kernel, so that
its branch back spans all that follows the loop.

Early is a wait within 16 instructions, or within a sixteenth of a long loop that has no other loop
in it: 16 instructions take some 30 to 70 cycles, a load from memory some 700.
"""

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from machine_code import (
    CUOBJDUMP,
    Instruction,
    architectures,
    code_for_90a,
    listing,
    objects,
    ways,
    written,
)
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

LEAST = 16
SHARE_OF_LOOP = 16

_GLOBAL_LOAD = re.compile(r"LDG?\b")
_ASYNC_COPY = re.compile(r"LDGSTS\b")
_BULK_COPY = re.compile(r"UBLKCP|UTMALDG")
_SHARED = re.compile(r"(LDS|LDSM|STS|LDGSTS|UBLKCP|UTMALDG)\b")
_OTHER_MEMORY = re.compile(r"(LD|ST|LDG|STG|LDS|LDSM|STS|LDL|STL|LDGSTS|UBLKCP|UTMALDG)\b")
_LEFT = re.compile(r"DEPBAR\.LE SB(\d), 0x([0-9a-f]+)")
_NO_SCOREBOARD = 7
_MOST_GROUPS = 8  # more are in flight in no kernel; bounds the search


class Loop(NamedTuple):
    """First and last index of the instructions between a backward branch and its target."""

    first: int
    last: int

    def length(self) -> int:
        return self.last - self.first + 1


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
    if not (_GLOBAL_LOAD.match(operation) or _ASYNC_COPY.match(operation)):
        return 0
    if ".STRONG" in operation:
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
        loops += [Loop(j, i) for j in following[:1] if j <= i]
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
        _OTHER_MEMORY.match(i.operation) and ".STRONG" not in i.operation
        for i in kernel[loop.first : loop.last + 1]
    )


def _first_wait(
    kernel: list[Instruction], after: list[list[int]], load: int, around: Loop, limit: int
) -> tuple[int, Instruction] | None:
    """The nearest wait for the load at this index, on ways that stay in the loop around it, if it
    comes within less than `limit` instructions."""
    copies = bool(_ASYNC_COPY.match(kernel[load].operation))
    scoreboard = kernel[load].sets
    queue = deque((j, 1, 0) for j in after[load] if around.first <= j <= around.last)
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
        queue.extend(
            (j, distance + 1, committed) for j in after[i] if around.first <= j <= around.last
        )
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
    for loop in sorted(loops, key=Loop.length, reverse=True):
        for i in range(loop.first, loop.last + 1):
            if component[i] == component[loop.last]:
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
        inner = any(loop.first <= o.first and o.last <= loop.last for o in loops if o != loop)
        limit = LEAST if inner else max(LEAST, loop.length() // SHARE_OF_LOOP)
        if wait := _first_wait(kernel, after, i, outermost[i], limit):
            distance, by = wait
            address = kernel[loop.first].address
            found.append(EarlyWait(instruction, by, distance, address, loop.length()))
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


def waits_in(text: str) -> Iterator[tuple[str, list[EarlyWait]]]:
    """The kernels in what `cuobjdump -sass` prints that wait too early."""
    for mangled, kernel in listing(text):
        if found := early_waits(kernel):
            yield kernel_name(mangled), found


STRATEGIES = ("baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm")


class Accepted(NamedTuple):
    """A kernel that waits early, by its variant and a pattern for kernel_name(), and why it may."""

    variant: str
    kernel: str
    reason: str


ORIGINAL = "iso: the original loads a tile, waits for it and computes"
PRODUCERS = (
    "producer warps do nothing else: they load what their registers hold, wait for it and store it"
)
GATHERS = (
    "a thread asks for its neighbour's record when it has the index; other warps hide the wait"
)
ACCEPTED = [
    Accepted("cfd/(baseline|register_bypass|overlap|tma|dsm)", r"walk<", GATHERS),
    Accepted("cfd/(overlap|drop_off|dsm)", r"resident<", GATHERS),
    Accepted("gemm/baseline", r"original<", ORIGINAL),
    Accepted("gemm/baseline", r"specialised<.*RegisterProducer", PRODUCERS),
    Accepted("gemm/dsm", r"original<", ORIGINAL),
    Accepted("gemm/drop_off", r"original<", "iso: a row per thread, one element ahead at most"),
    Accepted(
        "gemm/overlap",
        r"specialised<.*CopyProducer",
        "at the end of the walk alone: behind the last slice a producer has no more to ask for",
    ),
    Accepted("histogram/baseline", r"baseline_original<", ORIGINAL),
    Accepted("histogram/dsm", r"dsm_original<", ORIGINAL),
    Accepted(
        "histogram/(register_bypass|overlap|drop_off)",
        r"(bypass|overlap|drop_off)_original<.*Li4E",
        "iso: keys behind the last whole step are loaded and counted one by one",
    ),
    Accepted(
        "histogram/register_bypass",
        r"walk_tiles<.*Unseen",
        "only where a counter overflowed: keys are counted again where they lie",
    ),
    Accepted("lavamd/(baseline|drop_off)", r"forces_of_box<.*OneParticle", ORIGINAL),
    Accepted("lud/baseline", r"tensor_update<.*RegisterFeed", PRODUCERS),
    Accepted(
        "lud/baseline",
        r"product<.*SolveTile",
        "warps that have nothing to multiply bring the next slice, three shares at a time",
    ),
    Accepted("lud/baseline", r"diagonal<.*ThroughRegisters", "loads the only block there is"),
    Accepted(
        "nw/baseline",
        r"bands<",
        PRODUCERS,
    ),
    Accepted("pathfinder/(baseline|dsm)", r"pyramid<", ORIGINAL),
    Accepted("pathfinder/baseline", r"copied_strips<.*HandedWall", PRODUCERS),
    Accepted(
        "pathfinder/overlap",
        r"copied_strips<.*Tall3E.*HandedWall",
        "at the end of the walk alone: behind the last stage a producer has no more to ask for",
    ),
    Accepted(
        "pathfinder/overlap",
        r"copied_strips<.*Tall3Close.*HandedWall",
        "at the end of the walk alone: behind the last stage a producer has no more to ask for",
    ),
    Accepted(
        "pathfinder/baseline",
        r"copied_strips<.*Wide8.*LoadedWall",
        "to be mended: of two rows held in registers the second is stored right after it was asked "
        "for",
    ),
]


def of_kernel(*lines: tuple[str, int, int]) -> list[tuple[int, int]]:
    """Address and distance of the early waits in a listing."""
    ((_, kernel),) = listing(written(*lines))
    return [(wait.load.address, wait.distance) for wait in early_waits(kernel)]


LOAD = ("LDG.E.128 R8, desc[UR4][R2.64]", 3, 0)
STORE = ("STS.128 [R4], R8", 7, 1 << 3)
OTHER = ("FFMA R20, R21, R22, R20", 7, 0)
AGAIN = ("@P1 BRA 0x0", 7, 0)
END = ("EXIT", 7, 0)
BARRIER = ("BAR.SYNC.DEFER_BLOCKING 0x0", 7, 0)


COPY = ("LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", 7, 0)
COMMIT = ("LDGDEPBAR", 0, 0)
DRAIN, LEAVE_ONE, LEAVE_TWO = ((f"DEPBAR.LE SB0, {left:#x}", 7, 0) for left in range(3))
SHARED, SHARED_APART = ("LDS R30, [R5]", 3, 0), ("LDS R30, [R5]", 2, 0)
USE, USE_APART = (("FADD R31, R31, R30", 7, 1 << board) for board in (3, 2))
POLL = ("LDG.E.STRONG.GPU R8, desc[UR4][R2.64]", 3, 0)
TICKET, TAKEN = ("LDG.E R30, desc[UR4][R6.64]", 2, 0), ("IADD3 R31, R30, 0x1, RZ", 7, 1 << 2)
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
        ((TICKET, TAKEN, *TILE, AGAIN, END), []),
        ((TICKET, TAKEN, NARROW_STORE, AGAIN, END), [(0x0, 1)]),
        ((TICKET, TAKEN, ("UTMALDG.2D [UR8], [UR4]", 7, 0), AGAIN, END), []),
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
def test_early_waits_are_found(
    kernel: tuple[tuple[str, int, int], ...], found: list[tuple[int, int]]
) -> None:
    assert of_kernel(*kernel) == found


def meant(variant: str, waits: list[EarlyWait]) -> list[EarlyWait]:
    """Without copies that the strategy waits for at once: Algorithm 1."""
    if not variant.endswith("/register_bypass"):
        return waits
    return [wait for wait in waits if not wait.load.operation.startswith("LDGSTS")]


@pytest.mark.skipif(CUOBJDUMP is None, reason="needs cuobjdump")
@pytest.mark.skipif("90a" not in architectures(), reason="the build has no machine code for sm_90a")
def test_no_kernel_waits_for_what_it_has_just_asked_for() -> None:
    files = {
        f"{file.parent.name}/{file.name.removesuffix('.cu.o')}": file for file in objects("apps")
    }
    variants = {name: file for name, file in files.items() if name.split("/")[1] in STRATEGIES}
    assert variants, "the build has no variants"
    findings, needed = [], set()
    with ThreadPoolExecutor() as pool:  # most of the time is the disassembler's
        texts = pool.map(code_for_90a, variants.values())
    for variant, text in zip(variants, texts, strict=True):
        for kernel, waits in waits_in(text):
            waits = meant(variant, waits)
            accepted = {
                a
                for a in ACCEPTED
                if re.fullmatch(a.variant, variant) and re.match(a.kernel, kernel)
            }
            needed |= accepted if waits else set()
            if waits and not accepted:
                findings += [f"{variant}: {kernel}: {wait}" for wait in waits]
    assert findings == []
    gone = [
        a
        for a in ACCEPTED
        if a not in needed and any(re.fullmatch(a.variant, variant) for variant in variants)
    ]
    assert gone == [], "these wait early no more: take them off the list"
