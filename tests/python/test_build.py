"""Senseless builds end early, in one line that says what to do. Nothing is compiled here."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.process import ROOT, executable, run

pytestmark = pytest.mark.skipif(
    not shutil.which("cmake") or not shutil.which("ninja"), reason="needs CMake and Ninja"
)


RELEASE, CPU = "-DCMAKE_BUILD_TYPE=Release", "-DAMASIA_CUDA=OFF"


def refused(build: Path, *options: str, **environment: str) -> str:
    """Run CMake's configure step on this tree; the one line that says why it is refused."""
    command = ("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options)
    said = run(*command, status=1, **environment).stderr
    (line,) = (line for line in said.splitlines() if "amasia: " in line)
    return line.split("amasia: ", 1)[1]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder for many settings: CMake tries the C++ compiler once."""
    return tmp_path_factory.mktemp("build")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-DCMAKE_CUDA_ARCHITECTURES=90"], "CMAKE_BUILD_TYPE is not set"),
        (["-DCMAKE_BUILD_TYPE=Fast", CPU], "CMAKE_BUILD_TYPE=Fast is unknown"),
        ([RELEASE], "CMAKE_CUDA_ARCHITECTURES is not set"),
        ([RELEASE, "-DCMAKE_CUDA_ARCHITECTURES=60"], "CMAKE_CUDA_ARCHITECTURES has '60'"),
        ([RELEASE, "-DCMAKE_CUDA_ARCHITECTURES=80;sm_90"], "CMAKE_CUDA_ARCHITECTURES has 'sm_90'"),
        ([RELEASE, "-DCMAKE_CUDA_ARCHITECTURES=90-fake"], "CMAKE_CUDA_ARCHITECTURES has '90-fake'"),
        (
            [RELEASE, "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_CUDA_COMPILER=/bin/false"],
            "the CUDA compiler /bin/false is not nvcc",
        ),
        ([RELEASE, CPU, "-DAMASIA_APPS=nosuch"], "AMASIA_APPS names 'nosuch', but there is no fol"),
        (
            [RELEASE, CPU, "-DAMASIA_MICROBENCHMARKS=ceilings;nosuch"],
            "AMASIA_MICROBENCHMARKS names 'nosuch', but there is no folder microbench/nosuch: use",
        ),
        (
            [RELEASE, CPU, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{n}=ON" for n in ("fmt", "GTest"))],
            "not found: fmt GTest. Debian and Ubuntu have them as packages: apt-get install "
            "libfmt-dev libgtest-dev ",
        ),
    ],
)
def test_a_senseless_setting_is_named(tried: Path, options: list[str], said: str) -> None:
    forget = [f"-U{name}" for name in ("AMASIA_*", "CMAKE_BUILD_TYPE", "CMAKE_CUDA*", "CMAKE_DIS*")]
    assert refused(tried, *forget, *options, CMAKE_BUILD_TYPE="", CUDAARCHS="").startswith(said)


@pytest.mark.parametrize(
    ("release", "architecture", "expected"),
    [
        ("12.3", "90", "is too old: 12.4 or newer is needed."),
        ("13.0", "70-real", "does not know sm_70: the V100 needs CUDA 12, GPUs after"),
        ("12.4", "80;100-real", "does not know sm_100: the V100 needs CUDA 12, GPUs after"),
    ],
)
def test_nvcc_must_know_the_architecture(
    tried: Path, tmp_path: Path, release: str, architecture: str, expected: str
) -> None:
    """Of an nvcc that only knows its version and its architectures."""
    nvcc = executable(
        tmp_path / "nvcc",
        "[ $1 = --version ] || { echo compute_80; echo compute_90; exit; }\n"
        f"echo 'nvcc: NVIDIA (R) Cuda compiler driver'\n"
        f"echo 'Cuda compilation tools, release {release}, V{release}.1'\n",
    )
    options = (f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCMAKE_CUDA_ARCHITECTURES={architecture}")
    why = refused(tried, "-UAMASIA_*", "-UCMAKE_DIS*", RELEASE, *options)
    assert why.startswith(f"nvcc {release} ({nvcc}) {expected}")


needs_nvcc = pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")


def compiled(build: Path, *options: str) -> dict[str, str]:
    """The commands of a build with device code, by their file; those of the tree from its root."""
    off = ("-DAMASIA_TESTS=OFF", "-DAMASIA_GBENCH=OFF")
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", RELEASE, *off, *options, status=0)
    commands = json.loads((build / "compile_commands.json").read_text())
    return {c["file"].removeprefix(f"{ROOT}/"): c["command"] for c in commands}


def included_by(units: list[Path]) -> list[str]:
    return re.findall(r'^#include "(.*)"', "".join(u.read_text() for u in units), re.MULTILINE)


@needs_nvcc
def test_microbenchmarks_are_compiled_together(tmp_path: Path) -> None:
    """Each is in one unit, and in none are two of one namespace. Alone if there is one question."""
    architecture = "-DCMAKE_CUDA_ARCHITECTURES=90a-real"
    together = compiled(tmp_path, architecture, "-DAMASIA_LINE_NUMBERS=OFF")
    units = list((tmp_path / "microbench/units").glob("*.cu"))
    opening = re.compile(r"^namespace (\S+) \{", re.MULTILINE)
    for unit in units:
        texts = [(ROOT / name).read_text() for name in included_by([unit])]
        namespaces = [opening.search(text)[1] for text in texts]
        assert len(set(namespaces)) == len(namespaces) > 1
    assert len(set(included_by(units))) == len(included_by(units)) > 50
    assert not any(re.match(r"microbench/.*\.cu$", file) for file in together)
    assert units and not any(" -lineinfo " in together[str(unit)] for unit in units)
    without = (tmp_path / "generated/provenance/code_options.txt").read_text()

    alone = compiled(tmp_path, "-DAMASIA_LINE_NUMBERS=ON", "-DAMASIA_MICROBENCHMARKS=dpx")
    assert " -lineinfo " in alone["microbench/dpx/blocks.cu"]
    assert not any("microbench/units" in file for file in alone)
    # What is compiled without line numbers counts as the code that is timed: the kernels are.
    assert (tmp_path / "generated/provenance/code_options.txt").read_text() == without


@needs_nvcc
def test_each_file_is_compiled_for_what_can_run_it(tmp_path: Path) -> None:
    """A strategy, and a comparator that implements one, from its least architecture on; one
    architecture for clusters only. With the options of run.sh no microbenchmark but the ceilings.
    """
    commands = compiled(
        tmp_path,
        "-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real;100-real",
        "-DAMASIA_CLUSTERS_ONLY=100-real",
        "-DAMASIA_MICROBENCHMARKS=ceilings",
    )
    built_for = {file: re.findall(r"code=\[?sm_(\w+)", c) for file, c in commands.items()}
    older = ("hotspot/baseline", "hotspot/cuda_pipeline", "gemm/overlap", "histogram/cub_block")
    for name in older:
        assert built_for[f"apps/{name}.cu"] == ["80", "90a"], name
    for name in ("hotspot/tma", "hotspot/dsm", "hotspot/cuda_barrier", "gemm/tma"):
        assert built_for[f"apps/{name}.cu"] == ["90a", "100"], name
    folders = {file.split("/")[1] for file in commands if re.match("microbench/.*/", file)}
    assert folders == {"ceilings"}
    assert not any(file.startswith("tests/") or "gbench" in file for file in commands)

    # What poses and judges problems is compiled as one, but for kernels of apps with own options.
    apps = {path.parent.relative_to(ROOT) for path in ROOT.glob("apps/*/instance.cu")}
    own = {app for app in apps if (ROOT / app / "options.cmake").exists()}
    assert own and own != apps
    units = list((tmp_path / "apps/units").glob("*.cu"))
    together = [str(ROOT / app / "instance.cu") for app in apps - own]
    assert sorted(included_by(units)) == sorted(together)
    assert all(str(app / "instance.cu") in commands for app in own)
    assert all(built_for[str(unit)] == ["80", "90a"] for unit in units)
    (host,) = [file for file in commands if "/apps_problems.dir/Unity/" in file]
    assert {str(path) for path in ROOT.glob("apps/*/*.cpp")} <= set(included_by([Path(host)]))


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


def test_a_comparator_without_its_library_s_headers_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cublas_there.h").touch()
    for name, header in (("with", "cublas_there.h"), ("without", "cusolverNotThere.h")):
        (tmp_path / f"{name}.cu").write_text(f"// one\n#include <{header}>\n#include <memory>\n")
    (tmp_path / "plain.cu").write_text("#include <cuda_runtime.h>\n")
    script = tmp_path / "script.cmake"
    script.write_text(
        f"include({ROOT}/cmake/comparators.cmake)\n"
        f"set(PROJECT_SOURCE_DIR {tmp_path})\n"
        f"set(CUDAToolkit_INCLUDE_DIRS {tmp_path}/include)\n"
        f"file(GLOB found {tmp_path}/*.cu)\n"
        "amasia_drop_headerless(found)\n"
        'message(STATUS "kept ${found}")\n'
    )
    said = run("cmake", "-P", script, status=0).stdout
    assert "Leaving out without.cu: the CUDA toolkit here has no cusolverNotThere.h" in said
    assert f"kept {tmp_path}/plain.cu;{tmp_path}/with.cu" in said


@pytest.mark.parametrize(
    ("toolkit", "given", "said"),
    [
        (3000001, 3005000, "kept plain.cu;cub_newer.cu"),
        (3005000, 3005000, "not newer than the toolkit's CCCL: no second CUB"),
        (3000001, None, "kept plain.cu"),
        (3000001, "", "has no cuda/std/__cccl/version.h"),
    ],
)
def test_a_second_cub_needs_a_newer_cccl(
    tmp_path: Path, toolkit: int, given: int | str | None, said: str
) -> None:
    for folder, version in (("toolkit/cccl", toolkit), ("given", given)):
        header = tmp_path / folder / "cuda/std/__cccl/version.h"
        header.parent.mkdir(parents=True)
        if version:
            header.write_text(f"#define CCCL_VERSION {version}\n")
    script = tmp_path / "script.cmake"
    script.write_text(
        "function(amasia_fail text)\n  message(STATUS ${text})\nendfunction()\n"
        "function(set_source_files_properties)\nendfunction()\n"
        f"set(CUDAToolkit_INCLUDE_DIRS {tmp_path}/toolkit)\n"
        f"include({ROOT}/cmake/comparators.cmake)\n"
        + ("" if given is None else f"set(AMASIA_NEWER_CCCL {tmp_path}/given)\n")
        + "set(found plain.cu cub_newer.cu)\n"
        "amasia_with_newer_cccl(found)\n"
        'message(STATUS "kept ${found}")\n'
    )
    output = run("cmake", "-P", script, status=0).stdout
    assert said in output
    assert ("cub_newer.cu" in output) == (given == 3005000 and toolkit < given)
