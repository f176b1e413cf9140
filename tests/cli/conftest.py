"""Runs the built programs as a user would. AMASIA_BUILD names their folder (default build/ci)."""

from __future__ import annotations

import os
import pathlib
import subprocess
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci")).resolve()

Run = Callable[..., subprocess.CompletedProcess]


def built_with_cuda() -> bool:
    return "AMASIA_CUDA:BOOL=OFF" not in (BUILD / "CMakeCache.txt").read_text()


def program(name: str) -> str:
    path = BUILD / name
    if not path.exists():
        if name in ("amasia-gbench", "amasia-example", "amasia-probe") and not built_with_cuda():
            pytest.skip(f"{name} is device code, and this build has none")
        pytest.fail(f"{path} is missing: build it, or set AMASIA_BUILD")
    return str(path)


def runner(name: str) -> Run:
    def run(
        *arguments: str, cwd: pathlib.Path | None = None, timeout: float = 600, **environment: str
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            [program(name), *map(str, arguments)],
            cwd=cwd,
            timeout=timeout,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )

    return run


@pytest.fixture(scope="session")
def amasia() -> Run:
    return runner("amasia")


@pytest.fixture(scope="session")
def probe() -> Run:
    """The program with the apps of tests/gpu/probe_apps.cu instead of the real ones."""
    return runner("amasia-probe")


@pytest.fixture(scope="session")
def variants() -> None:
    """Skips where the program has no variants and no microbenchmarks."""
    if not built_with_cuda():
        pytest.skip("needs variants, and this build has no device code")


@pytest.fixture(scope="session")
def gpu(amasia: Run) -> None:
    """Skips where there is no device."""
    result = amasia("doctor")
    if result.returncode == 3:
        pytest.skip("no CUDA device: " + result.stdout.splitlines()[1])
    assert result.returncode == 0, result.stderr
