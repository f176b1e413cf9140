"""amasia-gbench: Google Benchmark around the suite's own parts. amasia-stub-gbench is the same
program around a device that answers as a script says (tests/harness/stub_device/)."""

from __future__ import annotations

import json
import pathlib
import re
import runpy
import shlex
import subprocess
import sys
from typing import Any

import pytest
from programs import NO_GPU, Stubbed, one_line, program, runner

from tests.process import ROOT

COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
Script = dict[str, Any]
ONE_SIZE = ("--size", "n=1000")
ISO = (*ONE_SIZE, "--roles", "iso", "--cache", "cold")
CASE = "stub/tma/iso/n=1000/cold/stream"
TMA = CASE + "/iterations:1/manual_time"  # as the library lists it


class Bench(Stubbed):
    name = "amasia-stub-gbench"

    def entries(self, *arguments: str, script: Script | None = None, status: int = 0) -> list[dict]:
        """The single repetitions that a run writes as JSON."""
        done = self.run(*arguments, "--benchmark_format=json", script=script, status=status)
        return [e for e in json.loads(done.stdout)["benchmarks"] if e["run_type"] == "iteration"]


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    return Bench(tmp_path)


def errors(entries: list[dict]) -> dict[str, str]:
    return {e["name"]: e["error_message"] for e in entries if e.get("error_occurred")}


def test_every_app_and_microbenchmark_is_registered_cold_and_hot(bench: Bench) -> None:
    names = [line.split("/") for line in bench.run("--benchmark_list_tests").stdout.splitlines()]
    assert {"stub", "crossed"} <= {name[0] for name in names}
    assert ["stub", "points", "index=3", "iterations:1", "manual_time"] in names
    assert {(name[2], name[4], name[5]) for name in names if name[:2] == ["stub", "tma"]} == {
        (role, cache, "stream") for role in ("iso", "best") for cache in ("cold", "hot")
    }
    listed = ("stub/tma", *ONE_SIZE, "--benchmark_list_tests")
    some = bench.run(*listed, "--cache", "hot", "--launch", "graph", "--benchmark_filter=tma")
    assert some.stdout.splitlines() == [
        f"stub/tma/{role}/n=1000/hot/graph/iterations:1/manual_time" for role in ("iso", "best")
    ]


def test_times_and_counters(bench: Bench) -> None:
    script = {
        "rows": {"stub/tma": {"times": [1.0, 2.0, 4.0], "clock_mhz": [1500, 1490, 1510]}},
        "points": {"1": {"time_ns": [50.0, 51.0, 52.0]}},
    }
    selected = ("stub/tma", "stub/points", *ONE_SIZE)
    entries = bench.entries(*selected, "--benchmark_repetitions=3", script=script)
    tma = [e for e in entries if e["name"].startswith("stub/tma/best/n=1000/cold")]
    assert [e["real_time"] for e in tma] == [1e6, 2e6, 4e6]
    assert [e["bytes"] for e in tma] == pytest.approx([8e6, 4e6, 2e6])  # 8 n bytes
    assert [e["operations"] for e in tma] == pytest.approx([2e6, 1e6, 5e5])
    assert [e["sm_clock_mhz"] for e in tma] == [1500, 1490, 1510]
    assert {e["label"] for e in tma} == {"wide"}
    points = [e for e in entries if "points/index=1" in e["name"]]
    assert [e["real_time"] for e in points] == pytest.approx([50, 51, 52])
    assert [(e["value"], e["cycles"]) for e in points] == [(101, 11), (101, 12), (101, 13)]
    no_time = next(e for e in entries if "points/index=0" in e["name"])
    assert no_time["real_time"] > 0 and no_time["label"] == "latency in cycles"


def test_a_repetition_is_one_run_unless_a_time_is_given(bench: Bench) -> None:
    tma = ("stub/tma", *ISO, "--benchmark_filter=tma")
    assert [e["iterations"] for e in bench.entries(*tma)] == [1] * 15
    [entry] = bench.entries(*tma, "--benchmark_min_time=0.05", "--benchmark_repetitions=1")
    assert entry["iterations"] >= 50 and entry["real_time"] == pytest.approx(1e6)


@pytest.mark.parametrize(
    ("row", "reason", "status"),
    [
        ({"wrong": True}, "wrong result: 7: got 3, expected 4", 1),
        ({"wrong_after": True}, "wrong result after timing, right before: a race: 7: got 3", 1),
        ({"fault": {"do": "throw"}}, "the stub threw", 1),
        ({"fault": {"do": "throw", "at": "time", "call": 3}}, "the stub threw", 1),
        ({"times": [0]}, "the GPU's clock gave 0 ms for a run, 4 times in a row", 1),
        ({"skipped": "needs sm_100"}, "needs sm_100", 0),
        ({"fault": {"do": "no_memory"}}, "out of device memory (stub)", 0),
    ],
)
def test_what_goes_wrong_is_an_error_of_its_case(
    bench: Bench, row: Script, reason: str, status: int
) -> None:
    """Only what the GPU cannot run is no failure of the program. Nothing is tried twice."""
    selected = ("stub/tma", "stub/dsm", *ISO, "--benchmark_repetitions=3")
    script = {"rows": {"stub/tma": row}}
    entries = bench.entries(*selected, script=script, status=status)
    assert set(errors(entries)) == {TMA} and errors(entries)[TMA].startswith(reason)
    others = [e for e in entries if e["name"] != TMA]
    assert len(others) == 6 and all(e["real_time"] == 1e6 for e in others)
    said = bench.run(*selected, script=script, status=status).stderr
    assert said.count(f"{'FAILED' if status else 'skipped'} {CASE}: {reason}") == 1


