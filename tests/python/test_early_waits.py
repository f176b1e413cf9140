"""No kernel waits for a tile that it has just asked for, but those that are meant to."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from built_code import CUOBJDUMP, architectures, code_for_90a, objects, written
from early_waits import EarlyWait, bytes_at_once, early_waits, kernel_name, summary, waits_in
from machine_code import Instruction, listing

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
ACCEPTED = [
    Accepted("gemm/baseline", r"original<", ORIGINAL),
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
    Accepted("histogram/(baseline|overlap)", r"with_producers<", PRODUCERS),
    Accepted("hotspot/baseline", r"baseline_strip<.*MovementILi[23]E.*ELi4EEE", PRODUCERS),
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


def test_a_load_stored_at_once_is_found() -> None:
    assert of_kernel(LOAD, STORE, AGAIN, END) == [(0x0, 1)]
    assert of_kernel(LOAD, *[OTHER] * 14, STORE, AGAIN, END) == [(0x0, 15)]
    assert of_kernel(LOAD, *[OTHER] * 15, STORE, AGAIN, END) == []


def test_a_load_ahead_of_the_work_is_none() -> None:
    # Stored in the next round, behind the work.
    assert of_kernel(STORE, LOAD, *[OTHER] * 20, BARRIER, AGAIN, END) == []
    assert of_kernel(LOAD, *[OTHER] * 20, STORE, AGAIN, END) == []


def test_a_long_loop_has_to_wait_later() -> None:
    work = [OTHER] * 1000
    assert of_kernel(LOAD, *[OTHER] * 40, STORE, *work, AGAIN, END) == [(0x0, 41)]
    assert of_kernel(LOAD, *[OTHER] * 80, STORE, *work, AGAIN, END) == []
    # Of a loop around others the length says nothing.
    tile = (LOAD, *[OTHER] * 40, STORE, ("LDS R30, [R5]", 2, 0))
    inner = (f"@P2 BRA {16 * (len(tile) - 1):#x}", 7, 0)
    assert of_kernel(*tile, inner, *work, AGAIN, END) == []


def test_whoever_waits_for_the_scoreboard_waits_for_the_load() -> None:
    # A load from shared memory has set the same one; its user comes soon, that of the tile late.
    shared = ("LDS R30, [R5]", 3, 0)
    uses_it = ("FADD R31, R31, R30", 7, 1 << 3)
    late = (*[OTHER] * 40, STORE, AGAIN, END)
    assert of_kernel(shared, LOAD, uses_it, *late) == [(0x10, 1)]
    apart = ("LDS R30, [R5]", 2, 0)
    assert of_kernel(apart, LOAD, ("FADD R31, R31, R30", 7, 1 << 2), *late) == []
    assert of_kernel(LOAD, ("DEPBAR.LE SB3, 0x0", 7, 0), *late) == [(0x0, 1)]
    assert of_kernel(LOAD, ("DEPBAR.LE SB2, 0x0", 7, 0), *late) == []


def test_a_wait_where_ways_join_is_found() -> None:
    # The load is made again under a condition; behind it the ways join, with a wait.
    skip, joined = ("@P2 BRA 0x30", 7, 0), ("MOV R30, R31", 7, 1 << 3)
    again = ("@P1 BRA 0x0", 7, 0)
    late = [OTHER] * 40
    assert of_kernel(LOAD, skip, LOAD, joined, *late, STORE, again, END) == [(0x0, 2), (0x20, 1)]


def test_only_loops_count() -> None:
    assert of_kernel(LOAD, STORE, END) == []
    # Loaded in a loop before the tiles, waited for behind it.
    fill = ("@P1 BRA 0x0", 7, 0)
    assert of_kernel(LOAD, fill, STORE, END) == []
    # The same within a loop over tiles.
    assert of_kernel(LOAD, fill, STORE, ("@P2 BRA 0x0", 7, 0), END) == [(0x0, 2)]


def test_what_follows_a_loop_is_not_in_it() -> None:
    # The second try of the loop's wait stands behind the kernel, the tile's load in between.
    first_try, again = ("@!P0 BRA 0x1b0", 7, 0), ("@P1 BRA 0x0", 7, 0)
    lines = [OTHER, OTHER, first_try, *[OTHER] * 20, again, LOAD, STORE, END]
    assert len(lines) == 0x1B0 // 16
    assert of_kernel(*lines, OTHER, ("BRA 0x30", 7, 0)) == []
    # The same branch back from code that the loop's body leads to.
    body = [OTHER, OTHER, first_try, *[OTHER] * 20, OTHER, LOAD, STORE, ("@P1 BRA 0x30", 7, 0)]
    assert of_kernel(*body, OTHER, ("BRA 0x30", 7, 0)) == [(0x180, 1)]


def test_polling_is_waiting_by_intent() -> None:
    poll = ("LDG.E.STRONG.GPU R8, desc[UR4][R2.64]", 3, 0)
    waits = ("ISETP.NE.AND P1, PT, R8, RZ, PT", 7, 1 << 3)
    shared = ("STS [R4], R20", 7, 0)
    assert of_kernel(poll, waits, AGAIN, shared, END) == []
    assert of_kernel(poll, waits, ("@P1 BRA 0x0", 7, 0), LOAD, *[OTHER] * 20, STORE) == []


def test_narrow_loads_beside_wide_ones_bring_no_tile() -> None:
    ticket = ("LDG.E R30, desc[UR4][R6.64]", 2, 0)
    taken = ("IADD3 R31, R30, 0x1, RZ", 7, 1 << 2)
    tile = (LOAD, *[OTHER] * 20, STORE)
    assert of_kernel(ticket, taken, *tile, AGAIN, END) == []
    assert of_kernel(ticket, taken, ("STS [R4], R20", 7, 0), AGAIN, END) == [(0x0, 1)]
    bulk = ("UTMALDG.2D [UR8], [UR4]", 7, 0)
    assert of_kernel(ticket, taken, bulk, AGAIN, END) == []


def test_kernels_without_shared_memory_move_no_tiles() -> None:
    store = ("STG.E.128 desc[UR4][R6.64], R8", 7, 1 << 3)
    assert of_kernel(LOAD, store, AGAIN, END) == []


def test_the_code_for_diverged_warps_is_no_way() -> None:
    aside = ("BRA.DIV UR4, 0x150", 7, 0)
    back = ("BRA 0x20", 7, 0)
    wait = ("WARPSYNC.COLLECTIVE R9, 0x160", 7, 1 << 3)
    lines = [LOAD, aside, *[OTHER] * 17, STORE, AGAIN, wait, back]
    assert lines.index(wait) == 0x150 // 16
    assert of_kernel(*lines) == []


COPY = ("LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", 7, 0)
COMMIT = ("LDGDEPBAR", 0, 0)


def drain(left: int) -> tuple[str, int, int]:
    return (f"DEPBAR.LE SB0, {left:#x}", 7, 0)


def test_a_copy_waited_for_at_once_is_found() -> None:
    assert of_kernel(COPY, COMMIT, drain(0), BARRIER, AGAIN, END) == [(0x0, 2)]
    late = (COPY, COMMIT, *[OTHER] * 20)
    assert of_kernel(*late, drain(0), BARRIER, AGAIN, END) == []


def test_groups_that_may_stay_are_not_waited_for() -> None:
    work = [OTHER] * 20
    assert of_kernel(COPY, COMMIT, drain(1), BARRIER, *work, AGAIN, END) == []
    # Not in this round, and in the next one behind the work.
    short = [OTHER] * 5
    assert of_kernel(COPY, COMMIT, drain(1), BARRIER, *short, AGAIN, END) == [(0x0, 12)]
    assert of_kernel(COPY, COMMIT, drain(2), BARRIER, *short, AGAIN, END) == []
    # A wait before the commit is for others.
    assert of_kernel(COPY, drain(0), COMMIT, *work, AGAIN, END) == []
    # What is drained when all is done has nothing to hide behind.
    assert of_kernel(COPY, COMMIT, *work, drain(1), AGAIN, drain(0), END) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("LDG.E.128.CONSTANT R8, desc[UR4][R2.64]", 16),
        ("LDG.E.EF.64 R8, desc[UR4][R2.64]", 8),
        ("LD.E R8, [R2]", 4),
        ("LDG.E.U16 R8, desc[UR4][R2.64]", 2),
        ("@P0 LDG.E.U8 R8, desc[UR4][R2.64]", 1),
        ("LDGSTS.E.BYPASS.128 [R4], desc[UR4][R2.64]", 16),
        ("UBLKCP.S.G [UR8], [UR4], UR7", 16),
        ("LDG.E.64.STRONG.GPU R8, desc[UR4][R2.64]", 0),
        ("LDS.128 R8, [R4]", 0),
        ("LDGDEPBAR", 0),
        ("FADD R8, R9, R10", 0),
    ],
)
def test_what_a_load_brings(text: str, size: int) -> None:
    assert bytes_at_once(Instruction(0, text, 7, 0)) == size


def test_names_without_the_folder_of_the_build() -> None:
    unnamed = "_ZN6amasia2nw49_GLOBAL__N__7568d882_11_baseline_cu_4052b07b_56515bands"
    assert kernel_name(unnamed + "INS0_5BandsILi4EEEEEvNS0_7BandRunE") == (
        "bands<INS0_5BandsILi4EEEEEvNS0_7BandRunE>"
    )
    assert kernel_name("_Z6kernelPf") == "kernel<Pf>"


def test_the_summary_names_the_nearest_wait_of_each_loop() -> None:
    text = written(LOAD, LOAD, *[OTHER] * 3, STORE, AGAIN, END)
    ((name, waits),) = waits_in(text.replace(": kernel", ": _Z6kernelPf"))
    assert name == "kernel<Pf>"
    assert summary(waits) == (
        "2 in the loop of 7 at 0x0: LDG.E.128 R8, desc[UR4][R2.64] at 0x10 after 4 by "
        "STS.128 [R4], R8"
    )


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
