"""What is around a device, shown without one: amasia-stub is the program around a device that
answers as a script says, in child processes that really run (tests/harness/stub_device/)."""

from __future__ import annotations

import csv
import json
import math
import os
import pathlib
import re
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from programs import BUSY, Stubbed, program, read_result

from plots.data.documents import read_document
from tests.process import run, sealed

Script = dict[str, Any]
KILLED = "the process was killed by signal"
THREE = ("--size", "n=1000", "--size", "n=2000", "--size", "n=3000")


class Stub(Stubbed):
    """With a result, `run.json`."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.out = folder / "run.json"
        self.journal = folder / "run.json.journal"

    def measure(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
        """`run stub` at iso, at one size unless told otherwise."""
        sizes = () if "--size" in arguments else ("--size", "n=1000")
        return self.run(
            "run", "stub", "--roles", "iso", *sizes, "--out", str(self.out), *arguments, **options
        )

    def start(self, *arguments: str, script: Script | None = None, **streams: Any):
        return subprocess.Popen(
            [program("amasia-stub"), *arguments],
            cwd=self.folder,
            env={**os.environ, **self.environment(script)},
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams},
        )

    def slowly(self, *arguments: str, **streams: Any):
        """`run stub` at three sizes, each of which takes its time."""
        command = ("run", "stub", "--roles", "iso", *THREE, "--out", str(self.out), *arguments)
        return self.start(*command, script=SLOW, **streams)

    def killed(self, condition: Callable[[], bool], *arguments: str) -> None:
        """The same, until it comes to that."""
        with self.slowly(*arguments, stderr=subprocess.PIPE) as process:
            wait_until(condition)
            process.kill()
            process.communicate()  # until its last child has ended, too

    def group(self, index: int = 0) -> dict:
        return read_result(self.out)["groups"][index]

    def rows(self, index: int = 0) -> dict[str, dict]:
        """By variant; the control of the baseline as "control"."""
        return {
            "control" if row["repeat"] else row["variant"].removeprefix("stub/"): row
            for row in self.group(index)["rows"]
        }

    def opened(self) -> list[str]:
        """The sizes of the groups that a child began to measure, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split()[2] for line in lines if line.startswith("open ")]


@pytest.fixture
def stub(tmp_path: pathlib.Path) -> Stub:
    return Stub(tmp_path)


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def finished_groups(journal: pathlib.Path) -> int:
    """By whole lines: the last may be half-written at any moment."""
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    return sum(line.startswith('{"group":{') for line in lines)


def no_litter(folder: pathlib.Path) -> bool:
    return not [path for path in folder.iterdir() if ".tmp" in path.name]


def null_device(folder: pathlib.Path) -> pathlib.Path:
    """Like /dev/null. Root gets one of its own, because root could replace the machine's."""
    path = folder / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.open("w").close()
    except OSError:
        if os.geteuid() == 0:
            pytest.skip("root cannot make a device here")
        return pathlib.Path("/dev/null")
    return path


# What is measured.


def test_sides_signs_and_control(stub: Stub) -> None:
    times = {"stub/baseline": {"ms": 2.0}, "stub/tma": {"ms": 0.5}, "stub/dsm": {"ms": 4.0}}
    arguments = ["run", "stub", "--roles", "best", "--size", "n=1000", "--seed", "010"]
    result = stub.run(*arguments, "--out", str(stub.out), script={"rows": times})
    assert stub.group()["seed"] == 10  # not octal
    speedups = {
        "control" if c["control"] else c["variant"]: (c["speedup"]["ratio"], c["verdict"])
        for c in stub.group()["comparisons"]
    }
    assert speedups["stub/tma"] == (pytest.approx(4), "faster")
    assert speedups["stub/dsm"] == (pytest.approx(0.5), "slower")
    assert speedups["control"] == (1, "not resolved")
    said = result.stderr.splitlines()
    assert said[-2] == (
        "stub n=1000 cold stream: tma 4.00× [4.00, 4.00] faster than the tuned baseline (one run)"
    )
    assert said[-1].startswith("next: ")


def test_python_finds_the_same_intervals_of_dependent_rounds(stub: Stub) -> None:
    """The reader computes intervals and claims again, whatever the file says of them."""
    swing = [1 + 0.01 * math.sin(2 * math.pi * i / 30) for i in range(60)]
    rows = {"stub/tma": {"times": swing}, "stub/dsm": {"ms": 0.98, "second": [1.03]}}
    rounds = ("--min-rounds", "60", "--max-rounds", "60")
    stub.measure(*rounds, script={"rows": rows})
    assert read_document(stub.out).version == 5
    group = stub.group()
    assert group["interval_rule"] == "effective"
    found = {c["variant"]: c for c in group["comparisons"] if not c["control"]}
    assert found["stub/dsm"]["verdict"] == "faster"
    assert found["stub/dsm"]["claim"] == "within A/A noise"
    assert found["stub/dsm"]["itself"]["ratio"] == pytest.approx(1 / 1.03)
    median = stub.rows()["dsm"]["time_ms"]["median"]
    assert median == pytest.approx(0.98), "a second run is no sample of the row"
    warnings = " ".join(group["warnings"])
    assert "stub/dsm iso differs from itself" in warnings and "allows for it" in warnings
    assert "over 60 rounds" in warnings and "--sessions" in warnings

    document = json.loads(stub.out.read_text())
    del document["groups"][0]["interval_rule"]
    document["groups"][0]["comparisons"] = []
    edited = stub.folder / "edited.json"
    edited.write_text(sealed(document))
    assert stub.run("export", str(edited)).stdout == stub.run("export", str(stub.out)).stdout


