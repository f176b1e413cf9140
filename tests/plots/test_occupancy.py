"""The page occupancy.md, and that registers make no difference at iso but where it is known."""

from __future__ import annotations

import pytest
import synthetic
from whole_record import whole_record

from plots.data.load import Results, load
from plots.judge import occupancy
from plots.judge.occupancy import (
    BARRIERS,
    CLUSTERS,
    REGISTERS,
    SHARED,
    THREADS,
    Kernel,
    kernels_of,
    limited_by,
)
from plots.judge.residency import MOST_BLOCKS, blocks_by_registers

# An H100. Of shared memory each block has 1024 bytes beside its own.
DEVICE = {
    "registers_per_sm": 65536, "max_threads_per_sm": 2048, "shared_per_sm": 233472,
    "shared_reserved": 1024,
}  # fmt: skip

# Where an SM holds fewer blocks of a strategy or of the baseline because of registers, although
# iso and its controls are to be compared like with like, and why that is still so.
KNOWN_AT_ISO = {
    ("lud", "iso-walk", "register_bypass"): "32 are no faster: lud/README.md",
    ("lud", "iso-walk", "overlap"): "as register_bypass",
    ("lud", "iso-walk", "drop_off"): "as register_bypass",
    ("lud", "iso-walk", "dsm"): "as register_bypass",
    # The next tile's two cells wait in registers of the baseline: 36, six blocks on an SM.
    ("hotspot", "iso-walk", "register_bypass"): "the baseline has 36: hotspot/README.md",
    ("hotspot", "iso-walk", "overlap"): "as register_bypass",
    ("hotspot", "iso-walk", "drop_off"): "as register_bypass",
    ("pathfinder", "iso", "overlap"): "39; 32 are slower: pathfinder/README.md",
    ("pathfinder", "iso-dependent", "overlap"): "as at iso",
    # 240 blocks in all, as in the CUDA sample: two on an SM.
    ("histogram", "iso", "register_bypass"): "the baseline's 16 bytes a step; 240 blocks in all",
    ("histogram", "iso", "overlap"): "as register_bypass",
    ("histogram", "iso", "drop_off"): "as register_bypass",
    ("histogram", "iso", "tma"): "as register_bypass",
}


@pytest.fixture(scope="module")
def recorded() -> Results:
    return whole_record()


def test_registers_make_no_difference_at_iso_but_where_it_is_known(recorded):
    found = {
        (d.app, d.schedule, d.strategy)
        for d in occupancy.differences(recorded)
        if d.schedule.startswith("iso") and REGISTERS in d.why
    }
    assert found == set(KNOWN_AT_ISO)


@pytest.mark.parametrize(
    ("mine", "theirs", "why"),
    [
        ((34, 16384, 1024, 1, 1), (32, 8192, 1024, 2, 1), (REGISTERS,)),
        ((32, 8192, 1024, 2, 1), (34, 16384, 1024, 1, 1), (REGISTERS,)),  # whichever has fewer
        ((32, 61440, 128, 3, 1), (64, 40960, 128, 5, 1), (SHARED,)),
        ((16, 8192, 384, 5, 1), (32, 8192, 256, 8, 1), (THREADS,)),
        ((64, 131072, 1024, 1, 1), (32, 65536, 1024, 2, 1), (REGISTERS, SHARED)),
        ((22, 2048, 256, 7, 8), (22, 2048, 256, 8, 1), (CLUSTERS,)),
        ((95, 23296, 128, 4, 1), (90, 22528, 128, 5, 1), (BARRIERS,)),
        ((34, 16384, 1024, 1, 1), (36, 40960, 1024, 1, 1), ()),
    ],
)
def test_why_an_sm_holds_fewer_blocks(mine, theirs, why):
    assert limited_by(Kernel(*mine), Kernel(*theirs), DEVICE) == why


@pytest.mark.parametrize(
    ("registers", "threads", "blocks"),
    [(32, 1024, 2), (33, 1024, 1), (255, 128, 2), (34, 256, 6), (36, 256, 6), (40, 256, 6)],
)
def test_registers_are_given_to_warps_256_at_a_time(registers, threads, blocks):
    assert blocks_by_registers(registers, threads, DEVICE) == blocks


def test_the_blocks_of_an_sm_follow_from_registers_and_shared_memory(recorded):
    """For every recorded kernel without a cluster: its named limit is the limit."""
    devices = {f.gpu: f.provenance["device"] for f in recorded.files.itertuples()}
    seen, others = 0, set()
    for row in recorded.rows[recorded.rows["status"] == "ok"].itertuples():
        device = devices[row.gpu]
        for kernel in kernels_of(row.kernels):
            if kernel.cluster_blocks > 1:
                continue
            expected = min(*kernel.limits(device).values(), MOST_BLOCKS)
            if kernel.blocks_per_sm != expected:
                others.add((row.variant, row.config, kernel.blocks_per_sm, expected))
            seen += 1
    assert seen > 3000
    # 16 named barriers in each block: four such blocks are what an SM holds. Only the sweep has it.
    assert others <= {("pathfinder/register_bypass", "tall-2/producers-2x14-rows", 4, 5)}


def test_a_difference_has_the_gains_of_all_groups_that_the_two_met_in(tmp_path):
    groups = [
        synthetic.matched_group("pathfinder", synthetic.pathfinder_size(n, n), ms)
        for n, ms in ((1000, 1.0), (2000, 3.0))
    ]
    for group in groups:
        for row in group["rows"]:
            mine = row["variant"].endswith("/tma")
            for kernel in row.get("evidence", ()):
                kernel.update(registers=34 if mine else 32, threads=1024, static_shared_bytes=0,
                              dynamic_shared_bytes=0, blocks_per_sm=1 if mine else 2,
                              cluster_blocks=1)  # fmt: skip
    path = tmp_path / "one.json"
    path.write_text(synthetic.sealed(synthetic.document(groups)), encoding="utf-8")
    found = occupancy.differences(load([path]))
    assert {(d.strategy, d.why) for d in found} == {("tma", (REGISTERS,))}
    ratios = [
        c["speedup"]["ratio"]
        for group in groups
        for c in group["comparisons"]
        if c["variant"].endswith("/tma") and c["schedule"] == c["against_schedule"]
    ]
    assert len(ratios) >= 2
    assert min(d.gains[0] for d in found) == pytest.approx(min(ratios))
    assert max(d.gains[1] for d in found) == pytest.approx(max(ratios))
    page = occupancy.page(load([path]))
    assert "| 1 (34 registers) | 2 (32 registers) | registers |" in page
