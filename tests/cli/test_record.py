"""scripts/record.sh around amasia-stub: what it records, where it goes on, what it says."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import BUSY, fake_ncu_in, program

from tests.process import ROOT, executable, run

FILES = ["cross-crossed", "paper-crossed", "paper-stub", "quick-crossed", "quick-stub"]
FILES += ["stub", "sweep-crossed", "sweep-stub", "tuning"]


class Recorder:
    """record.sh with the stub, into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.to, self.log = folder / "results", folder / "log"
        # The tree that the tests are built from may have uncommitted changes.
        self.paths = ["--to", str(self.to), "--work", str(folder / "work"), "--dirty"]

    def record(
        self, *arguments: str, script: dict | None = None, status: int = 0, **environment: str
    ) -> subprocess.CompletedProcess:
        """Fails unless it ends with this status."""
        command = [ROOT / "scripts/record.sh", "--program", program("amasia-stub"), *self.paths]
        stub = json.dumps({"log": str(self.log), **(script or {})})
        changed = {"AMASIA_STUB": stub, "NCU": "/nowhere/ncu", **environment}
        return run(*command, *arguments, status=status, **changed)

    def measured(self) -> list[str]:
        """The groups and points that were begun, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(("open ", "point "))]

    def files(self) -> dict[str, bytes]:
        return {path.name.split(".")[0]: path.read_bytes() for path in self.to.iterdir()}

    def result(self, name: str) -> dict:
        return json.loads(gzip.decompress(self.files()[name]))


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def test_it_records_once_with_what_it_tuned(recorder: Recorder) -> None:
    wide_wins = {"rows": {"stub/tma at wide": {"ms": 0.5}}}
    recorder.record(script=wide_wins)
    before = recorder.files()
    assert sorted(before) == FILES
    entries = json.loads(before["tuning"])["entries"]
    assert {e["config"] for e in entries if e["variant"] == "stub/tma"} == {"wide"}
    command = " ".join(recorder.result("quick-stub")["provenance"]["argv"])
    assert "--tuning tuning.json" in command
    assert len(recorder.measured()) > 20

    recorder.log.unlink()
    recorder.record()
    assert recorder.measured() == []
    assert recorder.files() == before


@pytest.mark.parametrize(
    ("commit", "dirty", "refused"),
    [("abc", True, True), ("unknown", False, True), ("abc", False, False)],
)
def test_it_records_from_a_commit(
    recorder: Recorder, tmp_path: Path, commit: str, dirty: bool, refused: bool
) -> None:
    stub = program("amasia-stub")
    has = json.loads(subprocess.check_output([stub, "list", "--json"], text=True))
    (tmp_path / "has.json").write_text(json.dumps({**has, "commit": commit, "dirty": dirty}))
    listed = f'[ "$*" = "list --json" ] && exec cat {tmp_path}/has.json\n'
    other = executable(tmp_path / "program", f'{listed}exec {stub} "$@"\n')
    recorder.paths.remove("--dirty")
    done = recorder.record("stub", "--program", str(other), status=2 if refused else 0)
    assert ("built from sources that no commit has" in done.stderr) == refused
    assert bool(recorder.measured()) != refused


def test_it_counts_where_it_may(recorder: Recorder, tmp_path: Path) -> None:
    ncu = {"NCU": str(fake_ncu_in(tmp_path)), "FAKE_NCU": json.dumps({"log": str(recorder.log)})}
    recorder.record("stub", **ncu)
    (counted,) = recorder.result("profile-stub")["groups"]
    assert counted["key"]["size"] == recorder.result("paper-stub")["groups"][0]["key"]["size"]
    assert all(row["counters"] for row in counted["rows"] if row["status"] == "ok")


def test_it_goes_on_where_the_time_was_over(recorder: Recorder) -> None:
    slow = {"rows": {"stub/baseline": {"sleep_s": 0.05}}}
    stopped = recorder.record("--minutes", "0.05", "stub", script=slow, status=130)
    assert "the time is over in" in stopped.stderr.splitlines()[-1]
    assert not (recorder.to / "sweep-stub.json.gz").exists()
    recorder.record("stub")
    assert sorted(recorder.files()) == ["paper-stub", "quick-stub", "sweep-stub", "tuning"]
    assert list(recorder.to.glob("*.journal")) == []


def test_a_wrong_result_is_kept_and_told(recorder: Recorder) -> None:
    done = recorder.record("stub", script={"rows": {"stub/dsm iso": {"wrong": True}}}, status=1)
    assert "status 1, see above" in done.stderr.splitlines()[-1]
    assert "FAILED stub/dsm" in done.stderr
    assert sorted(recorder.files()) == ["paper-stub", "quick-stub", "sweep-stub", "tuning"]


def test_what_could_not_be_tuned_is_left_to_the_next_call(recorder: Recorder) -> None:
    done = recorder.record("stub", script={"probe": BUSY}, status=4)
    assert "quick of stub is left to the next call: it could not be tuned" in done.stderr
    assert recorder.files() == {}
    recorder.record("stub")
    assert sorted(recorder.files()) == ["paper-stub", "quick-stub", "sweep-stub", "tuning"]


WITH_A_TWIN = """\
import json, os, subprocess, sys
stub, log, arguments = os.environ["STUB"], os.environ["TWIN_LOG"], sys.argv[1:]
if arguments[:2] == ["list", "--json"]:
    has = json.loads(subprocess.run([stub, *arguments], capture_output=True, check=True).stdout)
    has["apps"], has["microbenchmarks"] = [], [{"name": "twin/strategies"}]
    print(json.dumps(has))