def test_a_broken_context_ends_what_follows(bench: Bench) -> None:
    script = {"rows": {"stub/overlap": {"fault": {"do": "break", "at": "time", "call": 2}}}}
    entries = bench.entries("stub", *ISO, "--benchmark_repetitions=2", script=script, status=1)
    found = errors(entries)
    assert found.pop(TMA.replace("tma", "overlap")) == "the context of the stub is broken"
    assert len(found) == 3
    said = f"not run: {CASE.replace('tma', 'overlap')} broke the device's context"
    assert set(found.values()) == {said}


def test_a_throttled_run_is_an_error_of_its_repetition_alone(bench: Bench) -> None:
    script = {"rows": {"stub/tma": {"throttled": [False, True, True, True, True, True, False]}}}
    selected = ("stub/tma", *ISO, "--benchmark_filter=tma", "--benchmark_repetitions=3")
    entries = bench.entries(*selected, script=script)
    assert ["error_message" in e for e in entries] == [False, True, False]
    assert entries[1]["error_message"].endswith("let the GPU cool; stub power cap")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["hotspt"], "'hotspt' matches no variant"),
        (["stub", "--preset", "quik"], "no 'quik': did you mean quick?"),
        (["stub", "--size", "n=x"], "n"),
        (["--size", "n=1"], "--size belongs to one app"),
        (["stub", "--size", "n=999999999"], "needs 7999999992 bytes of device memory"),
        (["stub", "--device", "7"], "this stub has one device"),
        (["stub", "--tuning", "absent.json"], "no tuning file absent.json"),
        (["stub", "--benchmak_filter=x"], "no option '--benchmak_filter'"),
        (["stub", "--benchmark_filtre=x"], "does not take '--benchmark_filtre=x'"),
        (["stub", "--benchmark_filter=nothing"], "Failed to match any benchmarks"),
    ],
)
def test_mistakes_are_told_in_one_line(bench: Bench, arguments: list[str], part: str) -> None:
    done = bench.run(*arguments, status=2)
    assert part in one_line(done) and done.stdout == ""


def test_without_a_device_or_an_output_it_says_why(bench: Bench) -> None:
    alone = runner("amasia-gbench")("--benchmark_list_tests", cwd=bench.folder, **NO_GPU)
    assert one_line(alone, 3).startswith("amasia-gbench: no usable GPU: ")
    with open("/dev/full", "w") as full:
        command = [program("amasia-stub-gbench"), "stub/tma", *ISO]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1] == "amasia-gbench: standard output cannot be written"


@pytest.mark.skipif(not COMPARE.exists(), reason="needs compare.py (libbenchmark-tools)")
def test_compare_reads_a_file_and_runs_the_program(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """With the commands of the page. SciPy takes seconds to import: compare.py runs in here."""
    page = (ROOT / "docs/results.md").read_text().split("## Google Benchmark")[1]
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).replace("nw/", "stub/")
    commands = [shlex.split(line) for line in lines.splitlines() if line]
    folder = bench.folder / "build" / "sm90"
    folder.mkdir(parents=True)
    (folder / "amasia-gbench").symlink_to(program("amasia-stub-gbench"))
    older, slower = ({"rows": {"stub/tma": {"ms": ms, "noise": 0.01}}} for ms in (2.0, 3.0))
    bench.run(*commands[1][1:], script=older)
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("AMASIA_STUB", json.dumps(slower))
    monkeypatch.syspath_prepend(str(COMPARE.parent))
    assert commands[3][:2] == ["python3", str(COMPARE)]
    options = ["--no-color", "--dump_to_json", "compared.json"]
    monkeypatch.setattr(sys, "argv", [str(COMPARE), *options, *commands[3][2:]])
    runpy.run_path(str(COMPARE), run_name="__main__")
    report = {e["name"]: e for e in json.loads((bench.folder / "compared.json").read_text())}
    assert TMA.replace("iso", "best") in capfd.readouterr().out
    median = report[TMA.replace("iso", "best") + "_median"]["measurements"][0]
    assert median["time"] == pytest.approx(0.5, abs=0.02)
    assert report[TMA.replace("iso", "best")]["utest"]["time_pvalue"] < 0.001
    same = report[TMA.replace("tma/iso", "baseline/best") + "_median"]["measurements"][0]
    assert same["time"] == 0
