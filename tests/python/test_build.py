"""Senseless builds end early, in one line that says what to do. Nothing is compiled here."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not shutil.which("cmake") or not shutil.which("ninja"), reason="needs CMake and Ninja"
)


def configure(build: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run CMake's configure step on this tree into the empty folder `build`."""
    return subprocess.run(
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def reason(result: subprocess.CompletedProcess[str]) -> str:
    """Return the one line of explanation, having checked that there is exactly one."""
    assert result.returncode != 0, result.stdout
    lines = [line for line in result.stderr.splitlines() if "amasia: " in line]
    assert len(lines) == 1, result.stderr
    return lines[0].split("amasia: ", 1)[1]


def fake_nvcc(folder: Path, release: str) -> Path:
    """Make an nvcc that only knows its version."""
    nvcc = folder / "nvcc"
    nvcc.write_text(
        f"#!/bin/sh\necho 'nvcc: NVIDIA (R) Cuda compiler driver'\n"
        f"echo 'Cuda compilation tools, release {release}, V{release}.1'\n"
    )
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    return nvcc


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_a_toolkit_must_have_the_headers_that_are_included(tmp_path: Path) -> None:
    """Said before the first file is compiled. The stand-in lacks one as far as it is asked."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(
        f"""#!/bin/bash
[[ " $* " != *" -E "*/amasia-*.cu* ]] || echo "missing: cuda_profiler_api.h"
exec "{shutil.which("nvcc")}" "$@"
"""
    )
    nvcc.chmod(0o755)
    said = reason(
        configure(
            tmp_path / "build",
            f"-DCMAKE_CUDA_COMPILER={nvcc}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CUDA_ARCHITECTURES=90-real",
        )
    )
    assert f"({nvcc}) lacks headers" in said and "cuda_profiler_api.h (nvidia-cuda-pro" in said


def test_build_type_must_be_set(tmp_path: Path) -> None:
    result = configure(tmp_path, "-DCMAKE_CUDA_ARCHITECTURES=90", CMAKE_BUILD_TYPE="")
    assert reason(result).startswith("CMAKE_BUILD_TYPE is not set")


def test_build_type_must_be_known(tmp_path: Path) -> None:
    result = configure(tmp_path, "-DCMAKE_BUILD_TYPE=Fast", "-DCMAKE_CUDA_ARCHITECTURES=90")
    assert reason(result).startswith("CMAKE_BUILD_TYPE=Fast is unknown")


def test_architecture_must_be_set(tmp_path: Path) -> None:
    result = configure(tmp_path, "-DCMAKE_BUILD_TYPE=Release", CUDAARCHS="")
    assert reason(result).startswith("CMAKE_CUDA_ARCHITECTURES is not set")


@pytest.mark.parametrize("architecture", ["60", "91", "sm_90", "native", "90-fake", "80;banana"])
def test_architecture_must_be_known(tmp_path: Path, architecture: str) -> None:
    result = configure(
        tmp_path, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CUDA_ARCHITECTURES={architecture}"
    )
    assert reason(result).startswith(
        f"CMAKE_CUDA_ARCHITECTURES has '{architecture.rpartition(';')[2]}'"
    )


@pytest.mark.parametrize(
    ("release", "architecture", "expected"),
    [
        ("12.3", "90", "is too old: 12.4 or newer is needed."),
        ("13.0", "70-real", "cannot compile for sm_70: a toolkit older than 13.0 is needed."),
        ("12.4", "80;100-real", "cannot compile for sm_100: 12.8 or newer is needed."),
        ("12.8", "121", "cannot compile for sm_121: 12.9 or newer is needed."),
    ],
)
def test_nvcc_must_know_the_architecture(
    tmp_path: Path, release: str, architecture: str, expected: str
) -> None:
    nvcc = fake_nvcc(tmp_path, release)
    result = configure(
        tmp_path / "build",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_CUDA_ARCHITECTURES={architecture}",
        f"-DCMAKE_CUDA_COMPILER={nvcc}",
    )
    assert reason(result) == f"nvcc {release} ({nvcc}) {expected}"


def test_cuda_compiler_must_be_nvcc(tmp_path: Path) -> None:
    other = shutil.which("false")
    result = configure(
        tmp_path,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CUDA_ARCHITECTURES=90",
        f"-DCMAKE_CUDA_COMPILER={other}",
    )
    assert reason(result).startswith(f"the CUDA compiler {other} is not nvcc")


def test_missing_libraries_are_named_with_their_packages(tmp_path: Path) -> None:
    result = configure(
        tmp_path,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DAMASIA_CUDA=OFF",
        "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON",
        "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
    )
    assert reason(result).startswith("not found: fmt GTest.")
    assert "apt-get install libfmt-dev libgtest-dev " in reason(result)


WITHOUT_CUDA = ("-DCMAKE_BUILD_TYPE=Release", "-DAMASIA_CUDA=OFF")


def test_unknown_app_is_refused(tmp_path: Path) -> None:
    result = configure(tmp_path, *WITHOUT_CUDA, "-DAMASIA_APPS=nosuch")
    assert reason(result) == "AMASIA_APPS names 'nosuch', but there is no folder apps/nosuch."


@pytest.mark.parametrize("folders", ["nosuch", "ceilings;nosuch", "all;nosuch"])
def test_unknown_microbenchmarks_are_refused(tmp_path: Path, folders: str) -> None:
    result = configure(tmp_path, *WITHOUT_CUDA, f"-DAMASIA_MICROBENCHMARKS={folders}")
    wrong = folders.split(";")[0] if folders.startswith("all") else "nosuch"
    assert reason(result).startswith(
        f"AMASIA_MICROBENCHMARKS names '{wrong}', but there is no folder microbench/{wrong}: "
        "use all, or some of async_copy, ceilings, "
    )


def sources_of(build: Path) -> set[str]:
    """Return what the build compiles, as paths from the root."""
    commands = json.loads((build / "compile_commands.json").read_text())
    files = {Path(command["file"]) for command in commands}
    return {str(path.relative_to(ROOT)) for path in files if path.is_relative_to(ROOT)}


def test_cpu_preset_needs_no_cuda(tmp_path: Path) -> None:
    """Configuring without CUDA asks for no nvcc, even where one that works could be found."""
    result = configure(tmp_path, *WITHOUT_CUDA, CUDACXX="/nonexistent/nvcc")
    assert result.returncode == 0, result.stderr
    cache = (tmp_path / "CMakeCache.txt").read_text()
    assert "CMAKE_CUDA_COMPILER" not in cache


@pytest.mark.parametrize("together", ["ON", "OFF"])
def test_rooms_are_compiled_together_unless_asked_otherwise(tmp_path: Path, together: str) -> None:
    """Either way every file of the harness is compiled; those that each build writes, alone."""
    result = configure(
        tmp_path, *WITHOUT_CUDA, "-DAMASIA_TESTS=OFF", f"-DCMAKE_UNITY_BUILD={together}"
    )
    assert result.returncode == 0, result.stderr
    alone = {name for name in sources_of(tmp_path) if name.startswith("harness/")}
    joined = [
        str(Path(path).relative_to(ROOT))
        for unit in tmp_path.glob("CMakeFiles/*.dir/Unity/unity_*.cxx")
        for path in re.findall(r'^#include "(.*/harness/.*)"', unit.read_text(), re.MULTILINE)
    ]
    present = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "harness").rglob("*.cpp")
        if path.parent.name != "gpu"
    }
    assert alone | set(joined) == present
    assert not alone & set(joined)
    assert "harness/results/provenance.cpp" in alone
    assert (len(joined) > 40) == (together == "ON")


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_the_study_needs_the_ceilings_only(tmp_path: Path) -> None:
    """With the options of run.sh: no other microbenchmark, no library for tests."""
    result = configure(
        tmp_path,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CUDA_ARCHITECTURES=90a-real",
        "-DAMASIA_TESTS=OFF",
        "-DAMASIA_GBENCH=OFF",
        "-DAMASIA_MICROBENCHMARKS=ceilings",
        "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON",
        "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
    )
    assert result.returncode == 0, result.stderr
    sources = sources_of(tmp_path)
    folders = {name.split("/")[1] for name in sources if re.match("microbench/.*/", name)}
    assert folders == {"ceilings"}
    assert "apps/hotspot/tma.cu" in sources
    assert not any(name.startswith("tests/") or "gbench" in name for name in sources)


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_microbenchmarks_are_compiled_together(tmp_path: Path) -> None:
    """Each is in one unit, and in none are two of one namespace. Alone if there is one question."""
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CUDA_ARCHITECTURES=90a-real")
    options += ("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF")
    result = configure(tmp_path, *options, "-DAMASIA_LINE_NUMBERS=OFF")
    assert result.returncode == 0, result.stderr
    left_out = re.findall(r"Leaving out (\S+):", result.stdout)
    files = {str(path.relative_to(ROOT)) for path in ROOT.glob("microbench/*/*.cu")}
    together = []
    for unit in (tmp_path / "microbench/units").glob("*.cu"):
        included = re.findall(r'^#include "(.*)"', unit.read_text(), re.MULTILINE)
        namespaces = [
            re.search(r"^namespace (\S+) \{", (ROOT / name).read_text(), re.MULTILINE)[1]
            for name in included
        ]
        assert len(set(namespaces)) == len(namespaces) > 1
        together += included
    assert sorted(together) == sorted(files - set(left_out))
    assert not any(name.endswith(".cu") for name in sources_of(tmp_path) if "microb" in name)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    units = [c["command"] for c in commands if "microbench/units/unit_" in c["file"]]
    assert units and not any(" -lineinfo " in command for command in units)
    without = (tmp_path / "generated/provenance/code_options.txt").read_text()

    result = configure(tmp_path, "-DAMASIA_LINE_NUMBERS=ON", "-DAMASIA_MICROBENCHMARKS=dpx")
    assert result.returncode == 0, result.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    single = {c["file"]: c["command"] for c in commands if "/microbench/" in c["file"]}
    assert str(ROOT / "microbench/dpx/blocks.cu") in single
    assert not any("unit_" in file for file in single)
    assert " -lineinfo " in single[str(ROOT / "microbench/dpx/blocks.cu")]
    # What is compiled without line numbers counts as the code that is timed: the kernels are.
    assert (tmp_path / "generated/provenance/code_options.txt").read_text() == without


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_what_poses_and_judges_problems_is_compiled_as_one(tmp_path: Path) -> None:
    """Of all apps, but for kernels of apps that have options of their own."""
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real;100-real")
    options += ("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings")
    result = configure(tmp_path, *options, "-DAMASIA_CLUSTERS_ONLY=100-real")
    assert result.returncode == 0, result.stderr
    apps = {path.parent for path in ROOT.glob("apps/*/instance.cu")}
    own = {app for app in apps if (app / "options.cmake").exists()}
    assert own and own != apps
    units = list((tmp_path / "apps/units").glob("*.cu"))
    included = re.findall(r'^#include "(.*)"', "".join(u.read_text() for u in units), re.MULTILINE)
    assert sorted(included) == sorted(str(app / "instance.cu") for app in apps - own)
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    compiled = {c["file"]: c["command"] for c in commands}
    assert all(str(app / "instance.cu") in compiled for app in own)
    assert not any(file in compiled for file in included)
    for unit in units:
        assert re.findall(r"code=\[?sm_(\w+)", compiled[str(unit)]) == ["80", "90a"]
    (host,) = [file for file in compiled if "/apps_problems.dir/Unity/" in file]
    together = Path(host).read_text()
    assert all(f'"{path}"' in together for path in ROOT.glob("apps/*/*.cpp"))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_what_an_architecture_cannot_run_is_not_compiled_for_it(tmp_path: Path) -> None:
    """A strategy, and a comparator that spells one, from its least architecture on."""
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real")
    options += ("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings")
    result = configure(tmp_path, *options)
    assert result.returncode == 0, result.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    compiled_for = {
        Path(c["file"]).relative_to(ROOT / "apps").as_posix(): re.findall(
            r"code=\[?sm_(\w+)", c["command"]
        )
        for c in commands
        if c["file"].startswith(str(ROOT / "apps")) and c["file"].endswith(".cu")
    }
    for name in ("baseline", "overlap", "cuda_pipeline"):
        assert compiled_for[f"hotspot/{name}.cu"] == ["80", "90a"], name
    for name in ("tma", "dsm", "cuda_barrier"):
        assert compiled_for[f"hotspot/{name}.cu"] == ["90a"], name
    assert compiled_for["histogram/cub_block.cu"] == ["80", "90a"]


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_one_architecture_may_be_for_clusters_only(tmp_path: Path) -> None:
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real;100-real")
    options += ("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF", "-DAMASIA_MICROBENCHMARKS=ceilings")
    result = configure(tmp_path, *options, "-DAMASIA_CLUSTERS_ONLY=100-real")
    assert result.returncode == 0, result.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    compiled_for = {
        Path(c["file"]).relative_to(ROOT).as_posix(): re.findall(r"code=\[?sm_(\w+)", c["command"])
        for c in commands
        if c["file"].startswith(str(ROOT)) and c["file"].endswith(".cu")
    }
    assert compiled_for["apps/gemm/overlap.cu"] == ["80", "90a"]
    assert compiled_for["apps/gemm/tma.cu"] == ["90a", "100"]
    assert compiled_for["microbench/ceilings/tensor.cu"] == ["80", "90a"]


def test_nothing_takes_a_branch_that_only_newer_architectures_take() -> None:
    """So that what is compiled for 8.0 and 9.0a has compiled every line that 10.0 would."""
    branches = re.compile(
        r"__CUDA_ARCH__\s*([<>=!]=?\s*\d+)|((?:CUDA_ARCH|NV_IF|NV_IS|NV_PROVIDES)_[A-Z]\w*)"
    )
    found = {}
    rooms = ("apps", "variants", "microbench")
    for path in (p for room in rooms for p in sorted((ROOT / room).rglob("*"))):
        if path.suffix in (".cu", ".cuh", ".hpp", ".h"):
            for condition, feature in branches.findall(path.read_text()):
                found.setdefault(feature or condition, []).append(path.name)
    assert found.keys() <= {">= 800", ">= 890", ">= 900", "CUDA_ARCH_FEAT_SM90_ALL"}, found


def test_units_follow_what_they_include(tmp_path: Path) -> None:
    """A file more changes one unit or adds one; a unit of which nothing is left goes."""
    names = ["a/one", "a/two", "b/one", "c/one"]

    def units(*sources: str) -> dict[str, list[str]]:
        for name in sources:
            path = tmp_path / f"{name}.cu"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"// {name}\nnamespace amasia::{path.parent.name} {{\n}}\n")
        paths = ";".join(f"{name}.cu" for name in sources)
        script = ["cmake", f"-DFOLDER={tmp_path}/units", f"-DSOURCES={paths}"]
        subprocess.run(
            [*script, "-P", ROOT / "cmake/units.cmake"], cwd=tmp_path, check=True, timeout=60
        )
        return {
            unit.name: re.findall(r'"(.*)\.cu"', unit.read_text())
            for unit in (tmp_path / "units").glob("*")
        }

    assert units(*names) == {"unit_1.cu": ["a/one", "b/one"], "unit_2.cu": ["a/two", "c/one"]}
    more = units(*names, "a/three")
    assert more["unit_3.cu"]
    assert sorted(name for unit in more.values() for name in unit) == sorted([*names, "a/three"])
    assert units("a/one", "b/one") == {"unit_1.cu": ["a/one", "b/one"]}


def test_a_comparator_without_its_library_s_headers_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cublas_there.h").touch()
    for name, header in (("with", "cublas_there.h"), ("without", "cusolverNotThere.h")):
        (tmp_path / f"{name}.cu").write_text(f"// one\n#include <{header}>\n#include <memory>\n")
    (tmp_path / "plain.cu").write_text("#include <cuda_runtime.h>\n")
    script = tmp_path / "script.cmake"
    script.write_text(
        f"include({ROOT}/cmake/drop_headerless.cmake)\n"
        f"set(PROJECT_SOURCE_DIR {tmp_path})\n"
        f"set(CUDAToolkit_INCLUDE_DIRS {tmp_path}/include)\n"
        f"file(GLOB found {tmp_path}/*.cu)\n"
        "amasia_drop_headerless(found)\n"
        'message(STATUS "kept ${found}")\n'
    )
    said = subprocess.run(
        ["cmake", "-P", script], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "Leaving out without.cu: the CUDA toolkit here has no cusolverNotThere.h" in said
    assert f"kept {tmp_path}/plain.cu;{tmp_path}/with.cu" in said