elif arguments[0] == "run" and arguments[1].startswith("twin"):
    with open(log, "a") as file:
        print(json.dumps(arguments[1:]), file=file)
else:
    sys.exit(subprocess.run([stub, *arguments]).returncode)
"""


def test_the_twin_is_measured_on_its_grid_and_for_kernels_random_traits(
    recorder: Recorder, tmp_path: Path
) -> None:
    amasia = executable(tmp_path / "amasia", WITH_A_TWIN, sys.executable)
    log = tmp_path / "twins"
    environment = {"STUB": program("amasia-stub"), "TWIN_LOG": str(log)}
    done = recorder.record("--program", str(amasia), **environment)
    grid, *drawn = map(json.loads, log.read_text().splitlines())
    assert grid[0] == "twin/*" and f"{recorder.to}/twin.json.gz" in grid
    asked = [{of[i + 1] for i, word in enumerate(of) if word == "--traits"} for of in drawn]
    assert [len(kernels) for kernels in asked] == [1000, 200] and not asked[0] & asked[1]
    assert all(kernel.startswith("rows=") for kernels in asked for kernel in kernels)
    for of, name in zip(drawn, ("random", "unseen"), strict=True):
        assert of[0] == "twin" and f"{recorder.to}/twin-{name}.json.gz" in of
    assert max(map(len, done.stderr.splitlines())) < 400


def test_no_device_is_said_before_anything(recorder: Recorder) -> None:
    recorder.record(script={"device": {"fault": {"do": "throw"}}}, status=3)
    assert not recorder.to.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--minutes", "0"], "--minutes takes a positive number, not '0'"),
        (["--seconds", "soon"], "--seconds takes a positive number, not 'soon'"),
        (["--to"], "--to takes a path"),
        (["--fast"], "there is no option --fast"),
        (["nobody"], "has no app nobody; it has: crossed stub"),
        (["--program", "/nowhere"], "there is no program /nowhere"),
    ],
)
def test_mistakes_are_one_line(recorder: Recorder, arguments: list[str], said: str) -> None:
    done = recorder.record(*arguments, status=2)
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert not recorder.to.exists()
