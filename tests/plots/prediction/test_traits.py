"""Declared traits: what the C++ of the schedules says, and what was recorded of every config."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from prediction_record import GPU, recorded, rows_with_groups
from test_model import MACHINE

from plots.data.strategies import APPS, NAMES
from plots.prediction import traits
from plots.prediction.model import Phase, parts_of
from plots.prediction.traits import FAMILIES, Row, family_of, numbers


def row(app="nw", strategy="tma", **more) -> Row:
    known = {
        "schedule": "iso", "size": {}, "geometry": {}, "movement": {}, "config": "iso",
        "cache": "cold", "launch": "graph", "blocks_per_sm": 2.0, "threads": 256.0, "cluster": 1.0,
        "spilled": 0.0,
    }  # fmt: skip
    return Row(app=app, strategy=strategy, **{**known, **more})


def total(phases, what) -> float:
    """Of all steps of all blocks of all launches."""
    each = [
        np.sum(np.multiply(*np.broadcast_arrays(np.asarray(p.launches), np.asarray(p.blocks))))
        * p.steps
        * what(p)
        for p in phases
    ]
    return float(sum(each))


def test_every_family_is_of_an_app_and_every_app_has_one():
    assert {f.app for f in FAMILIES} == set(APPS)
    names = [(f.app, f.name) for f in FAMILIES]
    assert len(set(names)) == len(names)


def test_words_and_numbers_of_a_geometry():
    assert numbers("tile=16, steps=2, kind=wide") == {"tile": 16.0, "steps": 2.0}
    assert numbers("") == {}


def test_a_geometry_that_nobody_declared_is_of_no_family():
    assert family_of(row(geometry={"unheard_of": 1})) is None
    assert family_of(row("histogram", schedule="global", geometry={"blocks_per_sm": 2})) is None


@pytest.mark.parametrize(
    ("steps", "most", "plan"),
    [(5, 12, [5]), (20, 12, [12, 8]), (60, 12, [12] * 5), (10, 12, [5, 5]), (7, 5, [5, 1, 1])],
)
def test_passes_are_those_of_hotspots_schedules(steps, most, plan):
    # plan_passes() of apps/hotspot/schedules.cpp: fewest passes, then the most even.
    assert traits._passes(steps, traits._HOTSPOT_PASSES[most]) == plan


def test_squares_cover_the_grid_as_hotspot_says():
    # SquareAxis::of() of apps/hotspot/square.hpp
    assert traits._squares(64, 64, 20) == 1
    assert traits._squares(128, 128, 20) == 16  # (128 - 40) / 24 a side
    assert traits._squares(128, 64, 20) == 4
    assert traits._squares(128, 128, 2) == 3 * 3  # columns' halo is 4: (128 - 8) / 56
    assert traits._square_steps(64, 64, 20, 264) == 20


def test_diagonals_of_nw_have_all_tiles_once():
    size = {"rows": 100, "cols": 200}
    (phase,) = traits._nw_iso(MACHINE, row(size=size, geometry={"tiles": 1}))
    assert phase.launches.sum() == 7 + 13 - 1
    assert (phase.launches * phase.blocks).sum() == 7 * 13


def test_a_hand_over_longer_than_its_step_is_waited_for():
    """A strategy that asks ahead is never slower for it, whatever the app."""
    size = {"keys": 1 << 26, "type": "int32", "bins": 256}
    geometry = {"sub_histograms": 6, "blocks": 240}
    times = {}
    for name in ("register_bypass", "drop_off"):
        (count, _) = traits._histogram_iso(
            MACHINE, row("histogram", name, size=size, geometry=geometry)
        )
        times[name] = max(count.latency, count.travel / max(count.flight, 1))
    assert times["drop_off"] == pytest.approx(MACHINE.copy_memory / 2)
    assert times["register_bypass"] == pytest.approx(MACHINE.copy_memory)


def test_a_cluster_that_only_meets_pays_no_fence():
    size = {"rows": 1200, "cols": 1240, "steps": 2}
    (known,) = traits._hotspot_iso(MACHINE, row("hotspot", "dsm", size=size))
    fenced = replace(MACHINE, cluster_barrier=((32.0, 1e4), (1024.0, 1e4)))
    assert traits._hotspot_iso(fenced, row("hotspot", "dsm", size=size)) == [known]
    # one meeting of the cluster, before the first step
    more = 100.0
    later = replace(MACHINE, meeting=tuple((x, y + more) for x, y in MACHINE.meeting))
    (longer,) = traits._hotspot_iso(later, row("hotspot", "dsm", size=size))
    assert longer.latency - known.latency == pytest.approx(more)
    # nor do blocks that send each other an edge or a tile
    tiles = row("nw", "dsm", size={"rows": 320, "cols": 320}, geometry={"tiles": 1.0})
    shared = row("lud", "dsm", size={"n": 64}, geometry={"tiles_per_block": 1.0})
    for of_app, known in ((traits._nw_iso, tiles), (traits._lud_iso, shared)):
        for phase, fence, meets in zip(
            of_app(MACHINE, known), of_app(fenced, known), of_app(later, known), strict=True
        ):
            assert fence.latency == phase.latency
            assert meets.latency - phase.latency == pytest.approx(more)


def test_a_row_block_in_registers_travels_meanwhile_and_costs_the_steps_their_registers():
    """What the machine code has of the passes of hotspot/baseline."""

    def phase_of(schedule, steps, strategy="baseline", **more):
        known = row(
            "hotspot", strategy, schedule=schedule, size={"rows": 4096, "cols": 4096,
            "steps": steps}, geometry={"warps": float(schedule[0]), "steps_per_pass": 12}, **more,
        )  # fmt: skip
        (phase,) = traits._hotspot_stream(MACHINE, known)
        return phase

    squeezed, roomy = phase_of("4-warps", 5), phase_of("4-warps-roomy", 5)
    assert squeezed.flight == roomy.flight == phase_of("8-warps", 12).flight == 1.0
    # Four rows, in which a warp stands for longer and waits for what it spilled, half of it in L2.
    reload = (MACHINE.shared + MACHINE.l2) / 2
    assert squeezed.latency - roomy.latency == pytest.approx(4 * (197 - 73 + 0.9 * reload))
    assert squeezed.instructions - roomy.instructions == 2 * 80 / 4
    # Producer warps hold nothing for those that compute.
    producers = phase_of("8-warps-5-steps", 5, movement={"producer_warps": 4.0})
    others = phase_of("8-warps-5-steps", 5, "register_bypass")
    assert producers.flight == 1.0 and producers.latency == others.latency - 4 * (48 - 45)
    assert producers.instructions < phase_of("8-warps-5-steps", 5).instructions


def test_lanes_that_want_the_same_bring_a_sector_each_past_l1():
    size = {"m": 1024, "n": 1024, "k": 1024}
    (own,) = traits._gemm_iso(MACHINE, row("gemm", "drop_off", size=size))
    (shared,) = traits._gemm_iso(MACHINE, row("gemm", "overlap", size=size))
    # Eight copies of each of 1024 threads for a slice of 32 columns; B as in overlap.
    assert own.l2 == 8 * 1024 * 32 + shared.l2 / 2
    # As was counted: sm_read_bytes of drop_off, per warp and slice, on an H100.
    assert own.l2 / 32 == pytest.approx(8320, rel=0.01)
    assert own.group == 1 / 8 and shared.flight == 1


def test_elimination_goes_product_by_product():
    (diagonal, perimeter, _) = traits._lud_iso(
        MACHINE, row("lud", "baseline", size={"n": 512}, geometry={"tiles_per_block": 1})
    )
    product = MACHINE.shared + MACHINE.op
    # of 16 columns: j < k products of a column, j <= k of a row
    assert sum(2 * k + 1 for k in range(15)) == 225 and 2 * sum(range(16)) == 240
    assert diagonal.latency > 225 * product and perimeter.latency > 240 * product


def test_every_recorded_row_has_traits_that_make_sense():
    results, machine = recorded()
    undeclared = defaultdict(int)
    for record, group, known in rows_with_groups(results, GPU):
        family = family_of(known)
        if family is None:
            undeclared[record.app] += 1
            continue
        where = f"{record.variant} {record.config} {group.size}"
        assert record.strategy in NAMES
        phases = family.phases(machine, known)
        assert phases, where
        for phase in phases:
            for name, value in vars(phase).items():
                assert np.all(np.isfinite(value)) and np.all(np.asarray(value) >= 0), (where, name)
            assert np.all(np.asarray(phase.launches) > 0) and np.all(np.asarray(phase.blocks) > 0)
            assert phase.steps > 0
        if family.app in ("nw", "pathfinder", "gemm"):  # one kernel, all that fit
            assert phases[0].resident == max(1, record.blocks_per_sm), where
    declared = len(list(rows_with_groups(results, GPU))) - sum(undeclared.values())
    assert declared > 20 * sum(undeclared.values()), dict(undeclared)


# Reads each byte of its input from memory once at least, where caches are cold: traffic that is
# less than the app's own work model says would be a miscount.
_STREAMING = {
    ("nw", "tiles"), ("nw", "bands"), ("hotspot", "squares"), ("hotspot", "tiles"),
    ("hotspot", "streams"), ("pathfinder", "pyramids"), ("pathfinder", "strips"),
    ("histogram", "sample"), ("histogram", "walks"), ("gemm", "sample"), ("gemm", "tiles"),
}  # fmt: skip


def test_declared_traffic_and_work_are_no_less_than_the_apps_say():
    results, machine = recorded()
    seen = set()
    for record, group, known in rows_with_groups(results, GPU):
        family = family_of(known)
        if family is None:
            continue
        phases = family.phases(machine, known)
        where = f"{record.variant} {record.config} {group.size}"
        if (family.app, family.name) in _STREAMING and record.cache == "cold":
            seen.add((family.app, family.name))
            assert total(phases, lambda p: p.read) >= 0.99 * group.bytes_read, where
        if group.kind in ("fp32", "int32"):
            # An instruction of a lane is two operations at most, a multiply and an add; DPX and
            # three-operand minima of integers are as much.
            done = 32 * total(phases, lambda p: p.warps * p.instructions)
            assert done >= 0.45 * group.operations, where
    assert seen <= _STREAMING and len(seen) >= 8


def test_bands_wait_for_those_above_them():
    geometry = {"band_rows": 128}
    times = {}
    for rows in (128, 128 * 64):
        (phase,) = traits._nw_bands(
            MACHINE, row(size={"rows": rows, "cols": 4096}, geometry=geometry, config="bands")
        )
        times[rows] = phase.steps
    assert times[128] == 4096 / 4 + 35
    assert times[128 * 64] == times[128] + 63 * 48
    assert math.isfinite(phase.read) and phase.read > 0


def _band(strategy, cols=4096, rows=128 * 64, **movement) -> Phase:
    known = row(
        "nw", strategy, size={"rows": rows, "cols": cols}, geometry={"band_rows": 128},
        movement={"producer_warps": 2, "depth": 3, "batch": 1, **movement}, config="bands",
    )  # fmt: skip
    (phase,) = traits._nw_bands(MACHINE, known)
    return phase


def test_a_band_pays_for_each_stage_what_those_who_bring_it_cost():
    # 32 columns are a stage, 8 steps of 4.
    by_bulk = _band("tma").latency
    by_copies = _band("overlap").latency
    assert by_copies - by_bulk == pytest.approx((135 - 115) / 8)
    # What the walker copies for itself is in its instructions, as far as it is no more than those.
    own = _band("drop_off", producer_warps=0)
    assert own.instructions == 72 + 12 and own.latency == pytest.approx(by_bulk - 115 / 8)


def test_producers_that_wait_at_once_keep_a_band_waiting():
    shallow = {"producer_warps": 6, "depth": 1}
    beside = _band("overlap", **shallow).latency
    few, many = (_band("register_bypass", rows=128 * n, **shallow).latency for n in (1, 100))
    assert few > beside  # it stores, copies and waits, all in one period
    assert many > few  # and the more bands there are, the longer
    batched = _band("register_bypass", rows=128 * 100, **{**shallow, "batch": 2}).latency
    assert batched < many  # of a longer period less is left


def _strip(strategy, warps=2, lane_columns=4, **movement) -> Phase:
    known = row(
        "pathfinder", strategy, size={"rows": 10001, "cols": 9600},
        geometry={
            "warps": warps, "lane_columns": lane_columns, "owned_columns": 96, "halo": 28,
            "outer_halo": 56, "round": 2,
        },
        movement={"stage_rows": 14, "stages": 3, **movement},
    )  # fmt: skip
    (phase,) = traits._pathfinder_strips(MACHINE, known)
    return phase


def test_a_stage_of_tall_strips_is_its_rows_and_what_who_brings_it_costs():
    by_bulk, by_copies = (_strip(name, producer_warps=1) for name in ("tma", "overlap"))
    assert by_bulk.instructions == by_copies.instructions
    # the engine's next stage is read while costs travel
    assert by_copies.latency - by_bulk.latency == pytest.approx(135 - 115 + MACHINE.shared)
    longer = _strip("tma", producer_warps=1, stage_rows=28)
    exchanges = by_bulk.latency - 115 - 14 * (25.5 - 19.5)
    assert longer.latency == pytest.approx(115 + 28 * (25.5 - 19.5) + 2 * exchanges)
    own = _strip("overlap")  # 22 copies of a thread, eight instructions each: more than they cost
    chunks = 14 * (72 + 128) / 4 / 64
    assert own.instructions == pytest.approx(by_copies.instructions - 12 + 20 + 8 * chunks)
    assert by_copies.latency - own.latency == pytest.approx(135)


def test_who_waits_for_a_stage_of_strips_waits_for_all_of_it():
    size = 4 * 14 * (72 + 128)
    received = size / MACHINE.received
    for name, latency in (
        ("baseline", MACHINE.load_memory),
        ("register_bypass", MACHINE.copy_memory),
    ):
        own = _strip(name, stages=2)
        assert own.flight == 0 and own.travel == pytest.approx(latency + received)
        beside = _strip(name, producer_warps=2, stages=2)  # who copy it, too
        copied = size / 16 / 64 * traits._STRIP_COPIED
        assert beside.flight == 1 and beside.travel == pytest.approx(latency + received + copied)
    # Others have asked for it stages ago.
    assert _strip("overlap", producer_warps=2).travel == MACHINE.copy_memory


_TILES = [
    ("128x128-shared/2-stages", "fp32"),
    ("128x256-producer/3-stages", "fp32"),
    ("bf16-mma-128x128-8-warps/2-stages", "bf16"),
    ("bf16-wgmma-128x256-producer-shared/4-stages", "bf16"),
    ("e4m3-wgmma-128x256/4-stages", "e4m3"),
    ("tf32-tn-wgmma-128x128-ping-pong/4-stages", "tf32"),
]


@pytest.mark.parametrize(
    ("strategy", "config", "mode"),
    [  # on tensor cores no thread owns a row, so that there is no drop_off
        (name, *tile) for tile in _TILES for name in NAMES
        if name != "drop_off" or "wgmma" not in tile[0]
    ],
)  # fmt: skip
def test_gemms_tiles_multiply_by_what_their_config_names(strategy, config, mode):
    rates = (("mma bf16", 6e5), ("mma tf32", 3e5), ("wgmma bf16", 9e5), ("wgmma e4m3", 18e5),
             ("wgmma tf32", 4.5e5))  # fmt: skip
    machine = replace(MACHINE, tensor=rates, l2_gb_s=1e9)  # what stores take is told apart
    known = row(
        "gemm", strategy, schedule=config.split("/")[0], config=config,
        size={"m": 4096, "n": 4096, "k": 4096, "mode": mode},
        geometry={"tile_m": 128, "tile_n": 256 if "128x256" in config else 128, "k_slice": 32,
                  "stages": 4, "cluster_blocks": 1},
        movement={"stages": 4, "producer_warps": 4 if "producer" in config else 0},
    )  # fmt: skip
    phases = family_of(known).phases(machine, known)
    for phase in phases:
        assert all(np.all(np.isfinite(value)) for value in vars(phase).values())
    unit = f"{'wgmma' if 'wgmma' in config else 'mma'} {mode}"
    done = total(phases, lambda p: p.seconds / np.sum(p.launches) / np.sum(p.blocks) / p.steps)
    if mode == "fp32":
        assert done == 0 and total(phases, lambda p: p.warps * p.instructions) * 32 > 4096**3
    else:  # all products, the last wave's tiles included, at the rate of the instruction
        assert 0.999 < done * dict(rates)[unit] * 1e9 / (2 * 4096**3) < 1.4
    if "wgmma" in config:  # through registers a slice is waited for, and cp.async at once is
        ahead = strategy not in ("baseline", "register_bypass")
    else:
        ahead = strategy != "register_bypass" or "producer" in config
    assert (phases[0].flight > 0) == ahead


def wgmma_wait(strategy, producers=0, stages=4, mode="bf16", received=20.0):
    """Milliseconds that a slice of 128 x 256 is waited for, at 20 bytes a cycle of an SM, its share
    of L2, or up to so many while the others do not ask."""
    rates = (("wgmma bf16", 9e5), ("wgmma e4m3", 18e5))
    machine = replace(MACHINE, tensor=rates, received=received)
    known = row(
        "gemm", strategy, schedule="s", config=f"{mode}-wgmma-128x256/{stages}-stages",
        size={"m": 8192, "n": 8192, "k": 8192, "mode": mode, "layout": "tn"},
        geometry={"tile_m": 128, "tile_n": 256, "k_slice": 64 if mode == "bf16" else 128},
        movement={"stages": stages, "producer_warps": producers},
    )  # fmt: skip
    (phase,) = family_of(known).phases(machine, known)
    assert phase.beside
    start = phase.start * 1e-6 / machine.clock_ghz
    return (parts_of(machine, [phase], "graph").wait.sum() - start) / phase.steps, machine


def test_a_slice_that_passes_registers_takes_a_round_trip_and_its_bytes():
    through, machine = wgmma_wait("baseline", stages=3)
    ahead, _ = wgmma_wait("overlap")
    engine, _ = wgmma_wait("tma")
    at_once, _ = wgmma_wait("register_bypass", stages=1)
    cycle = 1e-6 / machine.clock_ghz
    arrives = 384 * 128 / (machine.l2_gb_s / machine.sms / machine.clock_ghz) * cycle
    assert through > arrives + machine.load_l2 * cycle  # asked for when the last has left
    assert engine < ahead < arrives  # nothing waits for one slice
    multiplied = 2 * 128 * 256 * 64 / (9e5 / machine.sms / machine.clock_ghz) * cycle
    assert at_once > arrives + multiplied + machine.copy_l2 * cycle  # one stage, for both in turn


@pytest.mark.parametrize("strategy", ["baseline", "overlap", "tma"])
@pytest.mark.parametrize(
    "schedule", [{"tile_m": 128, "tile_n": 128, "k_slice": 32}, {"tile_m": 32}]
)
def test_a_panel_comes_from_memory_unless_l2_had_both_matrices(strategy, schedule):
    def travel(cache, n):
        known = replace(
            row("gemm", strategy, size={"m": n, "n": n, "k": n}, geometry=schedule), cache=cache
        )
        return family_of(known).phases(MACHINE, known)[0].travel

    from_l2 = travel("hot", 1024)  # 8 MB, of an L2 of 50
    assert travel("cold", 1024) > 1.5 * from_l2
    assert travel("hot", 4096) == travel("cold", 4096) == travel("cold", 1024)


def test_a_slice_comes_faster_the_less_the_other_sms_ask():
    share, machine = wgmma_wait("baseline", stages=3)
    faster, _ = wgmma_wait("baseline", stages=3, received=40.0)
    cycle = 1e-6 / machine.clock_ghz
    idle = 384 * 128 / 40 * cycle  # half of what it takes at the share
    assert share - idle < faster < share
    assert wgmma_wait("tma", received=40.0)[0] == wgmma_wait("tma")[0]  # which is not waited for


def test_a_producing_warpgroup_waits_in_place_of_those_that_multiply():
    copied, machine = wgmma_wait("register_bypass", producers=4)
    at_once, _ = wgmma_wait("register_bypass", stages=1)
    multiplied = 2 * 128 * 256 * 64 / (9e5 / machine.sms / machine.clock_ghz)
    assert at_once - copied > 0.9 * multiplied * 1e-6 / machine.clock_ghz
    # A slice is as many bytes of a narrower type, and takes as long to come.
    narrow, _ = wgmma_wait("register_bypass", producers=4, mode="e4m3")
    assert narrow == pytest.approx(copied, rel=1e-3)


def test_sums_are_stored_while_nobody_multiplies_but_by_turns():
    machine = replace(MACHINE, tensor=(("wgmma bf16", 9e5),))
    each = 4 * 128 * 256 * machine.sms / machine.l2_gb_s / 1e9

    def stored(config):
        known = row(
            "gemm", "tma", schedule="s", config=config,
            size={"m": 8192, "n": 8192, "k": 8192, "mode": "bf16"},
            geometry={"tile_m": 128, "tile_n": 256, "k_slice": 64}, movement={"stages": 4},
        )  # fmt: skip
        (phase,) = family_of(known).phases(machine, known)
        return phase.seconds - 2 * 128 * 256 * 64 * phase.blocks * phase.steps / 9e5 / 1e9

    waves = math.ceil(64 * 32 / (100 * 2))
    assert stored("bf16-wgmma-128x256/4-stages") == pytest.approx(waves * each)
    assert stored("bf16-wgmma-128x256-ping-pong/4-stages") == pytest.approx(each)


def test_warps_of_fewer_columns_read_more_from_shared_memory():
    few, many = (
        traits._operand_reads(row("gemm", config=config, threads=threads), 128, 128)
        for config, threads in (("bf16-mma-128x128/2", 128), ("bf16-mma-128x128-8-warps/2", 256))
    )
    assert (few, many) == (4 * 128, 8 * 96)
