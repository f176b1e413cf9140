"""amasia-gbench: Google Benchmark around the suite's own parts. amasia-stub-gbench is the same
program around a device that answers as a script says (tests/harness/stub_device/)."""

from __future__ import annotations

import io
import json
import os
import pathlib
import re
import statistics
import subprocess
from typing import Any

import pandas
import pytest
from programs import NO_GPU, ROOT, program, runner

Script = dict[str, Any]
ONE_SIZE = ("--size", "n=1000")
AGGREGATES = ["mean", "median", "stddev", "cv"]


class Bench:
    """The two programs around the stub, in a folder of their own, with a script to follow."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def call(self, name: str, *arguments: str, script: Script | None = None, **environment: str):
        return runner(name)(
            *arguments,
            cwd=self.folder,
            timeout=120,
            AMASIA_STUB=json.dumps(script or {}),
            **environment,
        )

    def run(self, *arguments: str, script: Script | None = None, **environment: str):
        return self.call("amasia-stub-gbench", *arguments, script=script, **environment)

    def entries(self, *arguments: str, script: Script | None = None, status: int = 0) -> list[dict]:
        """The benchmarks that a run writes as JSON."""
        done = self.run(*arguments, "--benchmark_format=json", script=script)
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)["benchmarks"]

    def exported(self, *arguments: str, script: Script | None = None) -> dict:
        """What the export has of the same run of amasia."""
        run = ("run", *arguments, "--out", "run.json", "--overwrite", "--google-benchmark", "-")
        done = self.call("amasia-stub", *run, script=script)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    return Bench(tmp_path)


def single(entries: list[dict]) -> list[dict]:
    return [e for e in entries if e["run_type"] == "iteration"]


def errors(entries: list[dict]) -> dict[str, str]:
    return {e["name"]: e["error_message"] for e in entries if e.get("error_occurred")}


def one_line(done: subprocess.CompletedProcess, status: int = 2) -> str:
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


# --- Names and numbers ----------------------------------------------------------------------------


def test_a_live_run_has_the_names_of_an_export(bench: Bench) -> None:
    """Of every role, mode and microbenchmark, with the winners of a tuning file."""
    fast = {"ms": 0.5}
    script = {"rows": {"crossed/tma at tall": fast, "crossed/baseline at tall/ahead": fast}}
    tune = ("tune", "crossed", *ONE_SIZE, "--tuning", "tuning.json")
    assert bench.call("amasia-stub", *tune, script=script).returncode == 0
    selected = (
        "crossed",
        "stub/points",
        *ONE_SIZE,
        "--cache",
        "cold,hot",
        "--launch",
        "stream,graph",
    )
    selected += ("--roles", "iso,best,matched,cross", "--tuning", "tuning.json")
    listed = bench.run(*selected, "--benchmark_list_tests").stdout.splitlines()
    exported = bench.exported(*selected, script={"points": times_of_points()})
    names = [e["run_name"] for e in exported["benchmarks"] if "/repeat:1/" not in e["run_name"]]
    # dsm declines the schedule: only the run says so, and an export has no row of it.
    declined = {name for name in listed if name.startswith("crossed/dsm/cross/wide/")}
    assert len(declined) == 4 and set(listed) - declined == set(names)
    assert len(listed) == len(set(listed))
    # Of three variants that were tuned, dsm alone is best with another schedule than baseline.
    assert "crossed/tma/best/n=1000/hot/graph" in listed
    matched = {name.removesuffix("/n=1000/hot/graph") for name in listed if "/matched/" in name}
    assert {"crossed/baseline/matched/iso", "crossed/dsm/matched/tall"} <= matched
    assert not any(name.startswith("crossed/tma") for name in matched)
    assert "stub/points/index=3" in listed


def times_of_points() -> Script:
    return {str(i): {"time_ns": [50.0, 51.0, 52.0]} for i in range(4)}


def test_a_live_run_has_the_numbers_of_an_export(bench: Bench) -> None:
    """The same samples on both sides, so that every entry of the one is an entry of the other."""
    script = {
        "rows": {
            "stub/tma": {"times": [1.0, 2.0, 4.0], "clock_mhz": [1500, 1490, 1510]},
            "stub/overlap": {"times": [3.0, 3.0, 3.25]},
        },
        "points": times_of_points(),
        "ceilings": {"copy_bandwidth": [0.02]},
    }
    selected = ("stub/tma", "stub/overlap", "stub/points", *ONE_SIZE)
    rounds = ("--min-rounds", "3", "--max-rounds", "3", "--precision", "1")
    exported = bench.exported(*selected, *rounds, "--roles", "iso,best", script=script)
    live = bench.entries(
        *selected, "--ceilings", "measure", "--benchmark_repetitions=3", script=script
    )

    def relevant(entries: list[dict]) -> dict[tuple, dict]:
        own = ("family_index", "per_family_instance_index", "repetition_index", "repetitions")
        return {
            (e["name"], e.get("repetition_index")): {k: v for k, v in e.items() if k not in own}
            for e in entries
            # Points are sampled more often by amasia run than the script has times.
            if e["run_name"].startswith(("stub/tma", "stub/overlap"))
        }

    expected, found = relevant(exported["benchmarks"]), relevant(live)
    assert set(expected) == set(found) and len(found) == 4 * (3 + len(AGGREGATES))
    for key, entry in expected.items():
        assert list(entry) == list(found[key])  # also in the library's order
        assert entry == pytest.approx(found[key]), key

    tma = [e for e in single(live) if e["name"] == "stub/tma/best/n=1000/cold/stream"]
    assert [e["real_time"] for e in tma] == [1e6, 2e6, 4e6]
    assert [e["cpu_time"] for e in tma] == [1e6, 2e6, 4e6]
    assert [e["bytes"] for e in tma] == pytest.approx([8e6, 4e6, 2e6])  # 8 n bytes
    assert [e["operations"] for e in tma] == pytest.approx([2e6, 1e6, 5e5])
    assert [e["floor"] for e in tma] == pytest.approx([0.4, 0.2, 0.1])  # 8000 B at 0.02 GB/s
    assert [e["sm_clock_mhz"] for e in tma] == [1500, 1490, 1510]
    assert {e["label"] for e in tma} == {"wide"}
    overlap = next(e for e in live if e["name"].startswith("stub/overlap/iso"))
    assert "sm_clock_mhz" not in overlap and overlap["label"] == "iso"
    points = [e for e in single(live) if e["name"] == "stub/points/index=1"]
    assert [e["real_time"] for e in points] == pytest.approx([50, 51, 52])
    assert [(e["value"], e["cycles"]) for e in points] == [(101, 11), (101, 12), (101, 13)]
    assert points[0]["label"] == "latency in cycles"


def test_aggregates_are_those_of_the_repetitions(bench: Bench) -> None:
    times = [1.0, 2.0, 4.0, 3.0]
    script = {"rows": {"stub/tma": {"times": times}}}
    name = "stub/tma/iso/n=1000/cold/stream"
    selected = ("stub/tma", *ONE_SIZE, "--roles", "iso")
    entries = bench.entries(*selected, "--benchmark_repetitions=4", script=script)
    assert [e["name"] for e in entries] == [name] * 4 + [f"{name}_{a}" for a in AGGREGATES]
    found = {e["aggregate_name"]: e for e in entries if e["run_type"] == "aggregate"}
    deviation = statistics.stdev(times)
    expected = [2.5e6, 2.5e6, deviation * 1e6, deviation / 2.5]
    assert [found[a]["real_time"] for a in AGGREGATES] == pytest.approx(expected)
    assert [found[a]["aggregate_unit"] for a in AGGREGATES] == ["time"] * 3 + ["percentage"]


def test_there_is_no_floor_without_ceilings(bench: Bench) -> None:
    selected = ("stub/tma", *ONE_SIZE, "--benchmark_repetitions=1")
    assert all("floor" not in e for e in bench.entries(*selected))
    # Those of a file count, but not those of another GPU.
    bench.exported(
        "stub/tma", *ONE_SIZE, "--roles", "iso", script={"ceilings": {"copy_bandwidth": [0.02]}}
    )
    recorded = (*selected, "--ceilings", "run.json")
    assert [e["floor"] for e in bench.entries(*recorded)] == pytest.approx([0.4, 0.4])
    other = bench.run(*recorded, script={"device": {"name": "Stub 2"}})
    assert "they are of a Stub 1, this is a Stub 2" in one_line(other)


def test_ceilings_that_cannot_be_are_not_used(bench: Bench) -> None:
    script = {"device": {"memory_clock_mhz": 1, "memory_bus_bits": 8}}
    done = bench.run("stub/tma", *ONE_SIZE, "--ceilings", "measure", script=script)
    assert done.returncode == 0, done.stderr
    assert "note: no counter floor: ceiling: copy_bandwidth was measured as 1000" in done.stderr
    assert "floor=" not in done.stdout and "ceilings: in doubt" in done.stderr


def test_the_library_chooses_how_often_when_it_is_given_a_time(bench: Bench) -> None:
    selected = ("stub/tma", *ONE_SIZE, "--roles", "iso")
    assert [e["iterations"] for e in single(bench.entries(*selected))] == [1] * 15
    [entry] = bench.entries(*selected, "--benchmark_min_time=0.05", "--benchmark_repetitions=1")
    assert entry["iterations"] >= 50 and entry["real_time"] == pytest.approx(1e6)


def test_what_is_no_time_has_aggregates_alone(bench: Bench) -> None:
    entries = bench.entries("stub/points", "--benchmark_repetitions=3")
    assert len(entries) == 4 * len(AGGREGATES) and single(entries) == []
    mean = entries[0]
    assert (mean["name"], mean["real_time"]) == ("stub/points/index=0_mean", 0)
    assert (mean["value"], mean["label"]) == (100, "latency in cycles (no time)")
    exported = bench.exported("stub/points")["benchmarks"]
    assert [e["name"] for e in exported] == [e["name"] for e in entries]
    assert [e["value"] for e in exported] == [e["value"] for e in entries]


def test_the_context_says_where_it_is_from(bench: Bench) -> None:
    script = {"device": {"clock_mhz": 1980}, "state": {"power_limit_w": "650"}}
    arguments = ("stub/tma", *ONE_SIZE, "--ceilings", "measure", "--benchmark_format=json")
    context = json.loads(bench.run(*arguments, script=script).stdout)["context"]
    version = re.search(r"project\(amasia VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert context["amasia"] == version
    assert context["gpu"] == "Stub 1" and context["driver"] == "13000"
    assert context["sm_clock_max_mhz"] == "1980" and context["compute_capability"] == "9.0"
    assert context["device_state.power_limit_w"] == "650"
    assert context["ceilings"] == "measured" and context["ceiling.fp32_rate"] == "1000 G/s"
    exported = bench.exported("stub/tma", *ONE_SIZE, script=script)["context"]
    own = {"amasia", "ceilings", "ceiling.fp32_rate", "ceiling.copy_bandwidth"}
    assert set(context) - own == set(exported)
    assert all(context[key] == exported[key] for key in ("gpu", "driver", "commit"))


def test_only_what_is_selected_runs(bench: Bench) -> None:
    listed = bench.run("*/tma", "--preset", "smoke", "--benchmark_list_tests").stdout.split()
    assert {name.split("/")[1] for name in listed} == {"tma"}
    assert {name.split("/")[0] for name in listed} == {"stub", "crossed"}
    filtered = bench.run(
        "--preset", "smoke", "--benchmark_list_tests", "--benchmark_filter=dsm/iso"
    )
    assert filtered.stdout.split() == [
        "crossed/dsm/iso/n=1000/cold/stream",
        "stub/dsm/iso/n=1000/cold/stream",
    ]


def test_csv_takes_variants_and_microbenchmarks(bench: Bench) -> None:
    """The library's reporter ends the program over a counter that the first case lacks."""
    selected = ("stub/points", "stub/tma", *ONE_SIZE, "--benchmark_repetitions=1")
    script = {"rows": {"stub/tma best": {"clock_mhz": [1500]}}, "points": times_of_points()}
    flags = ("--benchmark_format=csv", "--benchmark_out=out.csv", "--benchmark_out_format=csv")
    done = bench.run(*selected, *flags, script=script)
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, (bench.folder / "out.csv").read_text()):
        table = pandas.read_csv(io.StringIO(text[text.index("name,") :])).set_index("name")
        assert table.loc["stub/tma/best/n=1000/cold/stream", "sm_clock_mhz"] == 1500
        assert pandas.isna(table.loc["stub/tma/iso/n=1000/cold/stream", "sm_clock_mhz"])
        assert table.loc["stub/points/index=2", "value"] == 102


