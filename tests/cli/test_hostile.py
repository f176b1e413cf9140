"""The implementations of tests/hostile: each is refused or measured right."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest
from programs import built_with_cuda, program

from tests.hostile import try_all
from tests.process import ROOT

ON_STUB = {name: kind for name, kind in try_all.HOSTILE.items() if kind.on_stub}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("hostile")
    command = [os.environ.get("CXX", "c++"), "-x", "c++", "-std=c++17", "-O1", "-shared", "-fPIC"]
    source = ROOT / "tests" / "hostile" / "hostile.cu"
    output = ["-pthread", "-o", str(folder / "hostile.so")]
    subprocess.run([*command, f"-I{ROOT}", str(source), *output], check=True)
    return folder


@pytest.mark.parametrize("cache", ["cold", "hot"])
def test_on_the_stub_each_is_refused_or_measured_right(library: pathlib.Path, cache: str) -> None:
    options = ("--cache", cache, "--min-rounds", "15", "--max-rounds", "15")
    findings = try_all.all_findings(
        program("amasia-stub"), library, ON_STUB, 1000, False, *options, AMASIA_STUB="{}"
    )
    alone = sum(kind.alone for kind in ON_STUB.values())
    assert len(findings) == 2 * (len(ON_STUB) - alone) + alone
    assert [f for f in findings if not f.is_right] == []


def test_each_round_is_verified_at_random(library: pathlib.Path) -> None:
    """Which round it is cannot be known before: in 5 runs of 15 rounds it is not always one."""
    text = try_all.hostile(100, ["prints_to_stderr"])
    rounds = set()
    for _ in range(5):
        document = try_all.bench(
            program("amasia-stub"), library, "random", text, "--min-rounds", "15",
            "--max-rounds", "15", AMASIA_STUB=json.dumps({}),
        )  # fmt: skip
        (group,) = document["groups"]
        assert group["inputs"] == "new in every round"
        (chosen,) = {row["verified_round"] for row in group["rows"]}
        assert 0 <= chosen < 15
        rounds.add(chosen)
    assert len(rounds) > 1


def test_what_keeping_outputs_takes_is_no_time_of_the_rounds(library: pathlib.Path) -> None:
    """On the stub, outputs that are kept take 20 ms a row. Where that ended the timing, what is
    wrong from its 21st call on would never be called so often."""
    kinds = {"wrong_later": ON_STUB["wrong_later"]}
    text = try_all.hostile(100, kinds)
    honest = '[[implementation]]\nname = "{}"\nlibrary = "hostile.so"\nfunction = "honest"\n'
    for i in range(10):
        text += honest.format(f"honest{i}") + 'arguments = [{ i32 = "n" }, "x", "y"]\n'
    document = try_all.bench(
        program("amasia-stub"), library, "keeping", text, "--min-rounds", "15",
        "--max-rounds", "15", "--seconds", "0.2", AMASIA_STUB="{}",
    )  # fmt: skip
    assert document["groups"][0]["rounds"] == 15
    assert [f for f in try_all.judged(document, kinds, False) if not f.is_right] == []


@pytest.mark.usefixtures("gpu")
def test_on_a_gpu_each_is_refused_or_measured_right(tmp_path: pathlib.Path) -> None:
    if not built_with_cuda():
        pytest.skip("this build has no device code")
    findings = try_all.on_a_gpu(program("amasia"), tmp_path)
    assert [f for f in findings if not f.is_right] == []
