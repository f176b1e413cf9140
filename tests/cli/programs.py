"""Runs the built programs as a user would. AMASIA_BUILD names their folder (default build/ci)."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from plots.data.documents import read_document
from tests.process import BUILD, cached, executable, run

# For an environment in which there is no GPU, whatever the machine has.
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}

Run = Callable[..., subprocess.CompletedProcess]


def built_with_cuda() -> bool:
    return cached("AMASIA_CUDA") != "OFF"


def program(name: str) -> str:
    path = BUILD / name
    if not path.exists():
        device_code = ("example", "probe", "co-runner", "effects")
        if name.removeprefix("amasia-") in device_code and not built_with_cuda():
            pytest.skip(f"{name} is device code, and this build has none")
        pytest.fail(f"{path} is missing: build it, or set AMASIA_BUILD")
    return str(path)


def runner(name: str) -> Run:
    def run_it(*arguments: object, **options: Any) -> subprocess.CompletedProcess:
        return run(program(name), *arguments, **options)

    return run_it


def shared_library(source: pathlib.Path, out: pathlib.Path, *flags: str) -> None:
    """Compiles it for the host."""
    command = [os.environ.get("CXX", "c++"), *flags, "-std=c++17", "-O1", "-shared", "-fPIC"]
    run(*command, source, "-o", out, status=0)


def one_line(done: subprocess.CompletedProcess, status: int = 2, most: int = 300) -> str:
    """The line on stderr that it ended with."""
    assert done.returncode == status, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert len(line) < most
    return line


class Stubbed:
    """A program around the stub device, in a folder of its own, with the script it is to follow."""

    name, command = "amasia-stub", ()

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.log = folder, folder / "log"

    def environment(self, script: dict | None = None) -> dict[str, str]:
        return {"AMASIA_STUB": json.dumps({"log": str(self.log), **(script or {})})}

    def run(
        self, *arguments: str, script: dict | None = None, status: int | None = 0, **environment
    ) -> subprocess.CompletedProcess:
        """Fails unless it ends with this status."""
        return runner(self.name)(
            *self.command, *arguments, cwd=self.folder, timeout=120, status=status,
            **{**self.environment(script), **environment},
        )  # fmt: skip


# Probes of a GPU on which another process computes all the time.
BUSY = {"wait_us": [2000, 1200, 800], "cycles": [8000], "memory_us": [10]}

# What a row that has none of it leaves out.
LEFT_OUT = {"repeat": 0, "reason": "", "fallback": "", "verdict": None, "time_ms": None}


def read_result(path: pathlib.Path) -> dict:
    """A result file, packed or not, to look at: kernels in place of their indices, and what rows
    leave out. Refuses what the schema does not describe."""
    read_document(path)
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    for part in [*document["groups"], *document.get("microbenchmarks", [])]:
        for row in part["rows"]:
            for name, value in LEFT_OUT.items():
                row.setdefault(name, value)
            row["evidence"] = [document["kernels"][i] for i in row.get("evidence", [])]
    return document


def fake_ncu_in(folder: pathlib.Path) -> pathlib.Path:
    """A program in the folder that answers as Nsight Compute's ncu does (fake_ncu.py)."""
    fake = pathlib.Path(__file__).with_name("fake_ncu.py")
    return executable(folder / "ncu", f'exec "{sys.executable}" "{fake}" "$@"\n')