# --- What goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"wrong": True}, "wrong result: 7: got 3, expected 4"),
        ({"wrong_after": True}, "wrong result after timing, right before: a race: 7: got 3"),
        ({"fault": {"do": "throw"}}, "the stub threw"),
        ({"fault": {"do": "throw", "at": "time", "call": 3}}, "the stub threw"),
        ({"times": [0]}, "the GPU's clock gave 0 ms for a run, 4 times in a row"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_reason(bench: Bench, row: Script, reason: str) -> None:
    selected = ("stub/tma", "stub/dsm", *ONE_SIZE, "--roles", "iso", "--benchmark_format=json")
    done = bench.run(*selected, "--benchmark_repetitions=3", script={"rows": {"stub/tma": row}})
    assert done.returncode == 1
    name = "stub/tma/iso/n=1000/cold/stream"
    assert [line for line in done.stderr.splitlines() if line.startswith("FAILED")] == [
        line for line in done.stderr.splitlines() if line.startswith(f"FAILED {name}: {reason}")
    ]
    entries = json.loads(done.stdout)["benchmarks"]
    assert errors(entries)[name].startswith(reason)
    last = [e for e in entries if e["name"] == name][-1]
    assert last["error_occurred"] and last["real_time"] == 0  # what failed once is not run again
    others = [e for e in single(entries) if e["name"] != name]
    assert len(others) == 3 and all(e["real_time"] == 1e6 for e in others)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"skipped": "needs sm_100"}, "needs sm_100"),
        ({"fault": {"do": "no_memory"}}, "out of device memory (stub)"),
    ],
)
def test_what_cannot_run_here_is_nobodys_fault(bench: Bench, row: Script, reason: str) -> None:
    selected = ("stub/tma", *ONE_SIZE, "--roles", "iso,best", "--benchmark_repetitions=2")
    entries = bench.entries(*selected, script={"rows": {"stub/tma iso": row}})
    assert errors(entries) == {"stub/tma/iso/n=1000/cold/stream": reason}
    assert sum("error_message" not in e and e["run_type"] == "iteration" for e in entries) == 2


