"""No kernel waits for a tile that it has just asked for, but those that are meant to."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from early_waits import EarlyWait, early_waits, summary, waits_in
from machine_code import (
    CUOBJDUMP,
    architectures,
    code_for_90a,
    listing,
    objects,
    written,
)

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
    Accepted("cfd/(baseline|register_bypass|overlap|tma|dsm)", r"\w+_stage<", GATHERS),
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
                findings.append(f"{variant}: {kernel}: {summary(waits)}")
    assert findings == []
    gone = [
        a
        for a in ACCEPTED
        if a not in needed and any(re.fullmatch(a.variant, variant) for variant in variants)
    ]
    assert gone == [], "these wait early no more: take them off the list"