def test_each_point_of_a_microbenchmark_has_its_own_outcome(stub: Stub) -> None:
    """A kill from outside costs no point, a crash only the point itself."""
    points = {
        "0": {"fault": {"do": "kill", "once": str(stub.folder / "killed")}},
        "1": {"unavailable": "not on a stub"},
        "2": {"values": [7.0]},
        "3": {"fault": {"do": "abort"}},
    }
    stub.run("run", "stub/points", "--out", str(stub.out), script={"points": points}, status=1)
    measured = read_result(stub.out)["microbenchmarks"][0]
    assert [row["status"] for row in measured["rows"]] == ["ok", "skipped", "ok", "crashed"]
    assert measured["rows"][1]["reason"] == "not on a stub"
    assert measured["rows"][2]["value"]["median"] == 7
    del points["0"], points["3"]
    stub.run("run", "stub/points", "--out", str(stub.out), "--overwrite", script={"points": points})
    assert read_result(stub.out)["microbenchmarks"][0]["findings"][0]["value"] == 3


def test_a_point_stops_at_a_limit_and_its_trouble_is_its_own(stub: Stub) -> None:
    points = {
        "0": {"values": [-1.0]},
        "1": {"fault": {"do": "throw"}},
        "2": {"fault": {"do": "no_memory"}},
        "3": {"fault": {"do": "break"}},  # nothing more can run in this process
    }
    command = ("run", "stub/points", "--max-rounds", "12", "--out", str(stub.out), "--overwrite")
    stub.run(*command, script={"points": points}, status=1)
    rows = read_result(stub.out)["microbenchmarks"][0]["rows"]
    assert [row["status"] for row in rows] == ["failed", "failed", "skipped", "crashed"]
    never = "read -1 cycles, which no latency can be, 4 times in a row"
    reasons = (never, "the stub threw", "out of device memory")
    for row, reason in zip(rows, (*reasons, "the context of the stub is broken"), strict=True):
        assert reason in row["reason"] and not row.get("samples", {}).get("value")
    stub.run(*command, script={"points": {"0": {"values": [30.0, 40.0]}, "1": {"values": [33.0]}}})
    rows = read_result(stub.out)["microbenchmarks"][0]["rows"]
    stops = [(row["stop_reason"], len(row["samples"]["value"])) for row in rows[:2]]
    assert stops == [("sample limit", 12), ("interval narrow enough", 7)]
    assert rows[0]["samples"]["cycles"][0] == 11  # the first reading is not recorded
    stub.run(*command, script={"points": {"0": {"values": [30.0, -1.0, -1.0, 40.0]}}})
    disturbed = read_result(stub.out)["microbenchmarks"][0]
    assert disturbed["rows"][0]["samples"]["value"] == [30.0, 40.0] * 6
    (warning,) = disturbed["warnings"]
    assert warning.endswith("12 of 24 readings were no latency and were taken again")


# Trouble costs only itself.


ABORTED = rf"{KILLED} 6.*\(stub_device/stub_apps\.cpp:\d+\)$"
SHORT = ("--seconds", "0.5", "--group-timeout", "1.5")


@pytest.mark.parametrize(
    ("row", "options", "status", "reason", "attempts"),
    [
        ({"fault": {"do": "abort", "at": "prepare"}}, (), "crashed", ABORTED, 2),
        ({"fault": {"do": "abort", "at": "time", "call": 2}}, (), "crashed", ABORTED, 2),
        ({"fault": {"do": "abort", "at": "verify"}}, (), "crashed", ABORTED, 2),
        # What a hanging row goes on to print is no step, even if it looks like one.
        ({"fault": {"do": "hang", "at": "time"}}, SHORT, "crashed", r"\(hang\)", 2),
        ({"fault": {"do": "babble", "at": "time"}}, SHORT, "crashed", r"\(hang\)", 2),
        # A SIGKILL, such as the kernel's when memory is short, need not mean the row at work. A row
        # that is killed twice is left out.
        ({"fault": {"do": "kill", "at": "time", "once": "killed"}}, (), "ok", "", 2),
        ({"fault": {"do": "kill", "at": "time"}}, (), "crashed", f"{KILLED} 9", 3),
        ({"wrong": True}, (), "failed", "", 1),
        ({"wrong_after": True}, (), "failed", "a race", 1),
    ],
)
def test_trouble_costs_its_row_alone(
    stub: Stub, row: Script, options: tuple[str, ...], status: str, reason: str, attempts: int
) -> None:
    stub.measure(*options, script={"rows": {"stub/tma": row}}, status=int(status != "ok"))
    tma = stub.rows().pop("tma")
    assert tma["status"] == status and re.search(reason, tma["reason"])
    assert (tma["time_ms"] is None) == (tma["samples"]["time_ms"] == []) == (status != "ok")
    assert {row["status"] for name, row in stub.rows().items() if name != "tma"} == {"ok"}
    assert len(stub.opened()) == attempts


def test_a_crash_of_the_baseline_takes_its_control_along(stub: Stub) -> None:
    """The same code in the same config would crash again; the other roles run another."""
    fault = {"do": "exit", "at": "prepare"}
    arguments = ("run", "stub", "--size", "n=1000", "--out", str(stub.out))
    stub.run(*arguments, script={"rows": {"stub/baseline iso first": {"fault": fault}}}, status=1)
    rows = stub.group()["rows"]
    status = {(row["variant"], row["role"], row["repeat"]): row["status"] for row in rows}
    crashed = {key for key, word in status.items() if word == "crashed"}
    assert crashed == {("stub/baseline", "iso", 0), ("stub/baseline", "iso", 1)}
    assert set(status.values()) == {"ok", "crashed"}
    assert len(stub.opened()) == 2