def test_sizes_of_a_preset_that_do_not_fit_are_errors_of_their_own(bench: Bench) -> None:
    """The largest that the stub's gigabyte holds runs."""
    script = {"of_size": {"n=2000": {"rows": {"stub/tma": {"fault": {"do": "no_memory"}}}}}}
    entries = bench.entries("stub/tma", "--roles", "iso", "--preset", "quick", script=script)
    assert set(errors(entries)) == {"stub/tma/iso/n=2000/cold/stream"}
    refused = bench.run("stub/tma", "--size", "n=999999999")
    assert "needs 7999999992 bytes of device memory" in one_line(refused)


def test_a_broken_context_ends_what_follows(bench: Bench) -> None:
    script = {"rows": {"stub/overlap": {"fault": {"do": "break", "at": "time", "call": 2}}}}
    selected = ("stub", "--preset", "smoke", "--roles", "iso", "--benchmark_repetitions=2")
    entries = bench.entries(*selected, script=script, status=1)
    found = errors(entries)
    broken = "stub/overlap/iso/n=1000/cold/stream"
    assert found.pop(broken) == "the context of the stub is broken"
    assert len(found) == 3
    assert set(found.values()) == {f"not run: {broken} broke the device's context"}
    assert "stub/baseline/iso/n=1000/cold/stream" not in found


