"""Loads that are waited for too early, in machine code.

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

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from machine_code import Instruction, listing, ways
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


def summary(waits: list[EarlyWait]) -> str:
    """The nearest wait of each loop."""
    nearest: dict[int, EarlyWait] = {}
    for wait in sorted(waits, key=lambda w: w.distance, reverse=True):
        nearest[wait.loop] = wait
    return "; ".join(
        f"{sum(w.loop == loop for w in waits)} in the loop of {w.loop_length} at {loop:#x}: "
        f"{w.load.operation} at {w.load.address:#x} after {w.distance} by {w.by.operation}"
        for loop, w in sorted(nearest.items())
    )
