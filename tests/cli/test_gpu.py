"""Tests that need a device: the noise floor, a small difference found, trouble that costs only
itself, work that survives a kill."""

from __future__ import annotations

import contextlib
import json
import random
import re
import subprocess
from collections.abc import Iterator

import numpy as np
import pytest
from programs import program, read_result, runner

from plots.data.profiles import read_profile

pytestmark = pytest.mark.usefixtures("gpu")


def test_every_config_is_right_at_every_odd_size(amasia):
    assert " 0 failed" in amasia("verify", "--preset", "smoke", status=0).stdout.splitlines()[-1]


@pytest.mark.parametrize("n", [32, 64, 256])
def test_lud_is_judged_rightly_on_files_like_rodinias(amasia, tmp_path, n):
    """Products of triangles of uniform(0, 1): condition 1e9 and more."""
    draw = random.Random(n)
    lower = [[draw.random() if j < i else float(i == j) for j in range(n)] for i in range(n)]
    upper = [[draw.random() if j >= i else 0.0 for j in range(n)] for i in range(n)]
    product = (np.array(lower) @ np.array(upper)).tolist()
    rows = (" ".join(f"{value:f}" for value in row) for row in product)
    path = tmp_path / f"{n}.dat"
    path.write_text(f"{n}\n" + "\n".join(rows) + "\n")
    result = amasia("verify", "lud", "--size", f"n={n},matrix_file={path}", status=0)
    assert " 0 failed" in result.stdout.splitlines()[-1]


def test_baseline_against_itself_is_unresolved_and_three_percent_are_found(probe, tmp_path):
    out = tmp_path / "pace.json"
    options = ("--preset", "quick", "--roles", "iso", "--min-rounds", "41")
    probe("run", "pace", *options, "--out", str(out), status=0)
    group = read_result(out)["groups"][0]
    assert next(c for c in group["comparisons"] if c["control"])["verdict"] == "not resolved"
    slower = next(c for c in group["comparisons"] if c["variant"] == "pace/overlap")
    assert slower["verdict"] == "slower"
    assert 1 / 1.06 < slower["speedup"]["ratio"] < 1 / 1.01


# Samples of a quarter of a millisecond; beside a co-runner that is always at work, of a few.
ROUNDS_BESIDE = {5: 900, 20: 300, 100: 60}
AT_LENGTH = ("--size", "n=30000000", "--roles", "iso", "--cache", "cold", "--launch", "graph",
             "--records", "none")  # fmt: skip


@contextlib.contextmanager
def company(load: int) -> Iterator[None]:
    """Another process, until the block ends, that keeps every SM busy for a part of each 20 ms."""
    arguments = [program("amasia-co-runner"), str(load), "20", "120"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as co_runner:
        try:
            if co_runner.stdout.readline() != "running\n":
                why = co_runner.stderr.read()
                if "busy or unavailable" in why:
                    pytest.skip(f"the GPU takes one process at a time: {why}")
                pytest.fail(f"the co-runner does not run: {why}")
            yield
            assert co_runner.poll() is None, "the co-runner ended before what it was beside"
        finally:
            co_runner.kill()


@pytest.mark.parametrize("load", [5, 20, 100])
def test_company_is_seen_and_nothing_is_claimed(probe, tmp_path, load):
    out = tmp_path / "pace.json"
    rounds = str(ROUNDS_BESIDE[load])
    length = ("--min-rounds", rounds, "--max-rounds", rounds)
    with company(load):
        probe("run", "pace", *AT_LENGTH, *length, "--strict", "--out", out, timeout=110, status=4)
    group = read_result(out)["groups"][0]
    reasons = [why["reason"] for why in group["invalid"] if why["kind"] == "company"]
    assert len(reasons) == 1, group["invalid"]
    # Whether NVML shows it depends on the machine; the probes do by themselves.
    assert "probes between the samples had to wait or took longer" in reasons[0]
    assert group["repeated_because"]
    assert {c["claim"] for c in group["comparisons"]} == {"measurement invalid"}


def test_a_quiet_gpu_is_no_company_and_probes_cost_little(probe, tmp_path):
    out = tmp_path / "pace.json"
    sizes = [f"--size=n={n}" for n in range(1_000_000, 1_000_025)]
    modes = ("--cache", "cold,hot", "--launch", "graph", "--roles", "iso", "--max-rounds", "15")
    probe("run", "pace", *sizes, *modes, "--out", out, status=0)
    groups = read_result(out)["groups"]
    assert len(groups) == 50
    disturbed = [
        why
        for group in groups
        for member in ("invalid", "repeated_because")
        for why in group.get(member, [])
    ]
    assert not disturbed
    for group in groups:
        # One behind each of the three rows' samples, and those behind their verification.
        assert len(group["probe"]["wait_us"]) >= 45, group["key"]


def test_trouble_costs_only_itself(probe, tmp_path):
    out = tmp_path / "trouble.json"
    options = ("--preset", "smoke", "--roles", "iso", "--group-timeout", "20")
    probe("run", "trouble", *options, "--out", str(out), timeout=400, status=1)
    of_group = read_result(out)["groups"][0]["rows"]
    rows = {row["variant"]: row for row in of_group if row["role"] == "iso" and not row["repeat"]}
    assert rows["trouble/baseline"]["status"] == "ok"
    assert rows["trouble/baseline"]["time_ms"]["median"] > 0
    for name, status, reason in (
        ("register_bypass", "crashed", "illegal memory access"),
        ("overlap", "crashed", "hang"),
        ("drop_off", "skipped", "out of device memory"),
    ):
        row = rows[f"trouble/{name}"]
        assert row["status"] == status and reason in row["reason"]
    wrong = rows["trouble/tma"]
    assert wrong["status"] == "failed"
    assert wrong["samples"]["time_ms"] == [] and wrong["time_ms"] is None
    assert wrong["verdict"]["mismatches"] == 1
    assert "expected" in wrong["verdict"]["first_mismatches"][0]


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("careless", r"(?s)(?=.*gpu/probe_apps\.cu:).*a run that does nothing would pass"),
        # Where it is done before the outputs are poisoned it is wrong at once.
        ("aside", r"FAILED aside/overlap .*(works outside the stream|wrong result)"),
    ],
)
def test_an_app_that_deceives_is_not_believed(probe, app, said):
    result = probe("verify", app, status=1)
    assert re.search(said, result.stdout), result.stdout


