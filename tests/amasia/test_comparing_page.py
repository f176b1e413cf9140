"""The examples of docs/your-kernel.md, on the stub device and with stand-ins for the
frameworks, which keep their arrays on the host."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from on_stub import ROOT, STUB_STREAM, Script

import amasia
from plots.data.load import load

PAGE = (ROOT / "docs" / "your-kernel.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python file=(\S+)\n(.*?)\n```", PAGE, re.DOTALL))


class Streams:
    """The current stream of a framework."""

    def __init__(self) -> None:
        self.entered: list[int] = []

    @contextlib.contextmanager
    def enter(self, stream: int) -> Iterator[None]:
        self.entered.append(stream)
        yield


def module(name: str, monkeypatch: pytest.MonkeyPatch, **members: object) -> None:
    found = ModuleType(name)
    found.__dict__.update(members)
    monkeypatch.setitem(sys.modules, name, found)


def test_the_example_runs(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    streams = Streams()

    def elementwise(inputs: str, outputs: str, operation: str, name: str):
        assert (inputs, outputs, operation) == ("float32 x", "float32 y", "y = 2 * x + 1")

        def kernel(x: np.ndarray, y: np.ndarray) -> None:
            y[:] = 2 * x + 1

        return kernel

    members = {name: getattr(np, name) for name in np.__all__ if hasattr(np, name)}
    cuda = SimpleNamespace(ExternalStream=streams.enter)
    module("cupy", monkeypatch, **{**members, "ElementwiseKernel": elementwise, "cuda": cuda})
    script({"one_pass": {"ms": 1.0}, "old": {"ms": 2.0}})
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS["scale.py"].replace("1 << 24", "1 << 10"), {})
    printed = capsys.readouterr().out
    assert re.fullmatch(r"one_pass ran 2\.000x \[.*\] faster than two_passes\n", printed)
    assert set(streams.entered) == {STUB_STREAM}
    assert not load([Path("scale.json")]).rows["gbytes_per_s"].isna().any()


def test_the_other_frameworks_are_given_the_stream(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = Streams()
    torch = SimpleNamespace(ExternalStream=lambda handle: handle, stream=streams.enter)
    module("torch", monkeypatch, cuda=torch)
    launched: list[tuple] = []

    class Kernel:
        def __getitem__(self, configuration: tuple):
            return lambda *arguments: launched.append((*configuration, *arguments))

    module("numba", monkeypatch, cuda=SimpleNamespace(external_stream=lambda handle: handle))
    spaces: dict[str, dict] = {name: {} for name in BLOCKS}
    for name in ("with_torch.py", "with_numba.py"):
        exec(BLOCKS[name], spaces[name])
    amasia.compare(
        {
            "old": spaces["with_torch.py"]["on_stream"](lambda: None),
            "new": spaces["with_numba.py"]["on_stream"](Kernel(), 4, 128, "array"),
        },
        min_rounds=7,
        max_rounds=7,
    )
    assert set(streams.entered) == {STUB_STREAM}
    assert set(launched) == {(4, 128, STUB_STREAM, "array")}
