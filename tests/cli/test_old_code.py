"""A program with nothing but PTX of an older architecture: what runs is decided by its code."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from programs import BUILD, ROOT, Run, read_result

pytestmark = pytest.mark.usefixtures("gpu")


def setting(name: str) -> str:
    """A value of the build's CMake cache, empty when it has none."""
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def capability(amasia: Run) -> int:
    result = amasia("doctor")
    found = re.search(r"compute capability (\d+)\.(\d+)", result.stdout)
    assert found, result.stdout
    return 10 * int(found[1]) + int(found[2])


def nvcc() -> str:
    path = setting("CMAKE_CUDA_COMPILER") or shutil.which("nvcc")
    if not path or not pathlib.Path(path).exists():
        pytest.skip("needs nvcc")
    return path


def built(build: pathlib.Path, architecture: int, *options: str) -> pathlib.Path:
    """A program with nothing but PTX of an architecture. Takes minutes."""
    configure = [
        *("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_CUDA_COMPILER={nvcc()}", f"-DCMAKE_CUDA_ARCHITECTURES={architecture}-virtual"),
        *("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings"),
    ]
    compile_it = ["cmake", "--build", build, "--target", "amasia"]
    for command in ([*configure, *options], [*compile_it, "--parallel", str(os.cpu_count() or 1)]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
        if "cannot compile for sm_120" in done.stderr:
            pytest.skip("this nvcc does not know sm_120")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return build / "amasia"


def run(program: pathlib.Path, *arguments: str, timeout: float = 1800):
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def test_what_its_code_cannot_do_is_skipped_or_falls_back_and_the_rest_is_right(
    capability: int, tmp_path: pathlib.Path
) -> None:
    """No native asynchronous copy before compute_80, and no cluster before compute_90."""
    if capability <= 75:
        pytest.skip(f"PTX of compute_75 is not old on compute capability {capability}")
    program = built(tmp_path / "build", 75, f"-DAMASIA_APPS={setting('AMASIA_APPS')}")
    result = run(program, "verify", "--preset", "smoke")
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert " 0 failed" in result.stdout.splitlines()[-1]
    assert "launch failure" not in result.stdout + result.stderr
    listed = json.loads(run(program, "list", "--json").stdout)
    app = next(
        a["name"] for a in listed["apps"] if a["variants"] and a["name"] not in ("gemm", "lud")
    )
    out = tmp_path / "old.json"
    arguments = ("--preset", "smoke", "--roles", "iso", "--seconds", "0.2", "--out", str(out))
    result = run(program, "run", app, *arguments)
    assert result.returncode == 0, result.stderr[-3000:]
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


def test_a_program_without_code_for_the_device_says_so_in_one_line(capability, tmp_path):
    """PTX of an architecture that is newer than the device's: nothing here can be loaded."""
    if capability >= 120:
        pytest.skip("there is no newer architecture to compile for")
    program = built(tmp_path / "build", 120, "-DAMASIA_APPS=histogram")
    result = run(program, "verify", "--preset", "smoke")
    assert result.returncode == 3
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert "this program has no code for this GPU" in result.stderr
    assert "rebuild with -DCMAKE_CUDA_ARCHITECTURES=" in result.stderr
