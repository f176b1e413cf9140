"""Cycles of loops in machine code, and what the model of prediction has from them."""

from __future__ import annotations

import re
import statistics

import pytest
from built_code import CUOBJDUMP, architectures, code_for_90a, objects, written
from early_waits import kernel_name
from loop_cycles import count, cycles, loops
from machine_code import Instruction, listing

from plots.data.strategies import NAMES
from plots.prediction import traits

ADD = ("FADD R8, R8, R9", 7, 0)
AGAIN = ("@P1 BRA 0x0", 7, 0)
END = ("EXIT", 7, 0)


def turn(*lines: tuple[str, int, int], stall: int = 1) -> int:
    """Cycles of the only loop of a listing."""
    ((_, kernel),) = listing(written(*lines, stall=stall))
    (loop,) = loops(kernel)
    return cycles(loop)


def test_a_turn_takes_the_stalls_of_its_instructions() -> None:
    assert turn(ADD, ADD, AGAIN, END) == 3
    assert turn(ADD, ADD, AGAIN, END, stall=5) == 15


def test_a_wait_lasts_until_what_was_asked_for_is_there() -> None:
    read = ("LDS R8, [R4]", 2, 0)
    use = ("FADD R10, R8, R9", 7, 1 << 2)
    assert turn(read, use, AGAIN, END) == 33 + 2
    # Behind as much other work nothing is left to wait for.
    assert turn(read, *[ADD] * 40, use, AGAIN, END) == 43
    shuffle = ("SHFL.UP PT, R8, R8, 0x1, RZ", 2, 0)
    assert turn(shuffle, use, AGAIN, END) == 24 + 2
    # Read in this turn for the next one.
    ahead = ("FADD R10, R8, R9", 7, 1 << 2), read, *[ADD] * 20
    assert turn(*ahead, AGAIN, END) == 33 + 1


def test_operands_are_held_until_they_are_read() -> None:
    store = Instruction(0, "STS [R4], R8", 7, 0, 1, 3)
    overwrite = Instruction(16, "FADD R8, R9, R9", 7, 1 << 3)
    again = Instruction(32, "@P1 BRA 0x0", 7, 0)
    assert cycles([store, overwrite, again]) == 12 + 2


def test_loops_are_those_of_backward_branches() -> None:
    inner = ("@P2 BRA 0x10", 7, 0)
    ((_, kernel),) = listing(written(ADD, ADD, inner, AGAIN, ("BRA.DIV UR4, 0x0", 7, 0), END))
    assert [len(loop) for loop in loops(kernel)] == [2, 4]
    assert [count(loop, "FADD") for loop in loops(kernel)] == [1, 2]
    assert count([Instruction(0, "LDGSTS.E [R4], [R2]", 7, 0)], "LDG") == 0


def kernels_of(variant: str, pattern: str) -> list[list[Instruction]]:
    """The kernels of a variant whose names match."""
    app, _, strategy = variant.partition("/")
    name = f"{strategy}.cu.o"
    (file,) = [f for f in objects("apps") if f.parent.name == app and f.name == name]
    return [
        kernel
        for mangled, kernel in listing(code_for_90a(file))
        if re.search(pattern, kernel_name(mangled))
    ]


def listed(variant: str, pattern: str) -> list[list[Instruction]]:
    """The loops of the kernel of a variant whose name matches."""
    (kernel,) = kernels_of(variant, pattern)
    return [list(loop) for loop in loops(kernel)]


needs_code = pytest.mark.skipif(
    CUOBJDUMP is None or "90a" not in architectures(),
    reason="needs cuobjdump and a build with machine code for sm_90a",
)


@needs_code
def test_a_row_of_tall_strips_takes_as_long_as_the_model_has_it() -> None:
    # A stage of 14 rows and one of 18, half of a halo each, so that no exchange is in the loop. A
    # row has three shuffles. Of two such loops the longer is for blocks at the edge.
    taken = {}
    for rows, pattern in (
        (14, "Tall2.*MovementILi14ELi4ELi2E"),
        (18, "Tall3E.*MovementILi18ELi5E"),
    ):
        found = [
            loop
            for loop in listed("pathfinder/overlap", pattern)
            if count(loop, "SHFL") == 3 * rows and count(loop, "BAR") == 2
        ]
        taken[rows] = min(cycles(loop) for loop in found)
    assert (taken[18] - taken[14]) / 4 == pytest.approx(traits._TALL_ROW, abs=2)


@needs_code
def test_producers_of_bands_take_as_long_as_the_model_has_it() -> None:
    pieces = {}
    for batch, warps in ((2, 6), (1, 6), (2, 3)):
        pattern = f"Bands128x32ELi{batch}ELi4ELi1E.*WarpsILi{warps}E"
        (loop,) = [
            loop
            for loop in listed("nw/register_bypass", pattern)
            if count(loop, "LDGSTS") and count(loop, "STG") and not count(loop, "SHFL")
        ]
        pieces[batch, warps] = cycles(loop) / count(loop, "LDGSTS")
    assert min(pieces.values()) < traits._NW_MOVED < max(pieces.values()), pieces
    assert all(60 < piece < 135 for piece in pieces.values()), pieces


@needs_code
def test_producers_of_strips_take_as_long_as_the_model_has_it() -> None:
    pieces = {}
    for movement in ("MiddleCloseENS0_8MovementILi8E", "Tall2ENS0_8MovementILi14E"):
        (loop,) = [
            loop
            for loop in listed("pathfinder/register_bypass", f"{movement}.*HandedWall")
            if count(loop, "LDGSTS") and not count(loop, "SHFL")
        ]
        pieces[movement] = cycles(loop) / count(loop, "LDGSTS")
    assert min(pieces.values()) < traits._STRIP_COPIED < max(pieces.values()), pieces


@needs_code
def test_straight_code_of_nws_tiles_takes_as_long_as_the_model_has_it() -> None:
    stalls = []
    for strategy in NAMES:
        for kernel in kernels_of(f"nw/{strategy}", "^diagonal"):
            inside = {i.address for loop in loops(kernel) for i in loop}
            outside = [
                max(1, i.stall)
                for i in kernel
                if i.address not in inside and not i.operation.startswith("NOP")
            ]
            stalls.append(statistics.mean(outside))
    assert len(stalls) >= 2 * len(NAMES)
    assert statistics.median(stalls) == pytest.approx(traits._STRAIGHT, abs=0.2)
