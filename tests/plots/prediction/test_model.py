"""What a run takes: each equation by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from plots.errors import PlotsError
from plots.prediction.model import (
    FED,
    PARTS,
    Constants,
    Machine,
    Parts,
    Phase,
    _slope,
    combined,
    parts_of,
)

MACHINE = Machine(
    gpu="a GPU", sms=100, l2_bytes=50e6, clock_ghz=1.0, read_gb_s=1000.0, write_gb_s=500.0,
    copy_gb_s=600.0, l2_gb_s=2000.0, op=4.0, divide=60.0, launch_stream_us=3.0,
    launch_graph_us=0.5, memory=600.0, l2=200.0, load_memory=650.0, load_l2=250.0, shared=30.0,
    copy_memory=700.0, copy_l2=300.0, bulk_memory=800.0, bulk_l2=350.0, received=90.0,
    block_barrier=((32.0, 10.0), (1024.0, 70.0)), cluster_barrier=((32.0, 300.0), (1024.0, 610.0)),
    meeting=((32.0, 80.0), (1024.0, 160.0)),
    hand_over=350.0,
    stages=(
        ("registers 2 0", ((1024.0, 100.0), (4096.0, 400.0))),
        ("registers 4 0", ((1024.0, 80.0), (4096.0, 200.0))),
        ("registers_producer 2 1", ((1024.0, 120.0),)),
        ("registers_producer 4 1", ((1024.0, 160.0),)),
        ("registers_producer 2 4", ((1024.0, 110.0),)),
        ("registers_producer 4 4", ((1024.0, 130.0),)),
        ("cp_async 2 0", ((1024.0, 70.0),)), ("cp_async 4 0", ((1024.0, 90.0),)),
        ("cp_async_producer 2 1", ((1024.0, 135.0),)),
        ("cp_async_producer 4 1", ((1024.0, 140.0),)),
        ("bulk 2 0", ((1024.0, 270.0),)), ("bulk 4 0", ((1024.0, 275.0),)),
        ("bulk_producer 2 1", ((1024.0, 115.0),)), ("bulk_producer 4 1", ((1024.0, 125.0),)),
    ),
    word=700.0, store_read=100.0, round=150.0,
    box=40.0, in_flight=((1000.0, 100.0), (100000.0, 900.0)), own_adds=32.0, random_adds=8.0,
    remote_adds=0.5, tensor=(("mma bf16", 1e5),),
)  # fmt: skip
MICROSECOND = 1e-3  # 1,000 cycles at 1 GHz, in ms


def parts(launch="graph", queued=True, **phase) -> Parts:
    return parts_of(MACHINE, [Phase(**{"launches": 1, "blocks": 100, **phase})], launch, queued)


def test_instructions_are_issued_by_four_schedulers():
    # 200 blocks on 100 SMs: 2 x 8 warps x 500 instructions / 4 a cycle
    found = parts(blocks=200, warps=8, instructions=500, resident=2)
    assert found.issue.sum() == pytest.approx(2 * 8 * 500 / 4 * 1e-3 * MICROSECOND)


def test_what_a_stage_costs_is_of_its_bytes_its_warps_and_of_who_brings_it():
    assert MACHINE.stage("registers", 0, 2, 1024) == 100
    assert MACHINE.stage("registers", 0, 2, 2560) == pytest.approx(250)  # half way
    assert MACHINE.stage("registers", 0, 3, 1024) == pytest.approx(90)
    assert MACHINE.stage("registers", 0, 25, 65536) == 200  # the most that is measured
    assert MACHINE.stage("registers", 1, 1, 1024) == 120
    assert MACHINE.stage("registers", 2, 4, 1024) == 130  # several producers are as four
    assert MACHINE.stage("bulk", 2, 2, 1024) == 115  # where one asks, more do not
    quick = replace(MACHINE, stages=(("bulk 2 0", ((4096.0, 272.0),)),))
    assert quick.stage("bulk", 0, 4, 1024) == 272  # the only point of a quick run
    with pytest.raises(PlotsError, match="stage_cost is not recorded for cp_async of a GPU"):
        quick.stage("cp_async", 0, 2, 1024)


def test_a_step_that_waits_pays_the_way_and_one_that_asked_ahead_does_not():
    step = {"steps": 10, "warps": 4, "instructions": 100, "latency": 50, "travel": 600}
    alone = {
        (0, 1): 600 + 150,
        (0, 4): 600 / 4 + 150,  # four steps' copies are waited for together
        (1, 1): 600,
        (3, 1): 200,
        (6, 1): 150,  # the step itself
    }
    for (flight, group), cycles in alone.items():
        found = parts(**step, flight=flight, group=group)
        assert found.wait.sum() == pytest.approx(10 * cycles * 1e-3 * MICROSECOND), (flight, group)
    # A thread that hands over a barrier for every copy is no faster than that.
    found = parts(**step, flight=6, rounds=2)
    assert found.wait.sum() == pytest.approx(10 * 2 * 150 * 1e-3 * MICROSECOND)


def test_other_warps_of_a_block_fill_the_latency_of_one():
    found = parts(warps=16, instructions=100, latency=50)
    assert found.wait.sum() == pytest.approx(400 * 1e-3 * MICROSECOND)
    found = parts(warps=4, instructions=100, latency=500)
    assert found.wait.sum() == pytest.approx(600 * 1e-3 * MICROSECOND)
    # What all of them take of shared memory follows a copy that is waited for, too.
    found = parts(warps=4, instructions=100, latency=50, wavefronts=700, travel=200)
    assert found.wait.sum() == pytest.approx(900 * 1e-3 * MICROSECOND)
    # Not what is sent to other SMs: nobody waits for that, but it takes its time.
    found = parts(warps=4, instructions=100, latency=50, wavefronts=10, sent=690, travel=200)
    assert found.wait.sum() == pytest.approx(350 * 1e-3 * MICROSECOND)
    assert found.shared.sum() == pytest.approx(700 * 1e-3 * MICROSECOND)


def test_a_step_that_asked_ahead_waits_for_its_own_chain_alone():
    # The instructions of the others are in what the SM issues.
    found = parts(warps=16, instructions=100, latency=50, flight=2, travel=200, wavefronts=700)
    assert found.wait.sum() == pytest.approx(150 * 1e-3 * MICROSECOND)
    assert found.issue.sum() == pytest.approx(400 * 1e-3 * MICROSECOND)
    assert found.shared.sum() == pytest.approx(700 * 1e-3 * MICROSECOND)


def test_boxes_of_one_barrier_are_asked_for_one_after_another():
    ahead = {"latency": 50, "flight": 4, "travel": 400, "rounds": 1}
    for boxes, cycles in ((1, 150), (3, 150), (32, 32 * 40)):
        found = parts(**ahead, boxes=boxes)
        assert found.wait.sum() == pytest.approx(cycles * 1e-3 * MICROSECOND)


def test_blocks_beyond_what_the_sms_hold_come_in_waves():
    def waves(blocks, resident, **more):
        return parts(blocks=blocks, latency=100, resident=resident, **more).wait.sum() / (
            100 * 1e-3 * MICROSECOND
        )

    assert waves(100, 1) == pytest.approx(1)
    assert waves(101, 1) == pytest.approx(2)
    assert waves(400, 2) == pytest.approx(2)
    assert waves(1050, 1) == pytest.approx(10.5)  # of many waves the last is not a whole one
    assert waves(150, 1, persistent=True) == pytest.approx(1.5)
    assert waves(50, 8) == pytest.approx(1)


def test_bytes_take_their_bandwidth_and_few_in_flight_less():
    found = parts(read=1e6)  # 100 MB at 1000 GB/s
    assert found.bytes.sum() == pytest.approx(0.1)
    assert parts(write=1e6).bytes.sum() == pytest.approx(0.2)
    # Both at one time are no faster than a copy: 200 MB at 600 GB/s, more than 0.1 + 0.2.
    assert parts(read=1e6, write=1e6).bytes.sum() == pytest.approx(1 / 3)
    assert parts(l2=1e6).bytes.sum() == pytest.approx(0.05)
    # Little's law, as measured: 1000 bytes in flight on every SM bring 100 GB/s, half as many half
    assert parts(read=1e6, in_flight=1000).bytes.sum() == pytest.approx(1.0)
    assert parts(read=1e6, in_flight=500).bytes.sum() == pytest.approx(2.0)
    between = parts(read=1e6, in_flight=10_000).bytes.sum()
    assert between == pytest.approx(0.1 / 0.3)  # half way on scales of powers
    # and on half of the SMs there are half as many.
    assert parts(blocks=50, read=1e6, in_flight=1000).bytes.sum() == pytest.approx(1.0)


def test_a_launch_costs_what_an_empty_one_does_and_latencies_of_memory():
    found = parts(launches=100, latency=1000)
    assert found.launch == pytest.approx(100 * 0.5 * MICROSECOND)
    trip = MACHINE.memory / 1e6 / MACHINE.clock_ghz  # ms
    assert found.trip == pytest.approx(100 * trip)
    assert found.time(Constants()) == pytest.approx(100 * MICROSECOND + 0.05)
    assert found.time(Constants(trips=4)) == pytest.approx(100 * (MICROSECOND + 4 * trip) + 0.05)
    # A stream that the host fills meanwhile is as slow as the host, if that is slower.
    slow = parts("stream", queued=False, launches=100, latency=10)
    assert slow.time(Constants()) == pytest.approx(100 * 3 * MICROSECOND)
    assert slow.bound_by(Constants()) == "launch"
    assert parts("stream", launches=100, latency=10).time(Constants()) < 0.1


def test_shapes_of_launches_are_added_up():
    found = parts(launches=np.array([3.0, 1.0]), blocks=np.array([100.0, 200.0]), latency=1000)
    assert found.wait.tolist() == pytest.approx([3 * MICROSECOND, 2 * MICROSECOND])
    assert found.launch == pytest.approx(4 * 0.5 * MICROSECOND)


def resources(**parts) -> np.ndarray:
    """As Parts.resources() has them, of one shape of launch."""
    return np.array([[float(parts.get(name, 0))] for name in PARTS if name != "launch"])


def test_parts_hide_each_other_as_the_power_says():
    two, in_turn = resources(bytes=3, wait=4), np.array([False])
    assert combined(two, math.inf, in_turn) == pytest.approx([4])
    assert combined(two, 2, in_turn) == pytest.approx([5])
    assert combined(two, 1, in_turn) == pytest.approx([7])
    assert combined(resources(engine=3, wait=4), 2, in_turn) == pytest.approx([5])
    assert combined(resources(), 2, in_turn) == pytest.approx([0])


def test_instructions_and_their_passes_through_shared_memory_hide_each_other():
    in_turn = np.array([False])
    assert combined(resources(issue=3, shared=2), 1, in_turn) == pytest.approx([3])
    assert combined(resources(issue=3, shared=4, wait=3), 2, in_turn) == pytest.approx([5])


def test_where_nobody_does_two_things_in_turn_the_longest_part_is_all():
    two = np.tile(resources(bytes=3, wait=4), 2)
    assert combined(two, 2, np.array([True, False])) == pytest.approx([4, 5])
    phases = [
        Phase(launches=1, blocks=100, read=3e6, latency=4e5, beside=beside)
        for beside in (True, False)
    ]
    found = parts_of(MACHINE, phases, "graph")  # 0.3 ms of bytes, 0.4 of waiting
    assert found.of_launches(2.0) == pytest.approx(0.4 + 0.5)


def test_boxes_that_blocks_wait_for_take_turns_in_the_engine_of_an_sm():
    # 200 blocks on 100 SMs, 3 boxes each, 40 cycles a box
    found = parts(blocks=200, steps=5, copies=3, rounds=1, resident=2, latency=10)
    assert found.engine.sum() == pytest.approx(2 * 5 * 3 * 40 * 1e-3 * MICROSECOND)
    fewer = parts(blocks=200, steps=5, rounds=1, resident=2, latency=10)
    assert fewer.engine.sum() == pytest.approx(found.engine.sum() / 3)
    # Asked for ahead, they are in what a block takes.
    assert parts(blocks=200, steps=5, copies=3, flight=1).engine.sum() == 0


def test_what_binds_is_named():
    assert parts(copies=1e6, latency=10).bound_by(Constants()) == "engine"
    assert parts(read=1e6, latency=10).bound_by(Constants()) == "bytes"
    assert parts(read=10, latency=1e6).bound_by(Constants()) == "wait"
    assert parts(wavefronts=1e6, latency=10).bound_by(Constants()) == "shared"
    assert parts(warps=64, instructions=1e5).bound_by(Constants()) == "issue"
    assert parts(launches=10, latency=10).bound_by(Constants()) == "launch"


def test_a_rate_is_a_floor_of_a_phase():
    found = parts(launches=2, seconds=1e-3, instructions=1)
    assert found.issue.sum() == pytest.approx(1.0)


def test_a_barrier_lies_between_those_that_were_measured():
    assert MACHINE.barrier(32) == 10 and MACHINE.barrier(528) == pytest.approx(40)
    assert math.isnan(MACHINE.tensor_gflop_s("wgmma", "bf16"))


def test_bytes_arrive_at_the_share_as_far_as_the_others_ask():
    # 9,000 bytes: 100 cycles alone, at 90 bytes a cycle
    assert MACHINE.arrival(9000, 500, 100) == pytest.approx(100)
    assert MACHINE.arrival(9000, 500, 50) == pytest.approx(100)  # no share is faster than that
    assert MACHINE.arrival(9000, 1e9, 300) == pytest.approx(100, rel=1e-3)  # who hardly asks
    took = MACHINE.arrival(9000, 400, 300)
    asking = 300 / (400 + took)  # the share of their time in which the others do
    assert took == pytest.approx((1 - asking) * 100 + asking * 300)


def test_a_slope_needs_two_points():
    assert _slope(380.0, 520.0, 1400.0) == pytest.approx(10)
    assert _slope(None, 520.0, 1400.0) is None and _slope(380.0, None, 1400.0) is None
    assert _slope(380.0, 380.0, 1400.0) is None


def test_a_clusters_barrier_is_longer_for_every_warp():
    assert MACHINE.linked(32) == 300 and MACHINE.linked(528) == pytest.approx(455)


def test_fed_tensor_cores_keep_what_bf16_keeps_of_its_rate():
    rates = (("wgmma bf16", 8e5), ("wgmma e4m3", 16e5))
    assert replace(MACHINE, tensor=rates).fed_gflop_s("e4m3") == 16e5
    fed = replace(MACHINE, tensor=(*rates, (FED, 6e5)))
    assert fed.fed_gflop_s("bf16") == pytest.approx(6e5)
    assert fed.fed_gflop_s("e4m3") == pytest.approx(12e5)
    # Never more than it has with operands that lie there.
    assert replace(MACHINE, tensor=(*rates, (FED, 9e5))).fed_gflop_s("bf16") == 8e5


def test_another_memory_brings_less_only_where_it_is_asked_for_more():
    half = MACHINE.with_bandwidth("half", 0.5)
    assert half.read_gb_s == 500 and half.write_gb_s == 250 and half.memory == MACHINE.memory
    assert half.read_bandwidth(1000) == MACHINE.read_bandwidth(1000) == pytest.approx(100)
    assert half.read_bandwidth(1e6) == pytest.approx(500)


def test_a_faster_machine_is_faster_by_what_binds():
    double = replace(MACHINE, read_gb_s=2000.0)
    bound = [Phase(launches=1, blocks=100, read=1e6)]
    free = [Phase(launches=1, blocks=100, latency=1e6)]
    for phases, ratio in ((bound, 2.0), (free, 1.0)):
        times = [parts_of(m, phases, "graph").of_launches(math.inf) for m in (MACHINE, double)]
        assert times[0] / times[1] == pytest.approx(ratio)
