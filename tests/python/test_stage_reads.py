"""Stages that bulk copies refill are read to the end before they are handed back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_code import (
    CUOBJDUMP,
    architectures,
    code_for_90a,
    example_objects,
    kept_code,
    objects,
    written,
)
from machine_code import listing, overtaken_reads

OBJECTS = objects("apps") + objects("microbench") + example_objects()


def may_copy_in_bulk(file: Path) -> bool:
    """False if the PTX that the build kept of an object has none: to disassemble takes long."""
    texts = [p.read_text() for p in kept_code(file).glob(f"{file.name.removesuffix('.cu.o')}.*ptx")]
    return not texts or any("cp.async.bulk" in text for text in texts)


def reported(*lines: tuple[str, int, int]) -> list[tuple[int, list[int]]]:
    ((name, kernel),) = listing(written(*lines))
    assert name == "kernel" and len(kernel) == len(lines)
    return [(instruction.address, loads) for instruction, loads in overtaken_reads(kernel)]


COPY = ("@P0 UBLKCP.S.G [UR8], [UR4], UR7", 7, 0)
LOAD = ("LDS R10, [R4+UR8]", 2, 0)
USE = ("FADD R5, R5, R10", 7, 1 << 2)
ARRIVE = ("@!P3 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR6], RZ", 7, 0)
AGAIN = ("@P1 BRA 0x0", 7, 0)
END = ("EXIT", 7, 0)


def test_a_read_under_way_at_the_arrival_is_found() -> None:
    assert reported(COPY, LOAD, ARRIVE, USE, AGAIN, END) == [(0x20, [0x10])]
    barrier = ("BAR.SYNC.DEFER_BLOCKING 0x0", 7, 0)
    assert reported(COPY, LOAD, barrier, USE, AGAIN, END) == [(0x20, [0x10])]
    matrix = ("LDSM.16.M88.4 R8, [R7]", 2, 0)
    assert reported(COPY, matrix, ARRIVE, USE, AGAIN, END) == [(0x20, [0x10])]


def test_a_read_that_came_is_no_finding() -> None:
    assert reported(COPY, LOAD, USE, ARRIVE, AGAIN, END) == []
    waiting = (ARRIVE[0], 7, 1 << 2)
    assert reported(COPY, LOAD, waiting, USE, AGAIN, END) == []
    assert reported(COPY, LOAD, ("DEPBAR.LE SB2, 0x0", 7, 0), ARRIVE, AGAIN, END) == []
    assert reported(COPY, LOAD, ("FENCE.VIEW.ASYNC.S", 7, 0), ARRIVE, USE, AGAIN, END) == []


def test_another_scoreboard_is_no_wait() -> None:
    other = ("FADD R5, R5, R11", 7, 1 << 3)
    assert reported(COPY, LOAD, other, ARRIVE, USE, AGAIN, END) == [(0x30, [0x10])]
    drained = ("DEPBAR.LE SB1, 0x0", 7, 0)
    assert reported(COPY, LOAD, drained, ARRIVE, USE, AGAIN, END) == [(0x30, [0x10])]


def test_a_load_ahead_that_is_not_needed_may_be_overtaken() -> None:
    again = ("@P1 BRA 0x10", 7, 0)
    outer = ("@P2 BRA 0x0", 7, 0)
    # The value is used in the inner loop; on the way out, past the arrival, it is loaded anew.
    lines = (COPY, USE, LOAD, again, ARRIVE, LOAD, outer, END)
    assert reported(*lines) == []
    kept = ("LDS R11, [R4+UR8]", 2, 0)
    assert reported(*(kept if i == 5 else line for i, line in enumerate(lines))) == [(0x40, [0x20])]
    guarded = ("@P4 LDS R10, [R4+UR8]", 2, 0)
    assert reported(*(guarded if i == 5 else line for i, line in enumerate(lines))) == [
        (0x40, [0x20])
    ]


def test_a_value_loaded_anew_under_a_predicate_is_needed_under_others() -> None:
    anew, use = ("@!P4 LDG R10, [R2]", 7, 0), ("@!P4 FADD R5, R5, R10", 7, 0)
    set_anew = ("ISETP.NE.AND P4, PT, R3, RZ, PT", 7, 0)
    assert reported(COPY, LOAD, ARRIVE, anew, use, AGAIN, END) == []
    assert reported(COPY, LOAD, ARRIVE, anew, USE, AGAIN, END) == [(0x20, [0x10])]
    assert reported(COPY, LOAD, ARRIVE, anew, set_anew, use, AGAIN, END) == [(0x20, [0x10])]
    otherwise = ("@P4 LDG R10, [R2]", 7, 0)
    assert reported(COPY, LOAD, ARRIVE, anew, otherwise, USE, AGAIN, END) == []


def test_a_branch_says_which_value_its_predicate_has() -> None:
    # Loaded anew under P4, or set to zero behind a branch that is taken under P4.
    anew, taken, zero = ("@P4 LDG.E.64 R10, [R2]", 7, 0), "@P4 BRA 0x60", ("CS2R R10, SRZ", 7, 0)
    wide, use = ("LDS.64 R10, [R4+UR8]", 2, 0), ("FADD R5, R5, R11", 7, 0)
    lines = (COPY, wide, ARRIVE, anew, (taken, 7, 0), zero, use, AGAIN, END)
    assert reported(*lines) == []
    for i, other in {
        3: ("@P5 LDG.E.64 R10, [R2]", 7, 0),
        4: ("@P5 BRA 0x60", 7, 0),
        5: ("CS2R.32 R10, SRZ", 7, 0),
    }.items():
        assert reported(*(other if n == i else line for n, line in enumerate(lines))) == [
            (0x20, [0x10])
        ], i


@pytest.mark.parametrize(
    ("load", "use", "found"),
    [
        ("LDS.128 R8, [R4]", "FADD R5, R5, R11", True),
        ("LDS.128 R8, [R4]", "FADD R5, R5, R12", False),
        ("LDS.64 R8, [R4]", "STG.E.64 desc[UR4][R2.64], R8", True),
        ("LDS R9, [R4]", "STG.E.64 desc[UR4][R2.64], R8", True),
        ("LDS R9, [R4]", "STG.E desc[UR4][R2.64], R8", False),
        ("LDS R3, [R4]", "STG.E desc[UR4][R2.64], R8", True),
        ("LDS R9, [R4]", "DADD R6, R6, R8", True),
        ("LDSM.16.M88.4 R8, [R4]", "HMMA.16816.F32 R24, R8, R16, R24", True),
        ("LDS R9, [R4]", "ISETP.GE.AND P1, PT, R9, UR5, PT", True),
        ("LDS R9, [R4]", "MOV R9, R3", False),
        ("LDS R9, [R4]", "STS.128 [R8], R16", False),
        ("LDS R9, [R4]", "STS.128 [R9], R16", True),
        ("LDS R9, [R4]", "STS.128 [R20], R8", True),
        ("LDS R9, [R4]", "STG.E.128 desc[UR4][R8.64], R16", True),
        ("LDS R9, [R4]", "LOP3.LUT P0, R9, R3, 0x3, RZ, 0xc0, !PT", False),
        ("LDS R9, [R4]", "LOP3.LUT P0, RZ, R9, 0x3, RZ, 0xc0, !PT", True),
        ("LDS R9, [R4]", "SHFL.IDX PT, R9, R3, RZ, 0x1f", False),
        ("LDS R9, [R4]", "SHFL.IDX P0, R12, R9, RZ, 0x1f", True),
    ],
)
def test_registers_of_wide_values(load: str, use: str, found: bool) -> None:
    lines = (COPY, (load, 2, 0), ARRIVE, (use, 7, 0), ("MOV R9, RZ", 7, 0), AGAIN, END)
    assert bool(reported(*lines)) == found


def test_only_what_a_copy_can_follow_counts() -> None:
    assert reported(COPY, LOAD, ARRIVE, USE, END) == []  # no way back to the copy


def test_every_way_to_the_arrival_counts() -> None:
    # The load is skipped, or waited for, on one of two ways.
    skip = ("@P2 BRA 0x30", 7, 0)
    assert reported(COPY, skip, LOAD, ARRIVE, USE, AGAIN, END) == [(0x30, [0x20])]
    skip_use = ("@P2 BRA 0x40", 7, 0)
    assert reported(COPY, LOAD, skip_use, USE, ARRIVE, USE, AGAIN, END) == [(0x40, [0x10])]
    uniform = ("BRA.U UP1, 0x40", 7, 0)
    assert reported(COPY, LOAD, uniform, USE, ARRIVE, USE, AGAIN, END) == [(0x40, [0x10])]
    # Carried round the loop.
    assert reported(COPY, ARRIVE, USE, LOAD, AGAIN, END) == [(0x10, [0x30])]


@pytest.mark.skipif(CUOBJDUMP is None, reason="needs cuobjdump")
@pytest.mark.skipif("90a" not in architectures(), reason="the build has no machine code for sm_90a")
def test_no_kernel_hands_back_a_stage_before_its_reads_came() -> None:
    kernels, findings = 0, []
    bulk = re.compile(r"UTMALDG|UBLKCP")
    for file in filter(may_copy_in_bulk, OBJECTS):
        text = code_for_90a(file)
        if not bulk.search(text):
            continue
        for name, kernel in listing(text):
            kernels += any(bulk.search(i.text) for i in kernel)
            findings += [
                f"{file.parent.name}/{file.name}: {name}: {i.text} at {i.address:#x}, loads at "
                + ", ".join(f"{a:#x}" for a in loads)
                for i, loads in overtaken_reads(kernel)
            ]
    assert findings == []
    assert kernels > 0  # the listings were read, and their bulk copies known