def test_a_throttled_run_is_an_error_of_its_repetition_alone(bench: Bench) -> None:
    script = {"rows": {"stub/tma": {"throttled": [False, True, True, True, True, True, False]}}}
    selected = ("stub/tma", *ONE_SIZE, "--roles", "iso", "--benchmark_repetitions=3")
    entries = single(bench.entries(*selected, script=script))
    assert ["error_message" in e for e in entries] == [False, True, False]
    assert entries[1]["error_message"].startswith(
        "throttled 4 times in a row (stub power cap): let the GPU cool"
    )


def test_points_that_cannot_be_read_say_why(bench: Bench) -> None:
    points = times_of_points()
    points["1"]["unavailable"] = "the driver refuses"
    points["2"]["values"] = [-1]
    points["3"]["fault"] = {"do": "throw"}
    entries = bench.entries("stub/points", script={"points": points}, status=1)
    found = errors(entries)
    assert found["stub/points/index=1"] == "the driver refuses"
    assert found["stub/points/index=2"] == "read -1 cycles, which no latency can be"
    assert found["stub/points/index=3"] == "the stub threw"
    assert "stub/points/index=0" not in found


def test_launches_that_cannot_be_blocked_are_told(bench: Bench) -> None:
    script = {"rows": {"stub/tma": {"blocked": False}}}
    done = bench.run("stub/tma", *ONE_SIZE, "--roles", "iso", script=script)
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert len(notes) == 1 and "host's jitter" in notes[0]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["hotspt"], "'hotspt' matches no variant"),
        (["stub", "--preset", "quik"], "no 'quik': did you mean quick?"),
        (["stub", "--cache", "warm"], "no 'warm'"),
        (["stub", "--size", "n=x"], "n"),
        (["stub", "--size", "n=1", "--preset", "quick"], "exclude each other"),
        (["--size", "n=1"], "--size belongs to one app"),
        (["stub", "--device", "7"], "this stub has one device"),
        (["stub", "--tuning", "absent.json"], "no tuning file absent.json"),
        (["stub", "--ceilings", "absent.json"], "absent.json"),
        (["stub", "--seed", "-1"], "--seed"),
        (["stub", "--benchmak_filter=x"], "--benchmak_filter=x"),
        (["stub", "--benchmark_filtre=x"], "does not take '--benchmark_filtre=x'"),
        (["stub", "--benchmark_format=xml"], "--benchmark_format=xml: expected console, json, csv"),
        (["stub", "--benchmark_time_unit=h"], "--benchmark_time_unit=h: expected ns, us, ms, s"),
        (["stub", "--benchmark_out=/proc/no/such.json"], "/proc/no/such.json"),
        (["stub", "--benchmark_filter=nothing"], "Failed to match any benchmarks"),
        (["stub", "--benchmark_filter=nothing", "--benchmark_list_tests"], "Failed to match"),
    ],
)
def test_mistakes_are_told_in_one_line(bench: Bench, arguments: list[str], part: str) -> None:
    assert part in one_line(bench.run(*arguments))


