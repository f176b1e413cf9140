"""Fixtures of the tests of the built programs."""

from __future__ import annotations

import pytest
from programs import Run, built_with_cuda, runner


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