def test_a_slow_group_is_no_hang(stub: Stub) -> None:
    """Time is counted for each step: many slow rows together may take longer than one may."""
    script = {"rows": {f"stub/{name}": {"sleep_s": 0.4} for name in ("baseline", "tma", "dsm")}}
    begun = time.monotonic()
    stub.measure("--seconds", "0.2", "--min-rounds", "2", "--group-timeout", "1.5", script=script)
    assert time.monotonic() - begun > 3
    assert all(row["status"] == "ok" for row in stub.rows().values())
    assert len(stub.opened()) == 1


def test_what_an_app_prints_is_no_answer(stub: Stub) -> None:
    """Whole lines, which could be an answer, and the beginning of one. It is shown on stderr."""
    chatter = ["hello", '{"result": 3}', '{"error": "no", "usage": true}', '{"row": 2, "line": ""}']
    lines = [f"{line}\n" for line in chatter]
    result = stub.measure(script={"stdout": [*lines, "half a line"]})
    assert all(row["status"] == "ok" for row in stub.rows().values())
    for said in (*chatter, "half a line"):
        assert said in result.stderr and said not in result.stdout


def test_an_app_that_breaks_while_its_instance_is_made_costs_its_groups(stub: Stub) -> None:
    one = {"of_size": {"n=1000": {"open": {"do": "abort"}}}}
    stub.measure("--size", "n=1000", "--size", "n=2000", script=one, status=1)
    file = json.loads(stub.out.read_text())
    assert [{r["status"] for r in g["rows"]} for g in file["groups"]] == [{"crashed"}, {"ok"}]
    reason = file["groups"][0]["rows"][0]["reason"]
    assert "signal 6" in reason and "before a row ran" in reason
    assert re.search(r"its instance is made at stub_device/stub_apps\.cpp:\d+", reason), reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ({"open": {"do": "no_memory"}}, "device_bytes() of stub says 8000 bytes"),
        ({"poisoned": False}, "a run that does nothing would pass"),
        ({"work": {"bytes_read": 1e6}}, "work() says bytes_read = 1000000, and device_bytes()"),
    ],
)
def test_what_an_app_says_wrong_fails_its_rows(stub: Stub, script: Script, reason: str) -> None:
    stub.measure(script=script, status=1)
    assert reason in stub.rows()["tma"]["reason"]
    assert all(row["status"] != "ok" for row in stub.rows().values())


def test_verify_names_a_wrong_row_with_its_place(stub: Stub) -> None:
    wrong: Script = {"rows": {"stub/tma": {"wrong": True}}}
    for script, said in (
        (wrong, r"FAILED .*: wrong result \(stub_device/stub_apps\.cpp:\d+\)"),
        ({"poisoned": False}, r"FAILED stub/tma .*a run that does nothing would pass"),
    ):
        verified = stub.run("verify", "stub/tma", script=script, status=1)
        assert re.search(said, verified.stdout), verified.stdout


# What is disturbed is not believed.

QUIET = {**BUSY, "wait_us": [0, 1, 2]}
# A process that computes for 5, 20 or 100 % of the time, as one in so many launches meets it.
WAITS = {5: [700] + 19 * [1], 20: [700] + 4 * [1], 100: BUSY["wait_us"]}
COMPANY = {load: {**BUSY, "wait_us": waits} for load, waits in WAITS.items()}


def claims(stub: Stub) -> set[str]:
    return {c["claim"] for c in stub.group()["comparisons"]}


FAST_TMA = {"rows": {"stub/tma": {"ms": 0.5}}}


@pytest.mark.parametrize("load", [5, 20, 100])
def test_company_is_seen_and_nothing_is_claimed(stub: Stub, load: int) -> None:
    result = stub.measure("--strict", script={"probe": COMPANY[load], **FAST_TMA}, status=4)
    assert len(stub.opened()) == 2  # measured once more
    for why in (stub.group()["invalid"], stub.group()["repeated_because"]):
        assert [entry["kind"] for entry in why] == ["company"]
        assert "probes between the samples had to wait" in why[0]["reason"] and why[0]["remedy"]
    assert claims(stub) == {"measurement invalid"}
    assert "INVALID stub n=1000" in result.stderr and "faster" not in result.stderr
    assert "INVALID, nothing is claimed (company)" in result.stdout
    assert stub.rows()["tma"]["time_ms"]["median"] == 0.5  # what was measured stays
    lax = stub.measure("--overwrite", script={"probe": COMPANY[load]})
    assert "INVALID stub n=1000" in lax.stderr


def test_company_of_a_microbenchmark_is_named_by_nvml(stub: Stub) -> None:
    command = ("run", "stub/points", "--out", str(stub.out))
    stub.run(*command, "--strict")
    script = {"company": "process 4711 used the SMs for 40 %"}
    result = stub.run(*command, "--strict", "--overwrite", script=script, status=4)
    said = "not valid: company: another process computed on this GPU (NVML: process 4711"
    assert f"warning: stub/points: {said}" in result.stderr
    stub.run(*command, "--overwrite", script=script)
    assert "next: amasia reproduce" in reproduce(stub, script=script).stderr


def test_a_search_in_company_has_no_winner_and_ends_so(stub: Stub) -> None:
    command = ("tune", "stub/tma", "--size", "n=1000", "--tuning", "tuning.json")
    assert "no winner is recorded" in stub.run(*command, script={"probe": BUSY}, status=4).stderr
    assert not (stub.folder / "tuning.json").exists()
    stub.run(*command, script={"probe": QUIET})


def test_a_quiet_group_is_measured_once_and_a_disturbed_one_twice(stub: Stub) -> None:
    stub.measure("--strict", script={"probe": QUIET, **FAST_TMA})
    assert len(stub.opened()) == 1
    assert "invalid" not in stub.group() and "repeated_because" not in stub.group()
    assert "faster" in claims(stub)
    stub.log.unlink()
    leaves = {"probe": COMPANY[20], "again": {"probe": QUIET}, **FAST_TMA}
    result = stub.measure("--strict", "--overwrite", script=leaves)
    assert len(stub.opened()) == 2
    assert "invalid" not in stub.group() and "faster" in claims(stub)
    assert stub.group()["repeated_because"][0]["kind"] == "company"
    assert "measured a second time, because of the first (company)" in result.stdout


