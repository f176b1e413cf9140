"""What blocks hold and how many an SM holds: as every recorded twin says."""

from __future__ import annotations

import pytest

from plots.advice import twin
from plots.data.strategies import ROOT
from plots.judge.residency import blocks_by_registers, held, registers_of_its_twin


@pytest.fixture(scope="module")
def recorded():
    return [
        (of, m)
        for of in twin.recorded_twins([ROOT / "results"])
        for m in of.strategies.values()
        if m.kernel
    ]


def by_the_hardware(of, m):
    """Blocks of an SM by the registers of the kernel itself."""
    return blocks_by_registers(m.kernel["registers"], int(of.traits["threads"]), of.device)


def test_it_is_what_every_recorded_twin_has(recorded):
    fewer, near = [], []
    assert len({m.strategy for _, m in recorded}) == 6 and len(recorded) > 1000
    for of, m in recorded:
        found = held(m.strategy, of.traits, of.device, registers_of_its_twin(of.traits))
        assert m.remark.startswith(f"{found.tile_bytes} bytes of tiles per block")
        blocks, under_way = m.kernel["blocks_per_sm"], m.kernel["bytes_in_flight_per_sm"]
        if m.strategy == "dsm":  # the GPU places clusters where there is room for four blocks
            assert blocks <= found.blocks_per_sm
            assert under_way <= found.in_flight_per_block * found.blocks_per_sm
            near.append(found.blocks_per_sm <= blocks + 1)
            continue
        assert under_way == pytest.approx(found.in_flight_per_block * blocks, rel=1e-3)
        if (most := by_the_hardware(of, m)) < found.blocks_per_sm:
            # The twin is held to blocks that the hardware does not give a kernel of whose own
            # registers a part of the SM has room for one warp less. Few are.
            assert blocks == most == found.blocks_per_sm - 1, of.traits
            fewer.append(of)
        else:
            assert found.blocks_per_sm == blocks, of.traits
    assert len(fewer) < 0.003 * len(recorded)
    assert sum(near) > 0.95 * len(near) > 0


def test_the_kernels_own_registers_count_for_the_kernel(recorded):
    of = next(of for of, m in recorded if of.traits["registers"] == "64")
    traits = {**of.traits, "rows": "32", "row_bytes": "512", "threads": "256", "stages": "3"}
    assert registers_of_its_twin(traits) == 96
    assert held("tma", traits, of.device).blocks_per_sm == 4
    assert held("tma", traits, of.device, 96).blocks_per_sm == 2


def test_few_blocks_are_few_bytes_under_way_and_an_unknown_gpu_is_not_guessed(recorded):
    of = next(of for of, _ in recorded if of.traits["registers"] == "64")
    few = {**of.traits, "rows": "64", "row_bytes": "512", "threads": "256", "stages": "3",
           "halo": "0", "workspace": "0", "launches": "1", "tiles_per_block": "0",
           "mebibytes": "1"}  # fmt: skip
    found = held("overlap", few, of.device)
    assert found.in_flight_per_sm == pytest.approx(65536 * 32 / 132)  # 32 blocks for 132 SMs
    assert found.blocks_at_once == pytest.approx(32 / 132)
    unknown = held("overlap", few, {})
    assert unknown.tile_bytes == 98304 and unknown.blocks_per_sm is None