def test_what_is_counted_is_the_work_that_was_done(probe, tmp_path):
    """y = 2 x + 1 over n floats, and the same over 3 % of them once more."""
    n, out = 30_000_000, tmp_path / "profile.json"
    result = probe("profile", "pace", "--size", f"n={n}", "--roles", "iso", "--out", str(out))
    last = result.stderr.strip().splitlines()[-1]
    if result.returncode == 1 and last.endswith("so nothing is attributed"):
        pytest.skip(last)  # no Nsight Compute, or no permission
    assert result.returncode == 0, result.stderr
    counted = {row.key[5]: row for row in read_profile(out)}
    plain, more = (counted[f"pace/{name}"] for name in ("baseline", "overlap"))
    # Of a warp at least a load, a multiplication and a store for each 32 floats, and not many more;
    # the few that come again are in a loop that is not unrolled.
    assert 3 < plain["instructions"] / (n / 32) < 20
    assert 3 < (more["instructions"] - plain["instructions"]) / (0.03 * n / 32) < 60
    # An SM was busy between the marks, for as long as 120 MB take at least at 10 TB/s and 2 GHz.
    assert 24e3 < plain["busiest_cycles"] < plain["cycles"]
    # Cold: x comes from DRAM, once. What is written may still be in L2 when the run ends.
    assert 0.95 < plain["dram_read_bytes"] / (4 * n) < 1.15
    assert plain["dram_write_bytes"] < 1.2 * 4 * n
    assert plain.stalls["long_scoreboard"] > 0.3
    assert sum(plain.stalls.values()) == pytest.approx(1)


def test_gbench_runs_with_its_native_flags(gpu, tmp_path):
    out = tmp_path / "gbench.json"
    runner("amasia-gbench")(
        *("pathfinder/tma", "--preset", "smoke", "--cache", "cold,hot", "--launch", "stream,graph"),
        *("--roles", "iso,best"),
        *("--benchmark_filter=rows=41,cols=433", "--benchmark_min_time=0.01"),
        *("--benchmark_repetitions=3", f"--benchmark_out={out}"),
        status=0,
    )
    entries = [e for e in json.loads(out.read_text())["benchmarks"] if e["run_type"] == "iteration"]
    assert {"iso", "best"} <= {e["name"].split("/")[2] for e in entries}
    assert {e["name"].split("/")[4] for e in entries} == {"cold", "hot"}
    assert {e["name"].split("/")[5] for e in entries} == {"stream", "graph"}
    assert all(e["real_time"] > 0 and "error_message" not in e for e in entries)
    points = ("launch/launches", "--benchmark_repetitions=3", f"--benchmark_out={out}")
    runner("amasia-gbench")(*points, status=0)
    entries = [e for e in json.loads(out.read_text())["benchmarks"] if "error_message" not in e]
    assert entries and all(e["value"] > 0 for e in entries if e.get("aggregate_name") == "median")