H200 = {"clock_mhz": 1000, "memory_clock_mhz": 1000, "memory_bus_bits": 4000}  # 1000 GB/s at most


def test_a_ceiling_that_cannot_be_is_measured_again_and_spoils_all(stub: Stub) -> None:
    ceilings = {"copy_bandwidth": [1020.0]}
    script = {"device": H200, "ceilings": ceilings, "probe": QUIET}
    stub.measure("--size", "n=1000", "--size", "n=2000", "--strict", script=script, status=4)
    for index in (0, 1):
        assert [entry["kind"] for entry in stub.group(index)["invalid"]] == ["ceiling"]
        assert "allow 1000" in stub.group(index)["invalid"][0]["reason"]
    assert stub.opened() == ["n=1000", "n=2000"]  # a group cannot mend it
    assert stub.log.read_text().count("ceilings") == 2

    stub.out.unlink()
    stub.log.unlink()
    script["ceilings"] = {"copy_bandwidth": [1020.0, 990.0]}
    stub.measure("--strict", script=script)
    assert json.loads(stub.out.read_text())["ceilings"][0]["value"] == 990


def test_ceilings_are_held_against_earlier_runs(stub: Stub) -> None:
    folder = stub.folder / "results" / "stub-1"
    folder.mkdir(parents=True)
    for index, value in enumerate((995.0, 1000.0, 1005.0)):
        stub.out = folder / f"{index}.json"
        script = {"ceilings": {"copy_bandwidth": [value]}}
        stub.measure(script=script)
    stub.out = stub.folder / "run.json"
    low = {"ceilings": {"copy_bandwidth": [930.0]}, "probe": QUIET}
    stub.measure("--strict", script=low, status=4)
    reason = stub.group()["invalid"][0]["reason"]
    assert "in 3 earlier runs on this model it was 1000 with a tolerance of 6.0 %" in reason
    for records in ("none", str(stub.folder)):  # there are none of them there
        stub.measure("--strict", "--overwrite", "--records", records, script=low)
    stub.measure("--strict", "--overwrite", "--records", str(folder), script=low, status=4)
    nowhere = stub.measure("--overwrite", "--records", "nowhere", status=2).stderr
    assert "--records nowhere: no such folder" in nowhere and nowhere.count("\n") == 1


def test_tables_mark_what_is_not_valid(stub: Stub) -> None:
    table = stub.folder / "rows.csv"
    for script, mark in (({"probe": BUSY}, "company"), ({"probe": QUIET}, "")):
        stub.measure("--overwrite", script=script)
        stub.run("export", str(stub.out), "--csv", str(table))
        lines = list(csv.DictReader(table.read_text().splitlines()))
        assert {line["variant"] for line in lines} >= {"stub/baseline", "stub/tma"}
        assert {line["invalid"] for line in lines} == {mark}


CONTROL = {"rows": {"stub/baseline iso control": {"ms": 1.03}}}
LIMITS = {"state": {"power_limit_w": "700"}, "state_after": {"power_limit_w": "400"}}
BELOW_FLOOR = {"rows": {"stub/tma": {"ms": 7e-6}}}  # 8000 bytes at 1000 GB/s are 8e-6 ms


@pytest.mark.parametrize(
    ("script", "kind", "reason"),
    [
        ({"drift": [1 + 0.01 * i for i in range(40)]}, "drift", "rose by"),
        (CONTROL, "drift", "differs from itself by 2.91 %"),
        (BELOW_FLOOR, "floor", "stub/tma iso"),
        (LIMITS, "device state", "is 400 W now"),
    ],
)
def test_what_cannot_be_is_not_believed(stub: Stub, script: Script, kind: str, reason: str) -> None:
    rounds = ("--min-rounds", "40", "--max-rounds", "40")
    stub.measure(*rounds, "--strict", script=script, status=4)
    why = stub.group()["invalid"][0]
    assert why["kind"] == kind and reason in why["reason"]
    hot = ("--cache", "hot", "--strict", "--overwrite")  # without a floor
    if script is BELOW_FLOOR:
        stub.measure(*hot, script=script)


def test_what_has_its_winner_is_not_searched_again(stub: Stub) -> None:
    tuning = stub.folder / "tuning.json"
    arguments = ["tune", "--missing", "--tuning", str(tuning)]

    def winners() -> dict[tuple[str, int], dict]:
        entries = json.loads(tuning.read_text())["entries"]
        return {(e["variant"], int(e["size"]["n"])): e for e in entries}

    stub.run(*arguments, "stub/tma", "stub/baseline", "--size", "n=1000")
    before = winners()
    stub.run(*arguments, "stub", "--size", "n=1000", "--size", "n=2000")
    assert {entry: winners()[entry] for entry in before} == before
    assert {("stub/dsm", 1000), ("stub/tma", 2000)} <= set(winners())
    again = stub.run(*arguments, "stub/tma", "--size", "n=1000")
    assert "n=1000 cold graph: has its winners" in again.stderr
    dry = stub.run(*arguments, "stub/tma", "--size", "n=1000", "--dry-run")
    assert "n=1000 cold graph: has its winners" in dry.stderr
    # A winner of other code is none.
    file = json.loads(tuning.read_text())
    for entry in file["entries"]:
        entry["source_digest"] = "0" * 64
    tuning.write_text(json.dumps(file))
    assert "has its winners" not in stub.run(*arguments, "stub/tma", "--size", "n=1000").stderr


