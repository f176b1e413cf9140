"""Fixtures: the library around the stub device, and a problem."""

import json
from typing import Any

import pytest
from on_stub import Problem, Script, built

from amasia.library import VARIABLE


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Compares on the stub device from here on, whose script this is: {"ms": ...} and what else
    belongs to a row by implementation, "old" being the first of them, and members of the script."""
    monkeypatch.setenv(VARIABLE, built("libamasia_compare_stub.so"))

    def write(rows: dict[str, Any] | None = None, **members: Any) -> None:
        names = {"old": "callables/baseline"}
        named = {names.get(k, f"callables/{k}"): v for k, v in (rows or {}).items()}
        text = {"nothing_ms": 1e-6, **members, "rows": named}
        monkeypatch.setenv("AMASIA_STUB", json.dumps(text))

    write({"old": {"ms": 2.0, "noise": 0.001}, "new": {"ms": 1.0, "noise": 0.001}})
    return write


@pytest.fixture
def problem() -> Problem:
    return Problem()
