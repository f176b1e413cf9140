"""How long a turn of a loop takes a warp that has its scheduler for itself, by machine code.

The assembler writes into each instruction how many cycles later the next one may issue, which for
what takes a fixed number of cycles is all there is to know, and which scoreboards it waits for.
Those are released after a latency that depends on where data lies; here after as many cycles as
what is close takes, so that what has to come from L2 or memory is left out. From this the model of
docs/prediction.md has cycles of rows and of copies (plots/prediction/traits.py), and a test holds
its constants against the code.

Taken is the code between a backward branch and its target, in order: what a branch skips counts, so
that the loops to look at are those without other ways inside. Loops of which the code for diverged
warps is part are none.

`python tests/python/loop_cycles.py FILE... [--kernel PATTERN]` prints the loops of cubins and
object files for sm_90a: instructions, address, cycles.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from early_waits import kernel_name
from machine_code import Instruction, disassemble, listing

# Cycles until a scoreboard is released, by the first word of an operation. A read of shared memory
# is dsm/latency of the suite; no microbenchmark of it has shuffles and the rest.
LATENCIES = {"LDS": 33, "SHFL": 24}
OTHER_LATENCY = 20
OPERANDS_READ = 12
_SCOREBOARDS = 6
_TURNS = 4  # until a turn is as long as the one before


def loops(kernel: Sequence[Instruction]) -> Iterator[Sequence[Instruction]]:
    """The code of each backward branch, from its target on."""
    index = {instruction.address: i for i, instruction in enumerate(kernel)}
    for i, instruction in enumerate(kernel):
        target, _ = instruction.successors()
        if target is None or instruction.operation.startswith("BRA.DIV"):
            continue
        if target in index and index[target] <= i:
            yield kernel[index[target] : i + 1]


def cycles(loop: Sequence[Instruction]) -> int:
    """Of a turn, when others went before."""
    now, begun = 0, 0
    free = [0] * _SCOREBOARDS
    for _ in range(_TURNS):
        begun = now
        for instruction in loop:
            waited = [free[i] for i in range(_SCOREBOARDS) if instruction.waits >> i & 1]
            now = max([now, *waited])
            word = re.split(r"[.\s]", instruction.operation, maxsplit=1)[0]
            if instruction.sets < _SCOREBOARDS:
                there = now + LATENCIES.get(word, OTHER_LATENCY)
                free[instruction.sets] = max(free[instruction.sets], there)
            if instruction.holds < _SCOREBOARDS:
                free[instruction.holds] = max(free[instruction.holds], now + OPERANDS_READ)
            now += max(1, instruction.stall)
    return now - begun


def count(loop: Sequence[Instruction], word: str) -> int:
    """Instructions of an operation such as SHFL, with all its forms."""
    return sum(bool(re.match(rf"{word}\b", i.operation)) for i in loop)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--kernel", default="", metavar="PATTERN", help="only kernels that match")
    options = parser.parse_args(arguments)
    cuobjdump = shutil.which("cuobjdump")
    if cuobjdump is None:
        print("needs cuobjdump on PATH", file=sys.stderr)
        return 2
    for file in options.files:
        for mangled, kernel in listing(disassemble(cuobjdump, file, "sm_90a")):
            name = kernel_name(mangled)
            if not re.search(options.kernel, name):
                continue
            for loop in loops(kernel):
                print(
                    f"{file.name} {name}: {len(loop)} instructions at {loop[0].address:#x}, "
                    f"{cycles(loop)} cycles"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