def test_searches_at_the_same_time_keep_each_other_s_winners(stub: Stub) -> None:
    tuning = stub.folder / "tuning.json"
    arguments = ["--size", "n=1000", "--tuning", str(tuning)]
    slow = {"rows": {"stub/tma": {"sleep_s": 0.02}}}
    first = stub.start("tune", "stub/tma", *arguments, "--min-rounds", "40", script=slow)
    wait_until(lambda: stub.opened() == ["n=1000"])
    stub.run("tune", "crossed/tma", *arguments)
    assert first.poll() is None and first.wait(60) == 0
    entries = json.loads(tuning.read_text())["entries"]
    assert [entry["variant"] for entry in entries] == ["crossed/tma", "stub/tma"]
    assert no_litter(stub.folder)


def test_what_nvml_or_mig_hides_is_said_in_a_line(stub: Stub) -> None:
    script = {"state": {"nvml": "nvmlInit_v2 failed with NVML error 999"}}
    result = stub.measure(script=script)
    assert "note: nvmlInit_v2 failed with NVML error 999" in result.stderr
    result = stub.measure("--overwrite", script={"state": {"mig": "on"}})
    assert "note: MIG is on" in result.stderr
    assert "note:" not in stub.measure("--overwrite").stderr


# What was finished is kept.

SLOW = {"rows": {"stub/baseline": {"sleep_s": 0.02}}}


def test_a_killed_run_resumes_where_it_was(stub: Stub) -> None:
    stub.killed(lambda: finished_groups(stub.journal) >= 1)
    assert not stub.out.exists()
    kept = finished_groups(stub.journal)
    assert 1 <= kept < 3
    assert "--resume" in stub.measure(*THREE, status=2).stderr
    stub.log.unlink()

    # Other times now: what is in the file tells who measured it.
    stub.measure(*THREE, "--resume", script={"rows": {"stub/tma": {"ms": 0.25}}})
    assert not stub.journal.exists()
    assert stub.opened() == [f"n={n}" for n in (1000, 2000, 3000)[kept:]]
    medians = [stub.rows(i)["tma"]["time_ms"]["median"] for i in range(3)]
    assert medians == [1.0] * kept + [0.25] * (3 - kept)
    assert [stub.group(i)["key"]["size"]["n"] for i in range(3)] == [1000, 2000, 3000]


@pytest.fixture
def left_journal(stub: Stub) -> list[dict]:
    """The lines of the journal of a run that lost its GPU at its third group."""
    gone = str(stub.folder / "gone")
    fault = {"do": "abort", "at": "time", "once": gone}
    script = {
        **NOISY,
        "of_size": {"n=3000": {"rows": {"stub/tma": {"fault": fault}}}},
        "device": {"fault": {"do": "throw", "after": gone}},
    }
    lost = stub.measure(*THREE, script=script, status=3)
    assert "the GPU does not answer any more (the stub threw)" in lost.stderr
    assert "--resume" in lost.stderr and not stub.out.exists()
    assert finished_groups(stub.journal) == 2
    (stub.folder / "gone").unlink()
    stub.log.unlink()
    return [json.loads(line) for line in stub.journal.read_text().splitlines()]


def test_a_device_that_is_lost_costs_no_group(stub: Stub, left_journal: list[dict]) -> None:
    """A GPU that falls off the bus takes the row at work along, and no device answers then."""
    stub.measure(*THREE, "--resume")
    assert len(left_journal) == 4 and stub.opened() == ["n=3000"]
    assert {row["status"] for row in stub.rows(2).values()} == {"ok"}


def write_journal(stub: Stub, lines: list[dict]) -> str:
    """What is not changed stays as it was, to the byte."""
    before = stub.journal.read_text().splitlines()
    written = "".join(
        (text if json.loads(text) == line else json.dumps(line)) + "\n"
        for text, line in zip(before, lines, strict=True)
    )
    stub.journal.write_text(written)
    return written


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: row["samples"]["time_ms"].__setitem__(3, 1.5),
        lambda row: row["time_ms"].update(median=7.0),
        lambda row: row.update(config="of another time"),
    ],
)
def test_a_damaged_group_of_a_journal_is_measured_again(
    stub: Stub, left_journal: list[dict], damage: Callable[[dict], None]
) -> None:
    assert "group" in left_journal[2] and "group" in left_journal[3]
    damage(left_journal[3]["group"]["rows"][2])
    written = write_journal(stub, left_journal)
    merged = stub.run("merge", str(stub.journal), "--out", "merged.json", status=2)
    assert len(merged.stderr.splitlines()) == 1
    result = stub.measure(*THREE, "--resume", script=NOISY)
    assert stub.opened() == ["n=2000", "n=3000"]
    said = [line for line in result.stderr.splitlines() if "measured again" in line]
    assert len(said) == 1 and "stub n=2000 cold stream" in said[0]
    assert (stub.folder / "run.json.journal.damaged").read_text() == written
    assert [stub.group(i)["key"]["size"]["n"] for i in range(3)] == [1000, 2000, 3000]
    (first, _, _) = json.loads(stub.out.read_text())["groups"]
    recorded = left_journal[2]["group"]
    assert [row["samples"] for row in first["rows"]] == [r["samples"] for r in recorded["rows"]]
    assert first["comparisons"] == recorded["comparisons"]


def test_what_stays_damaged_is_in_no_journal(stub: Stub, left_journal: list[dict]) -> None:
    """The run that goes on may be stopped, too, before it has measured again what was damaged."""
    left_journal[3]["group"]["rows"][2]["time_ms"]["median"] = 7.0
    write_journal(stub, left_journal)
    stub.killed(lambda: stub.opened() == ["n=2000"], "--resume")
    lines = [json.loads(line) for line in stub.journal.read_text().splitlines()]
    assert [next(iter(line)) for line in lines] == ["schema", "ceilings", "group"]