def test_formats_of_the_environment_count(bench: Bench) -> None:
    """As the library has it; and its flag goes before them."""
    selected = ("stub/tma", *ONE_SIZE, "--roles", "iso")
    environment = {"BENCHMARK_FORMAT": "json", "BENCHMARK_REPETITIONS": "2"}
    entries = json.loads(bench.run(*selected, **environment).stdout)["benchmarks"]
    assert len(single(entries)) == 2
    flag = bench.run(*selected, "--benchmark_repetitions=3", **environment)
    assert len(single(json.loads(flag.stdout)["benchmarks"])) == 3
    assert "xml" in one_line(bench.run(*selected, BENCHMARK_FORMAT="xml"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_output_that_cannot_be_written_is_an_error(bench: Bench) -> None:
    selected = [program("amasia-stub-gbench"), "stub/tma", *ONE_SIZE]
    with open("/dev/full", "w") as full:
        done = subprocess.run(selected, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1] == "amasia-gbench: standard output cannot be written"
    filled = bench.run(*selected[1:], "--benchmark_out=/dev/full")
    assert filled.returncode == 5
    assert filled.stderr.splitlines()[-1] == "amasia-gbench: /dev/full: cannot be written"


def test_without_a_device_it_says_why(bench: Bench) -> None:
    result = runner("amasia-gbench")("--benchmark_list_tests", cwd=bench.folder, **NO_GPU)
    line = one_line(result, 3)
    assert line.startswith("amasia-gbench: no usable GPU: ")


def test_help_names_both_kinds_of_flags(bench: Bench) -> None:
    done = bench.run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for flag in ("--preset", "--cache", "--ceilings", "--benchmark_filter", "Exit codes:"):
        assert flag in done.stdout
    own = done.stdout[: done.stdout.index("Flags of Google Benchmark")]
    assert max(map(len, own.splitlines())) <= 100
    assert bench.run("--version").stdout.startswith("amasia-gbench ")
