"""`amasia profile`, shown on the stub device under a program that answers as Nsight Compute does
(fake_ncu.py)."""

from __future__ import annotations

import json
import pathlib

import pytest
from programs import Stubbed, fake_ncu_in

from plots.data.profiles import read_profile

INSTRUCTIONS = "smsp__inst_executed.sum"
PERMISSION = (
    "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    " on the target device 0."
)


class Profiled(Stubbed):
    """With an ncu beside it."""

    command = ("profile",)

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.out = folder / "profile.json"
        self.ncu = fake_ncu_in(folder)

    def run(self, *arguments: str, ncu: dict | None = None, **options):
        fake = json.dumps({"log": str(self.log), **(ncu or {})})
        return super().run(*arguments, **{"NCU": str(self.ncu), "FAKE_NCU": fake, **options})

    def counted(self, *arguments: str, **options):
        """`profile stub` at one size, at iso."""
        return self.run(
            "stub", "--size", "n=1000", "--roles", "iso", "--out", str(self.out), *arguments,
            **options,
        )  # fmt: skip

    def file(self) -> dict:
        return json.loads(self.out.read_text())

    def rows(self, group: int = 0) -> dict[str, dict]:
        rows = self.file()["groups"][group]["rows"]
        return {row["variant"].removeprefix("stub/"): row for row in rows}


@pytest.fixture
def profiled(tmp_path: pathlib.Path) -> Profiled:
    return Profiled(tmp_path)


def values_of(**instructions: str) -> dict:
    return {f"stub/{name} iso": {INSTRUCTIONS: text} for name, text in instructions.items()}


def test_each_row_has_what_was_counted_while_it_ran(profiled):
    ncu = {"values": values_of(baseline="1,000,000", overlap="2,000", tma="620", dsm="n/a")}
    result = profiled.counted(ncu=ncu)
    found = {name: row["counters"].get("instructions") for name, row in profiled.rows().items()}
    expected = {"baseline": 1_000_000, "overlap": 2000, "tma": 620, "dsm": None}
    assert {name: found[name] for name in expected} == expected
    assert profiled.file()["profiler"] == "Nsight Compute 2025.3.1.0"
    assert profiled.rows()["tma"]["config"] == "iso"
    assert len(profiled.file()["groups"][0]["rows"]) == len(found) == 5, "the control runs nothing"
    assert result.stderr.splitlines()[-1].startswith("next: python -m plots why ")
    assert read_profile(profiled.out)


def test_clocks_and_caches_are_left_to_the_program(profiled):
    seen = profiled.folder / "seen"
    profiled.counted(ncu={"seen": str(seen)})
    arguments = seen.read_text().splitlines()
    for option, value in (
        ("--clock-control", "none"),
        ("--cache-control", "none"),
        ("--replay-mode", "app-range"),
        ("--page", "raw"),
    ):
        assert arguments[arguments.index(option) + 1] == value


def test_a_variant_that_crashes_is_wrong_or_skipped_has_no_counters_and_takes_none(profiled):
    rows = {"stub/overlap": {"wrong": True}, "stub/tma": {"skipped": "needs more"}}
    ncu = {"values": values_of(baseline="1", dsm="4")}
    crash = {"stub/tma": {"fault": {"do": "abort", "at": "count"}}}
    profiled.counted(script={"rows": crash}, ncu=ncu, status=1)
    found = profiled.rows()
    assert found["tma"]["status"] == "crashed" and "counters" not in found["tma"]
    assert found["dsm"]["counters"]["instructions"] == 4
    # 1 is of the wrong result.
    profiled.counted("--overwrite", script={"rows": rows}, ncu=ncu, status=1)
    found = profiled.rows()
    assert found["dsm"]["counters"]["instructions"] == 4
    assert (found["overlap"]["status"], found["overlap"].get("counters")) == ("failed", None)
    assert (found["tma"]["reason"], found["tma"].get("counters")) == ("needs more", None)


def test_counters_that_cannot_be_told_apart_are_given_to_nobody(profiled):
    result = profiled.counted(ncu={"results": 3}, status=1)
    assert all("counters" not in row for row in profiled.rows().values())
    assert "counted 3 times where 5 rows ran" in result.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PERMISSION, "NVreg_RestrictProfilingToAdminUsers=0"),
        ("Failed to initialize the profiler: LibraryNotLoaded", "a virtual machine or a sandbox"),
        ("Another tool is using the counters", "counted nothing: Another tool"),
    ],
)
def test_what_forbids_counting_is_said_in_one_line(profiled, error, said):
    last = profiled.counted(ncu={"errors": [error]}, status=1).stderr.splitlines()[-1]
    assert last.startswith("amasia: ") and said in last
    assert last.endswith("the kernels hold no clocks to fall back to, so nothing is attributed")
    assert not profiled.out.exists()


def test_a_profiler_that_does_not_know_its_options_is_quoted_once(profiled):
    refusal = "the argument ('app-range') for option '--replay-mode' is invalid."
    result = profiled.counted("--size", "n=2000", ncu={"refuses": refusal}, status=1)
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"amasia: Nsight Compute did not run the program: {refusal}")
    assert result.stderr.count("did not run the program") == 1 and not profiled.out.exists()


def test_without_ncu_it_says_where_it_looked(profiled):
    empty = profiled.folder / "empty"
    empty.mkdir()
    if any(
        pathlib.Path(folder).exists()
        for folder in ("/opt/nvidia/nsight-compute", "/usr/local/cuda/bin/ncu")
    ):
        pytest.skip("this machine has Nsight Compute")
    result = profiled.counted(NCU="", PATH=str(empty), CUDA_HOME="", CUDA_PATH="", status=1)
    assert result.stderr.startswith("amasia: Nsight Compute's ncu is not on PATH")
    assert len(result.stderr.splitlines()) == 1


def test_what_was_finished_is_kept_and_continued(profiled):
    two = ("--size", "n=2000")
    profiled.counted()
    assert "--resume" in profiled.counted(*two, status=2).stderr
    other = profiled.counted("--resume", script={"device": {"name": "Stub 2"}}, status=2)
    assert "is of Stub 1, this GPU is Stub 2" in other.stderr
    # An obstacle does not cost what was counted before.
    profiled.counted(*two, "--resume", ncu={"errors": [PERMISSION]}, status=1)
    assert len(profiled.file()["groups"]) == 1
    profiled.log.unlink()
    profiled.counted(*two, "--resume")
    assert [g["key"]["size"]["n"] for g in profiled.file()["groups"]] == [1000, 2000]
    assert "open stub n=1000" not in profiled.log.read_text()


def test_a_dry_run_needs_neither_device_nor_profiler(profiled):
    assert "cold stream: " in profiled.run("stub", "--dry-run", NCU="", PATH="/nowhere").stdout
