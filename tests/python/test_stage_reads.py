"""Stages that bulk copies refill are read to the end before they are handed back."""

import re
from pathlib import Path

import pytest
from machine_code import (
    CUOBJDUMP,
    architectures,
    code_for_90a,
    example_objects,
    kept_code,
    listing,
    objects,
    overtaken_reads,
    written,
)

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


BARRIER = ("BAR.SYNC.DEFER_BLOCKING 0x0", 7, 0)
MATRIX = ("LDSM.16.M88.4 R8, [R7]", 2, 0)
WAITING = (ARRIVE[0], 7, 1 << 2)
FENCE = ("FENCE.VIEW.ASYNC.S", 7, 0)
DRAINED, DRAINED_OTHER = ((f"DEPBAR.LE SB{board}, 0x0", 7, 0) for board in (2, 1))
USE_OF_OTHER = ("FADD R5, R5, R11", 7, 1 << 3)
# The value is used in an inner loop; on the way out, past the arrival, one is loaded anew.
INNER, OUTER = ("@P1 BRA 0x10", 7, 0), ("@P2 BRA 0x0", 7, 0)
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
        ((COPY, LOAD, ARRIVE, USE, AGAIN, END), [(0x20, [0x10])]),
        ((COPY, LOAD, BARRIER, USE, AGAIN, END), [(0x20, [0x10])]),
        ((COPY, MATRIX, ARRIVE, USE, AGAIN, END), [(0x20, [0x10])]),
        # One that came, or is fenced.
        ((COPY, LOAD, USE, ARRIVE, AGAIN, END), []),
        ((COPY, LOAD, WAITING, USE, AGAIN, END), []),
        ((COPY, LOAD, DRAINED, ARRIVE, AGAIN, END), []),
        ((COPY, LOAD, FENCE, ARRIVE, USE, AGAIN, END), []),
        # Another scoreboard is no wait.
        ((COPY, LOAD, USE_OF_OTHER, ARRIVE, USE, AGAIN, END), [(0x30, [0x10])]),
        ((COPY, LOAD, DRAINED_OTHER, ARRIVE, USE, AGAIN, END), [(0x30, [0x10])]),
        # What is not needed may be overtaken.
        ((COPY, USE, LOAD, INNER, ARRIVE, LOAD, OUTER, END), []),
        ((COPY, USE, LOAD, INNER, ARRIVE, ANOTHER, OUTER, END), [(0x40, [0x20])]),
        ((COPY, USE, LOAD, INNER, ARRIVE, GUARDED, OUTER, END), [(0x40, [0x20])]),
        ((COPY, LOAD, ARRIVE, ANEW, ANEW_USED, AGAIN, END), []),
        ((COPY, LOAD, ARRIVE, ANEW, USE, AGAIN, END), [(0x20, [0x10])]),
        ((COPY, LOAD, ARRIVE, ANEW, SET_ANEW, ANEW_USED, AGAIN, END), [(0x20, [0x10])]),
        ((COPY, LOAD, ARRIVE, ANEW, OTHERWISE, USE, AGAIN, END), []),
        # A branch tells which value its predicate has.
        ((COPY, WIDE, ARRIVE, W_ANEW, TAKEN, ZERO, W_USED, AGAIN, END), []),
        ((COPY, WIDE, ARRIVE, W_OTHER, TAKEN, ZERO, W_USED, AGAIN, END), [(0x20, [0x10])]),
        (
            (COPY, WIDE, ARRIVE, W_ANEW, TAKEN_OTHER, ZERO, W_USED, AGAIN, END),
            [(0x20, [0x10])],
        ),
        (
            (COPY, WIDE, ARRIVE, W_ANEW, TAKEN, NARROW_ZERO, W_USED, AGAIN, END),
            [(0x20, [0x10])],
        ),
        # Only what a copy can follow counts, on every way to the arrival.
        ((COPY, LOAD, ARRIVE, USE, END), []),
        ((COPY, SKIP_LOAD, LOAD, ARRIVE, USE, AGAIN, END), [(0x30, [0x20])]),
        ((COPY, LOAD, SKIP_USE, USE, ARRIVE, USE, AGAIN, END), [(0x40, [0x10])]),
        ((COPY, LOAD, UNIFORM, USE, ARRIVE, USE, AGAIN, END), [(0x40, [0x10])]),
        ((COPY, ARRIVE, USE, LOAD, AGAIN, END), [(0x10, [0x30])]),  # round the loop
    ],
)
def test_overtaken_reads_are_found(
    kernel: tuple[tuple[str, int, int], ...], found: list[tuple[int, list[int]]]
) -> None:
    assert reported(*kernel) == found


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