def test_damaged_ceilings_are_measured_again_and_floors_follow(
    stub: Stub, left_journal: list[dict]
) -> None:
    left_journal[1]["ceilings"][0]["value"] *= 2
    write_journal(stub, left_journal)
    assert "measured again: the ceilings" in stub.measure(*THREE, "--resume", script=NOISY).stderr
    assert stub.opened() == ["n=3000"]
    assert all("floor" in stub.group(i) for i in range(3))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_finished_groups(stub: Stub, number: int) -> None:
    with stub.slowly(stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: finished_groups(stub.journal) >= 1)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume" in stderr
    assert 1 <= finished_groups(stub.journal) < 3
    assert not stub.out.exists()


REFERENCE = ("verify", "--reference", "stub", "--size", "n=999999999")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [("run", "stub"), REFERENCE])
def test_an_interrupt_while_there_is_nothing_to_keep(
    stub: Stub, number: int, command: tuple[str, ...]
) -> None:
    """While the device is asked, and in a reference on the CPU."""
    script = {"device": {"fault": {"do": "hang"}}}
    with stub.start(*command, script=script, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.5)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == "amasia: interrupted\n"


def test_resume_of_a_finished_file_measures_nothing_and_leaves_it(stub: Stub) -> None:
    stub.measure(*THREE)
    before = stub.out.read_bytes()
    stub.log.unlink()
    stub.measure(*THREE, "--resume")
    assert stub.opened() == []
    assert stub.out.read_bytes() == before
    assert not stub.journal.exists()


def test_a_finished_file_is_not_outranked_by_a_part_of_it(stub: Stub) -> None:
    """A file that lacks a group is continued; killed then, nothing it had is measured again."""
    stub.measure(*THREE)
    short = json.loads(stub.out.read_text())
    del short["groups"][2]
    stub.out.write_text(sealed(short))
    stub.log.unlink()
    stub.killed(lambda: stub.opened() == ["n=3000"], "--resume")
    stub.log.unlink()
    stub.measure(*THREE, "--resume")
    assert stub.opened() == ["n=3000"]
    assert len(read_result(stub.out)["groups"]) == 3


# One output for one run.


def stopped(process: subprocess.Popen) -> bool:
    """Stops it where it is; false if it has ended. Not by send_signal, which would collect the
    state of a process that has just ended, and leave waitid nothing to wait for."""
    os.kill(process.pid, signal.SIGSTOP)
    state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return state is not None and state.si_code == os.CLD_STOPPED


def test_a_second_run_does_not_touch_the_first(stub: Stub) -> None:
    """The first is stopped meanwhile: what its journal shows then is so until it goes on. Only a
    first that has its result, and hence no journal, may be continued or replaced."""
    refusals = 0
    with stub.slowly() as first:
        wait_until(lambda: finished_groups(stub.journal) >= 1)
        while stopped(first):
            try:
                if stub.journal.exists():
                    before = stub.journal.read_bytes()
                    for option in ([], ["--resume"], ["--overwrite"]):
                        second = stub.measure(*THREE, *option, script=SLOW, status=2)
                        assert "another run" in second.stderr
                        assert stub.journal.read_bytes() == before
                        refusals += 1
            finally:
                first.send_signal(signal.SIGCONT)
            time.sleep(0.1)
        assert first.wait(timeout=60) == 0
    assert refusals >= 3
    assert len(read_result(stub.out)["groups"]) == 3
    assert no_litter(stub.folder)


def test_merges_to_one_file_do_not_disturb_each_other(stub: Stub) -> None:
    stub.measure()
    shard = stub.folder / "other.json"
    other = json.loads(stub.out.read_text())
    other["groups"][0]["key"]["size"]["n"] = 2000
    shard.write_text(sealed(other))
    merged = stub.folder / "merged.json"
    command = ["merge", str(stub.out), str(shard), "--out", str(merged)]
    for _ in range(8):
        processes = [stub.start(*command) for _ in range(4)]
        assert [process.wait(timeout=60) for process in processes] == [0, 0, 0, 0]
        assert len(read_result(merged)["groups"]) == 2
    assert no_litter(stub.folder)


# Where output goes.


def test_special_files_are_written_to_and_never_replaced(stub: Stub) -> None:
    stub.measure()
    null = null_device(stub.folder)
    target, link = stub.folder / "target.csv", stub.folder / "link.csv"
    target.write_text("old")
    link.symlink_to(target.name)
    fifo = stub.folder / "fifo"
    os.mkfifo(fifo)
    with stub.start("export", str(stub.out), "--csv", str(fifo)):
        read = fifo.read_text()
    plain = stub.run("export", str(stub.out), "--csv", "-").stdout
    for path in (null, link):
        stub.run("export", str(stub.out), "--csv", str(path))
    assert read == plain
    assert stat.S_ISCHR(null.stat().st_mode) and stat.S_ISFIFO(fifo.stat().st_mode)
    assert link.is_symlink() and target.read_text() == plain
    dangling = stub.folder / "dangling.csv"
    dangling.symlink_to("new.csv")
    stub.run("export", str(stub.out), "--csv", str(dangling))
    assert dangling.is_symlink() and (stub.folder / "new.csv").read_text() == plain


