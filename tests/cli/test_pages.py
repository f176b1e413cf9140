"""What a person reads before measuring: help, list, --dry-run, and the closing
sentence that names the next command."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys

import pytest
from programs import NO_GPU, program, runner

from tests.process import ROOT, run

PAGE = 100  # columns


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > PAGE]


def test_version_is_the_projects(amasia):
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(amasia VERSION (\S+)", text)[1]
    for asked in ("--version", "version"):
        result = amasia(asked)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"amasia {version}\n", "")


@pytest.mark.parametrize(
    "arguments", [[], ["*/tma"], ["gemm", "nw/dsm"], ["--sources"], ["seed000"]]
)
def test_list_fits_the_page(amasia, arguments):
    result = amasia("list", *arguments, status=0)
    assert not too_wide(result.stdout)
    assert arguments or len(result.stdout.splitlines()) <= 44


@pytest.mark.parametrize(
    "command",
    [
        ["run", "hotspot", "nw/tma", "--cache", "cold,hot", "--energy"],
        ["run", "pathfinder", "--size", "rows=1000,cols=5000"],
        ["study", "quick"],
        ["study", "seed000-table4"],
        ["tune", "nw"],
        ["verify", "gemm"],
        ["verify", "--reference", "gemm"],
    ],
)
def test_dry_run_needs_no_device_and_writes_nothing(amasia, tmp_path, command):
    result = amasia(*command, "--dry-run", cwd=tmp_path, **NO_GPU, status=0)
    assert not too_wide(result.stdout)
    assert list(tmp_path.iterdir()) == []
    if "--reference" not in command:
        assert "no usable GPU: " in result.stdout
        assert "unknown without a GPU" in result.stdout
        assert "expected" in result.stdout
        assert last_line(result) == NEEDS_A_GPU
        memory = r": [\d.]+ .?B of device memory"
        assert "seed000-table4" in command or re.search(memory, " ".join(result.stdout.split()))


NEEDS_A_GPU = (
    "next: the same command without --dry-run, on a machine whose GPU this build can use, runs it"
)


def test_dry_run_on_a_device_shows_rows_and_time(tmp_path):
    stub = runner("amasia-stub")
    result = stub(
        "run", "stub", "stub/points", "--size", "n=1000", "--dry-run", cwd=tmp_path, status=0
    )
    assert "1 groups, 1 microbenchmarks" in result.stdout
    assert re.search(r"cold stream: \d+ rows, about \d+ s", result.stdout)
    assert result.stderr == "next: the same command without --dry-run runs it\n"
    assert list(tmp_path.iterdir()) == []


def last_line(result) -> str:
    return result.stderr.strip().splitlines()[-1]


def test_commands_end_with_the_next_one(amasia, tmp_path):
    stub = runner("amasia-stub")
    assert last_line(amasia("list")).startswith("next: amasia ")
    assert last_line(amasia("doctor", **NO_GPU)).startswith("next: amasia verify --reference")
    references = amasia("verify", "--reference", "nw", **NO_GPU, status=0)
    assert " 0 failed" in references.stdout and last_line(references).startswith("next: amasia ")
    ran = stub("run", "stub", "--size", "n=1000", "--out", "run.json", cwd=tmp_path, status=0)
    assert last_line(ran).startswith("next: python -m plots report run.json --out report.html ")
    verified = stub("verify", "stub", cwd=tmp_path)
    assert last_line(verified).startswith("next: amasia study quick ")
    tuned = stub("tune", "stub/tma", "--size", "n=1000", "--tuning", "tuning.json", cwd=tmp_path)
    assert last_line(tuned).startswith("next: amasia run stub/tma ")


def test_the_recipe_of_two_gpus_runs_and_compares_them(tmp_path):
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    recipe = page.split("## Run here, run there, compare")[1].split("```sh\n")[1].split("```")[0]
    *studies, compare = (shlex.split(line, comments=True) for line in recipe.splitlines())
    times = {"Tesla V100-SXM2-16GB": 1.5, "NVIDIA A100-SXM4-40GB": 1.0}
    for command, (gpu, factor) in zip(studies, times.items(), strict=True):
        assert command[0].endswith("/amasia")
        script = json.dumps({"device": {"name": gpu}, "drift": [factor]})
        runner("amasia-stub")(*command[1:], cwd=tmp_path, status=0, AMASIA_STUB=script)
    assert compare[0] == "./plots.sh"
    command = (sys.executable, "-m", "plots", *compare[1:])
    done = run(*command, cwd=tmp_path, status=0, PYTHONPATH=str(ROOT))
    expected = "by the data sheets: 1.24 = min(FLOP 1.24, bandwidth 1.73)"
    assert f"expected of NVIDIA A100-SXM4-40GB {expected}" in done.stdout
    assert "stub: NEW is 1.500× as fast as OLD" in done.stdout


def on_a_terminal(*command: str, cwd=None, **environment: str) -> tuple[int, str]:
    """The status of a program, and its stderr where that is a terminal."""
    master, terminal = pty.openpty()
    environment = {n: v for n, v in os.environ.items() if n != "NO_COLOR"} | environment
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        said = b""
        with contextlib.suppress(OSError):  # at the end of a terminal
            while part := os.read(master, 1000):
                said += part
    os.close(master)
    return process.returncode, said.decode()


def test_progress_rewrites_one_line_of_a_terminal(tmp_path):
    """Cut where the terminal would wrap it: the warning of other processes on the GPU is long."""
    script = json.dumps({"probe": {"wait_us": [2000, 1200, 800], "cycles": [8000]}})
    run = ("run", "stub", "--roles", "iso", "--size", "n=1000", "--out", "run.json")
    status, said = on_a_terminal(
        program("amasia-stub"), *run, cwd=tmp_path, TERM="dumb", AMASIA_STUB=script
    )
    assert status == 0 and "\r[2/2] stub n=1000 cold stream  ETA 0:" in said
    assert re.search(r"\r\x1b\[K\[2/2\] stub n=1000 cold stream: fastest .* \(ETA 0:00\)", said)
    assert max(map(len, re.findall(r"\r([^\r]+)\x1b\[K(?=\r)", said))) == 110


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_and_never_alone(environment, coloured):
    status, said = on_a_terminal(program("amasia"), "rnu", **environment)
    assert status == 2 and said.startswith("\x1b[31mamasia:\x1b[0m ") == coloured
    assert re.sub(r"\x1b\[\d+m", "", said).startswith("amasia: no command 'rnu'")
