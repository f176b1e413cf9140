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

NATIVE_FROM = {"register_bypass": 80, "overlap": 80, "drop_off": 80}  # plain copies before
CLUSTERS = ("tma", "dsm")


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


@pytest.fixture(scope="module", params=[75, 80])
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """The architecture of the PTX, and a program that has no other code. Takes minutes."""
    nvcc = setting("CMAKE_CUDA_COMPILER") or shutil.which("nvcc")
    if not nvcc or not pathlib.Path(nvcc).exists():
        pytest.skip("needs nvcc")
    architecture: int = request.param
    build = tmp_path_factory.mktemp(f"compute_{architecture}")
    jobs = str(os.cpu_count() or 1)
    for command in (
        [
            *("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
            f"-DCMAKE_CUDA_COMPILER={nvcc}",
            f"-DCMAKE_CUDA_ARCHITECTURES={architecture}-virtual",
            f"-DAMASIA_APPS={setting('AMASIA_APPS')}",
            *("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings"),
        ],
        ["cmake", "--build", build, "--target", "amasia", "--parallel", jobs],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    yield architecture, build / "amasia"
    shutil.rmtree(build)


def run(program: pathlib.Path, *arguments: str, timeout: float = 1800):
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def test_every_strategy_that_exists_is_right_and_the_others_are_skipped(old, capability):
    architecture, program = old
    if capability <= architecture:
        pytest.skip(f"PTX of compute_{architecture} is not old on compute capability {capability}")
    result = run(program, "verify", "--preset", "smoke")
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert " 0 failed" in result.stdout.splitlines()[-1]
    assert "launch failure" not in result.stdout + result.stderr
    code = f"this program's code for this GPU is PTX of compute_{architecture}"
    skipped = [line for line in result.stdout.splitlines() if "skipped" in line]
    for strategy in CLUSTERS:
        if capability >= 90:
            assert any(f"{code}, and {strategy} needs code for sm_90" in line for line in skipped)


def test_rows_say_what_the_code_lacks(old, capability, tmp_path):
    architecture, program = old
    if capability <= architecture:
        pytest.skip(f"PTX of compute_{architecture} is not old on compute capability {capability}")
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
    assert by_strategy["baseline"]["status"] == "ok"
    assert by_strategy["baseline"]["fallback"] == ""
    for strategy, native in NATIVE_FROM.items():
        row = by_strategy[strategy]
        assert row["status"] == "ok", row["reason"]
        fell_back = row["fallback"].startswith("plain copies: this program's code")
        assert fell_back == (architecture < native), row["fallback"]
    for strategy in CLUSTERS if capability >= 90 else ():
        row = by_strategy[strategy]
        assert row["status"] == "skipped"
        assert f"PTX of compute_{architecture}" in row["reason"]
        assert "rebuild with" in row["reason"]


def test_a_program_without_code_for_the_device_says_so_in_one_line(capability, tmp_path):
    """PTX of an architecture that is newer than the device's: nothing here can be loaded."""
    nvcc = setting("CMAKE_CUDA_COMPILER") or shutil.which("nvcc")
    if not nvcc or not pathlib.Path(nvcc).exists():
        pytest.skip("needs nvcc")
    if capability >= 120:
        pytest.skip("there is no newer architecture to compile for")
    configure = [
        *("cmake", "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja"),
        *("-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CUDA_COMPILER={nvcc}"),
        *("-DCMAKE_CUDA_ARCHITECTURES=120-virtual", "-DAMASIA_APPS=histogram"),
        *("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings"),
    ]
    done = subprocess.run(configure, capture_output=True, text=True, timeout=600)
    if done.returncode != 0 and "cannot compile for sm_120" in done.stderr:
        pytest.skip("this nvcc does not know sm_120")
    assert done.returncode == 0, done.stderr
    command = ["cmake", "--build", tmp_path / "build", "--target", "amasia"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stdout[-3000:]
    result = run(tmp_path / "build" / "amasia", "verify", "--preset", "smoke")
    assert result.returncode == 3
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert "this program has no code for this GPU" in result.stderr
    assert "rebuild with -DCMAKE_CUDA_ARCHITECTURES=" in result.stderr