@pytest.fixture(params=["full", "closed", "gone"])
def broken(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Makes a redirection of a descriptor to where nothing can be written."""
    if request.param == "gone":  # a pipe that nobody reads any more
        reader, writer = os.pipe()
        os.close(reader)
        yield lambda descriptor: f"{descriptor}>&{writer}"
        os.close(writer)
    else:
        where = {"full": "/dev/full", "closed": "&-"}[request.param]
        yield lambda descriptor: f"{descriptor}>{where}"


def shell(stub: Stub, arguments: str, redirections: str) -> subprocess.CompletedProcess:
    command = f"{program('amasia-stub')} {arguments} {redirections}"
    descriptors = tuple(int(n) for n in re.findall(r">&(\d+)", redirections))
    return run(
        "bash", "-c", command, cwd=stub.folder, pass_fds=descriptors, **stub.environment()
    )  # fmt: skip


RUN = "run stub --roles iso --size n=1000 --out run.json"


def test_stderr_that_cannot_be_written_stops_nothing(stub: Stub, broken) -> None:
    result = shell(stub, RUN, broken(2))
    assert result.returncode == 0
    assert len(read_result(stub.out)["groups"]) == 1
    assert "## stub n=1000" in result.stdout
    assert shell(stub, "run nothing", broken(2)).returncode == 2


def test_stdout_that_cannot_take_the_data_has_its_own_status(
    stub: Stub, broken, request: pytest.FixtureRequest
) -> None:
    """A reader that went away, as head does, has what it wanted."""
    result = shell(stub, RUN, broken(1))
    gone = request.node.callspec.params["broken"] == "gone"
    said = "next: " if gone else "amasia: stdout cannot be written: "
    assert result.returncode == (0 if gone else 5)
    assert result.stderr.splitlines()[-1].startswith(said)
    # What was measured is safe all the same, and nothing of it went where stdout would have.
    assert len(read_result(stub.out)["groups"]) == 1
    for arguments in ("list", "export run.json", "doctor"):
        done = shell(stub, arguments, broken(1))
        assert done.returncode == result.returncode, arguments
        assert ("cannot be written" in done.stderr) == (not gone), arguments
        assert len(done.stderr.strip().splitlines()) <= 1


# References on the CPU.


def test_a_reference_that_takes_too_long_is_ended(stub: Stub) -> None:
    result = stub.run(*REFERENCE, "--group-timeout", "0.5", status=1)
    assert "FAILED" in result.stdout and "longer --group-timeout" in result.stdout


def test_cross_has_every_strategy_with_every_schedule(stub: Stub) -> None:
    cross = ("--roles", "cross", "--size", "n=1000", "--out", str(stub.out))
    stub.run("run", "crossed", *cross)
    rows = stub.group()["rows"]
    assert {row["role"] for row in rows} == {"cross"}
    cells = {(row["variant"], row["schedule"]): row for row in rows if row["repeat"] == 0}
    assert len(cells) == 9 and len(rows) == 12
    declined = cells["crossed/dsm", "wide"]
    assert declined["status"] == "skipped"
    assert declined["reason"] == "its neighbours are too far apart for a cluster"
    assert all(c["schedule"] == c["against_schedule"] for c in stub.group()["comparisons"])

    listed = " ".join(stub.run("list", "crossed").stdout.split())
    assert "schedules, the same for all strategies: iso as it was published" in listed
    assert "cannot run wide: its neighbours are too far apart for a cluster" in listed

    refused = stub.run("run", "stub", *cross, "--overwrite", status=2)
    assert "stub has no configs divided into schedule and movement" in refused.stderr

    # A row that crashes leaves the others of its variant.
    script = {"rows": {"crossed/tma at wide": {"fault": {"do": "abort"}}}}
    stub.run("run", "crossed/tma", *cross, "--overwrite", script=script, status=1)
    status = {r["schedule"]: r["status"] for r in stub.group()["rows"] if "tma" in r["variant"]}
    assert status == {"iso": "ok", "wide": "crashed", "tall": "ok"}


def test_what_is_matched_runs_with_the_winner_of_its_schedule(stub: Stub) -> None:
    tuning, size = ("--tuning", str(stub.folder / "tuning.json")), ("--size", "n=1000")
    times = {"baseline at wide": 2, "baseline at tall/ahead": 3, "tma at wide": 5, "tma at iso": 6}
    script = {"rows": {f"crossed/{row}": {"ms": 0.1 * ms} for row, ms in times.items()}}
    script["rows"]["crossed/tma at tall"] = {"ms": 0.1}
    stub.run("tune", "crossed/baseline", "crossed/tma", *size, *tuning, script=script)
    stub.run("run", "crossed/tma", *size, *tuning, "--out", str(stub.out), script=script)
    matched = [row for row in stub.group()["rows"] if row["role"] == "matched"]
    found = {row["variant"]: (row["config"], row["config_source"][:5]) for row in matched}
    assert found == {"crossed/baseline": ("tall/ahead", "tuned"), "crossed/tma": ("wide", "tuned")}


# Sessions.

SCATTERED = {"times": [1.0, 1.001, 0.999, 1.002, 0.998, 1.0005, 0.9995], "clock_mhz": [1980.0]}
VARIANTS = [f"stub/{name}" for name in ("baseline", "overlap", "tma", "dsm", "vendor")]
NOISY = {"rows": dict.fromkeys(VARIANTS, SCATTERED)}


def sessions_of(path: pathlib.Path) -> list[dict]:
    return json.loads(path.read_text())["provenance"].get("sessions", [])


def test_sessions_are_passes_of_their_own(stub: Stub) -> None:
    result = stub.measure(*THREE, "--sessions", "2", script=NOISY)
    document = json.loads(stub.out.read_text())
    assert [g["session"] for g in document["groups"]] == [0, 0, 0, 1, 1, 1]
    first, second = sessions_of(stub.out)
    assert first["date_utc"] < second["date_utc"] and first["wall_s"] > 0
    assert first["device_state"] == {"power_limit_w": "700"}
    # The device is asked before each, too, and each measures its ceilings.
    assert stub.log.read_text().splitlines().count("device") == 3
    assert len(document["ceilings"][0]["samples"]) == 22
    assert sorted(p.name for p in stub.folder.iterdir()) == ["log", "run.json"]
    assert "2 runs on one GPU" in result.stdout


def test_sessions_resume_where_they_were(stub: Stub) -> None:
    second = stub.folder / "run.session-2.json.journal"
    stub.killed(lambda: finished_groups(second) >= 1, "--sessions", "2")
    assert not stub.out.exists() and (stub.folder / "run.session-1.json").exists()
    kept = finished_groups(second)
    stub.log.unlink()
    stub.measure(*THREE, "--sessions", "2", "--resume")
    assert stub.opened() == [f"n={n}" for n in (1000, 2000, 3000)[kept:]]
    assert len(sessions_of(stub.out)) == 2
    assert sorted(p.name for p in stub.folder.iterdir()) == ["log", "run.json"]


def test_more_sessions_join_a_finished_file(stub: Stub) -> None:
    stub.measure("--sessions", "2")
    assert "--resume" in stub.measure("--sessions", "3", status=2).stderr
    stub.log.unlink()
    stub.measure("--sessions", "3", "--resume")
    assert len(stub.opened()) == 1 and len(sessions_of(stub.out)) == 3
    before = stub.out.read_bytes()
    stub.measure("--sessions", "2", "--resume")
    assert stub.out.read_bytes() == before


# Measured again.


def reproduce(stub: Stub, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
    out = stub.folder / "again.json"
    command = ("reproduce", str(stub.out), "--out", str(out), "--overwrite")
    return stub.run(*command, *arguments, **options)


def test_the_same_cases_rows_and_configs_are_measured_again(stub: Stub) -> None:
    stub.measure("--seed", str(2**64 - 1), script=NOISY)
    assert stub.group()["seed"] == 2**64 - 1
    result = reproduce(stub, script=NOISY)
    (again,) = json.loads((stub.folder / "again.json").read_text())["groups"]
    (mine,) = json.loads(stub.out.read_text())["groups"]
    assert (again["key"], again["seed"]) == (mine["key"], mine["seed"])
    assert [r["config"] for r in again["rows"]] == [r["config"] for r in mine["rows"]]
    assert "next: python -m plots compare" in result.stderr


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ({**NOISY, "device": {"name": "Stub 2"}}, 0, "python -m plots compare"),
        ({"rows": {**NOISY["rows"], "stub/tma": {"wrong": True}}}, 1, "amasia verify"),
        ({**NOISY, "probe": BUSY}, 0, "amasia reproduce"),
    ],
)
def test_what_comes_next_fits_what_was_found(
    stub: Stub, script: Script, status: int, said: str
) -> None:
    """Of another model, a wrong row and what was disturbed."""
    stub.measure(script=NOISY)
    assert f"next: {said}" in reproduce(stub, script=script, status=status).stderr


def test_what_is_not_possible_here_is_said_with_the_reason(stub: Stub) -> None:
    stub.measure(*THREE[:4], script=NOISY)
    document = json.loads(stub.out.read_text())
    for row in document["groups"][0]["rows"]:
        if row["variant"] == "stub/tma":
            row["config"] = "of another time"
    document["groups"][1]["key"]["app"] = "elsewhere"
    stub.out.write_text(sealed(document))
    script = {"rows": {**NOISY["rows"], "stub/dsm": {"skipped": "needs another GPU"}}}
    result = reproduce(stub, script=script, status=1)
    assert "stub/tma has no config of another time in this program" in result.stderr
    assert "app elsewhere is not part of this program" in result.stderr
    assert "skipped stub/dsm (iso) at stub n=1000 cold stream: needs another GPU" in result.stderr


def test_a_part_of_a_file_is_measured_again(stub: Stub) -> None:
    stub.measure(*THREE, script=NOISY)
    stub.log.unlink()
    command = ("reproduce", str(stub.out), "--out", str(stub.folder / "again.json"))
    result = stub.run(*command, "--only", "stub n=2000 *", script=NOISY)
    assert stub.opened() == ["n=2000"]
    assert "n=2000" in result.stdout and "n=3000" not in result.stdout
    refused = stub.run(*command, "--only", "stub n=2001 cold stream", status=2)
    assert len(refused.stderr.splitlines()) == 1
    assert "nothing in the file has such a name; did you mean stub n=2000" in refused.stderr


@pytest.mark.parametrize("command", [("reproduce", "--overwrite", "--out"), ("export", "--csv")])
def test_a_file_that_is_read_is_not_replaced(stub: Stub, command: tuple[str, ...]) -> None:
    stub.measure(script=NOISY)
    before = stub.out.read_bytes()
    (stub.folder / "link.json").symlink_to(stub.out)
    stub.log.unlink()
    for name in ("run.json", "link.json"):
        result = stub.run(command[0], "run.json", *command[1:], name, script=NOISY, status=2)
        assert len(result.stderr.splitlines()) == 1
        assert "is read by this command and would be replaced" in result.stderr
    assert stub.out.read_bytes() == before and not stub.opened()


@pytest.mark.parametrize("table", ["table", "./table"])
def test_two_outputs_do_not_replace_each_other(stub: Stub, table: str) -> None:
    stub.measure()
    result = stub.run("export", "run.json", "--csv", "table", "--markdown", table, status=2)
    assert "would be written twice" in result.stderr and len(result.stderr.splitlines()) == 1


def test_what_is_asked_for_twice_is_measured_once(stub: Stub) -> None:
    twice = ("--size", "n=1000", "--size", "n=1000", "--cache", "cold,cold", "--launch", "graph")
    stub.measure(*twice, "--launch", "graph")
    assert stub.opened() == ["n=1000"]


def test_points_are_measured_again(stub: Stub) -> None:
    values = {str(i): {"values": [7.0, 7.01, 6.99]} for i in range(4)}
    command = ("run", "stub/points", "--out", str(stub.out))
    stub.run(*command, script={"points": values})
    other = {**values, "2": {"values": [9.0, 9.01]}}
    reproduce(stub, script={"points": other})
    (again,) = json.loads((stub.folder / "again.json").read_text())["microbenchmarks"]
    assert 9.0 <= again["rows"][2]["value"]["median"] <= 9.01
