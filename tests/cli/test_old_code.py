"""A program with nothing but PTX of an older architecture: what runs is decided by its code."""

from __future__ import annotations

import json
import os
import pathlib
import re

import pytest
from programs import ROOT, Run, cached, nvcc, read_result

from tests.process import run

pytestmark = pytest.mark.usefixtures("gpu")


def built(build: pathlib.Path) -> pathlib.Path:
    """A program with nothing but PTX of compute_75. Takes minutes."""
    configure = [
        *("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_CUDA_COMPILER={nvcc()}", "-DCMAKE_CUDA_ARCHITECTURES=75-virtual"),
        *("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings"),
        f"-DAMASIA_APPS={cached('AMASIA_APPS')}",
    ]
    compile_it = ["cmake", "--build", build, "--target", "amasia"]
    for command in (configure, [*compile_it, "--parallel", str(os.cpu_count() or 1)]):
        run(*command, timeout=3000, status=0)
    return build / "amasia"


def test_what_its_code_cannot_do_is_skipped_or_falls_back_and_the_rest_is_right(
    amasia: Run, tmp_path: pathlib.Path
) -> None:
    """No native asynchronous copy before compute_80, and no cluster before compute_90."""
    found = re.search(r"compute capability (\d+)\.(\d+)", amasia("doctor").stdout)
    assert found
    capability = 10 * int(found[1]) + int(found[2])
    if capability <= 75:
        pytest.skip(f"PTX of compute_75 is not old on compute capability {capability}")
    program = built(tmp_path / "build")
    result = run(program, "verify", "--preset", "smoke", timeout=1800, status=0)
    assert " 0 failed" in result.stdout.splitlines()[-1]
    assert "launch failure" not in result.stdout + result.stderr
    listed = json.loads(run(program, "list", "--json").stdout)
    app = next(
        a["name"] for a in listed["apps"] if a["variants"] and a["name"] not in ("gemm", "lud")
    )
    out = tmp_path / "old.json"
    arguments = ("--preset", "smoke", "--roles", "iso", "--seconds", "0.2", "--out", str(out))
    run(program, "run", app, *arguments, timeout=1800, status=0)
    rows = read_result(out)["groups"][0]["rows"]
    by_strategy = {r["variant"].split("/")[1]: r for r in rows if not r["repeat"]}
    assert by_strategy["baseline"]["fallback"] == ""
    for strategy in ("register_bypass", "overlap", "drop_off"):
        row = by_strategy[strategy]
        assert row["status"] == "ok", row["reason"]
        assert row["fallback"].startswith("plain copies: this program's code"), row["fallback"]
    for strategy in ("tma", "dsm") if capability >= 90 else ():
        row = by_strategy[strategy]
        assert row["status"] == "skipped" and "rebuild with" in row["reason"]
        assert "PTX of compute_75" in row["reason"]
