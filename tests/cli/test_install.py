"""The suite as a library: installed, it builds an example in an empty folder; as a part of another
project it brings no tests and no apps of its own."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sys

import pytest
from programs import built_with_cuda

from tests.process import BUILD, ROOT, cached, run

STRATEGIES = ("baseline", "register_bypass", "overlap", "drop_off", "tma")
VARIANTS = [f"transpose/{strategy}" for strategy in STRATEGIES]


def right(*command: object, cwd: pathlib.Path | None = None) -> str:
    return run(*command, cwd=cwd, status=0).stdout


def example_into(folder: pathlib.Path) -> pathlib.Path:
    """The example, in an empty folder."""
    return pathlib.Path(shutil.copytree(ROOT / "examples" / "transpose", folder))


def configure(source: pathlib.Path, *settings: str, status: int = 0) -> str:
    """What CMake says on stderr. Fails where it ends with another status."""
    compilers = [
        f"-DCMAKE_{language}_COMPILER={path}"
        for language in ("CXX", "CUDA")
        if (path := cached(f"CMAKE_{language}_COMPILER"))
    ]
    command = ("cmake", "-G", "Ninja", "-S", source, "-B", source / "build")
    return run(*command, *compilers, *settings, status=status).stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    if cached("AMASIA_INSTALL") != "ON":
        pytest.skip("this build folder installs nothing (AMASIA_INSTALL)")
    folder = tmp_path_factory.mktemp("installed") / "prefix"
    right("cmake", "--install", BUILD, "--prefix", folder)
    return folder


def settings_of(prefix: pathlib.Path) -> list[str]:
    settings = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"]
    if built_with_cuda():  # one is enough, that of the tests which run on a GPU
        every = cached("AMASIA_GPU_TEST_ARCHITECTURES") or cached("CMAKE_CUDA_ARCHITECTURES")
        settings.append(f"-DAMASIA_ARCHITECTURES={every.split(';')[-1]}")
    return settings


@pytest.fixture(scope="module")
def app(prefix: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The program of the example, built on what is installed."""
    source = example_into(tmp_path_factory.mktemp("outside") / "mine")
    if built_with_cuda():
        # A kernel that needs the movement vocabulary and nothing else of the suite.
        headers = sorted(
            str(path.relative_to(prefix / "include" / "amasia"))
            for room in ("ptx", "geometry", "copies")
            for path in (prefix / "include" / "amasia" / "variants" / room).glob("*.*")
        )
        assert "variants/ptx/bulk.cuh" in headers and "variants/geometry/tile.hpp" in headers
        (source / "headers.cu").write_text(
            "".join(f'#include "{header}"\n' for header in headers)
            + "__global__ void mine(float* to, const float* from) {\n"
            "  __shared__ float4 stage[32];\n"
            "  amasia::async::copy<16>(&stage[threadIdx.x], from + 4 * threadIdx.x);\n"
            "  amasia::async::commit();\n  amasia::async::wait<0>();\n"
            "  to[threadIdx.x] = stage[threadIdx.x].x;\n}\n"
        )
        with (source / "CMakeLists.txt").open("a") as file:
            file.write(
                "add_library(headers OBJECT headers.cu)\n"
                "target_link_libraries(headers PRIVATE Amasia::variants)\n"
                'set_target_properties(headers PROPERTIES CUDA_COMPILER_LAUNCHER ""\n'
                "  CUDA_ARCHITECTURES ${AMASIA_ARCHITECTURES})\n"
            )
    configure(source, *settings_of(prefix))
    right("cmake", "--build", source / "build")
    return source / "build" / "transpose"


def test_nothing_of_the_tree_is_in_the_package(prefix: pathlib.Path) -> None:
    for path in [*prefix.glob("lib*/cmake/Amasia/*"), *prefix.glob("include/**/*.*")]:
        text = path.read_text()
        assert str(ROOT) not in text, f"{path} names the source tree"
        assert str(BUILD) not in text, f"{path} names the build folder"
    rooms = {path.name for path in (prefix / "include" / "amasia" / "harness").iterdir()}
    assert "variant.hpp" in rooms and "cli" not in rooms and "results" not in rooms


def test_the_app_has_the_whole_command_line(app: pathlib.Path) -> None:
    listed = json.loads(right(app, "list", "--json"))
    assert [a["name"] for a in listed["apps"]] == ["transpose"]
    variants = [v["name"] for v in listed["apps"][0]["variants"]]
    assert variants == (VARIANTS if built_with_cuda() else [])
    # Linked as well, though nothing refers to them: all microbenchmarks of the build, and the
    # ceilings that bound more than one app of the suite.
    suite = json.loads(right(BUILD / "amasia", "list", "--json"))
    assert listed["microbenchmarks"] == suite["microbenchmarks"]
    of_apps = "".join(path.read_text() for path in (ROOT / "apps").glob("*/*_rate.cu"))
    assert listed["ceilings"] == [c for c in suite["ceilings"] if f'"{c["name"]}"' not in of_apps]
    assert bool(listed["ceilings"]) == built_with_cuda()
    commands = right(app, "--help")
    for command in ("list", "verify", "tune", "run", "merge", "doctor"):
        assert re.search(rf"^ *{command}\b", commands, re.MULTILINE), command


def test_its_reference_is_right_and_its_run_is_planned(app: pathlib.Path) -> None:
    assert "6 references ok, 0 failed" in right(app, "verify", "--reference")
    planned = right(app, "run", "--dry-run")
    assert "transpose count=131072,n=32" in planned
    assert all(name in planned for name in VARIANTS if built_with_cuda())


def test_it_is_compared_reported_and_advised_on_a_device(app, gpu, tmp_path) -> None:
    out, tuning, page = (tmp_path / name for name in ("mine.json", "tuning.json", "report.html"))
    right(app, "verify")
    right(app, "tune", "--seconds", "1", "--tuning", tuning)
    right(app, "run", "--seconds", "2", "--tuning", tuning, "--out", out)
    (group, *_) = json.loads(out.read_text())["groups"]
    assert {row["variant"] for row in group["rows"]} == set(VARIANTS)
    assert all(row["status"] == "ok" and len(row["source_digest"]) == 64 for row in group["rows"])
    assert group["floor"] is not None  # the ceilings are linked, too
    pytest.importorskip("matplotlib")
    right(sys.executable, "-m", "plots", "report", out, "--out", page, cwd=ROOT)
    assert "transpose" in page.read_text()
    assert "transpose" in right(sys.executable, "-m", "plots", "advise", out, cwd=ROOT)


# --- Digests --------------------------------------------------------------------------------------


def digests(
    root: pathlib.Path, manifests: pathlib.Path, sources: pathlib.Path, options: str = "-O3"
) -> dict[str, str]:
    """What the build step makes of an app's sources."""
    name = sources.name
    out = sources.parent / f"{name}_digests.cpp"
    files = sorted([*sources.glob("*.cu"), *sources.glob("*.cpp")])
    right(BUILD / "amasia_digests", "app", name, root, manifests, sources, options, out, *files)
    return dict(re.findall(r'\{"([^"]+)", "([0-9a-f]{64})"\}', out.read_text()))


@pytest.fixture
def softmax(tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(ROOT / "examples" / "softmax", tmp_path / "softmax"))


def test_a_digest_is_the_same_from_the_tree_and_installed(prefix, softmax) -> None:
    (package,) = prefix.glob("lib*/cmake/Amasia")
    in_tree = digests(ROOT, BUILD / "generated" / "provenance", softmax)
    assert set(in_tree) == {"softmax"} | {
        f"softmax/{s}" for s in ("baseline", "register_bypass", "overlap", "drop_off", "tma", "dsm")
    }
    assert len(set(in_tree.values())) == len(in_tree)
    assert digests(prefix / "include" / "amasia", package, softmax) == in_tree
    # And where the app's project has the tree somewhere below it.
    below = softmax / "third_party" / "amasia"
    for room in ("variants", "inputs", "harness"):
        shutil.copytree(ROOT / room, below / room)
    assert digests(below, BUILD / "generated" / "provenance", softmax) == in_tree


def test_what_can_change_a_result_changes_its_digest(prefix, softmax, tmp_path) -> None:
    """tests/python/test_digests.py says what counts; this, what of it an installed suite knows."""
    (package,) = prefix.glob("lib*/cmake/Amasia")
    root = pathlib.Path(shutil.copytree(prefix / "include" / "amasia", tmp_path / "root"))
    manifests = pathlib.Path(shutil.copytree(package, tmp_path / "manifests"))
    before = digests(root, manifests, softmax)
    everything, bulk = set(before), {"softmax", "softmax/tma", "softmax/dsm"}
    # Of what is in libraries, the build of the suite has said what it is.
    ground = manifests / "ground_manifest.txt"
    launch = re.search(r"^([0-9a-f]{64}) variants/device/launch.cpp", ground.read_text(), re.M)
    for path, old, new, expected in (
        (softmax / "kernel.cuh", "// Prologue", "// At first", set()),
        (softmax / "dsm.cu", "cluster = 4", "cluster = 2", {"softmax", "softmax/dsm"}),
        (softmax / "instance.cu", "threads = 256", "threads = 128", everything),
        (root / "variants/ptx/bulk.cuh", "unsigned bytes,", "int bytes,", bulk),
        (ground, launch[1], "0" * 64, everything),
    ):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        after = digests(root, manifests, softmax)
        assert {name for name in before if after[name] != before[name]} == expected, path
        path.write_text(text)
    assert set(digests(root, manifests, softmax, "-O1").items()).isdisjoint(before.items())


# --- Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SOURCES app.cpp", "SOURCES absent.cpp", "there is no .*absent.cpp"),
        ("amasia_add_app(transpose", "amasia_add_app(My-App", "an app's name has lower-case"),
        ("SOURCES app.cpp", "FILES app.cpp", "use amasia_add_app"),
        ("Amasia 0.2", "Amasia 99.0", r"compatible\s+with requested version"),
        ("enable_language(CUDA)", "", "LANGUAGES CXX CUDA"),
        ("project(", "unset(CMAKE_BUILD_TYPE CACHE)\nproject(", "CMAKE_BUILD_TYPE is not set"),
    ],
)
def test_a_mistake_is_named(prefix, app, old: str, new: str, said: str) -> None:
    """In the folder of the app that was built, for which CMake has tried the compilers."""
    if "CUDA" in old and not built_with_cuda():
        pytest.skip("an installed suite without CUDA asks for none")
    source = app.parents[1]
    lists = source / "CMakeLists.txt"
    text = lists.read_text()
    assert old in text
    lists.write_text(text.replace(old, new))
    told = configure(source, *settings_of(prefix), status=1)
    lists.write_text(text)
    assert re.search(said, told), told


# --- As a part of another project -----------------------------------------------------------------


def test_as_a_part_of_a_project_it_brings_no_tests_and_no_apps(tmp_path: pathlib.Path) -> None:
    source = example_into(tmp_path / "mine")
    text = (source / "CMakeLists.txt").read_text()
    text = text.replace("find_package(Amasia 0.2 REQUIRED)", f"add_subdirectory({ROOT} amasia)")
    (source / "CMakeLists.txt").write_text(text)
    configure(source, "-DCMAKE_BUILD_TYPE=Release", "-DAMASIA_CUDA=OFF")
    build = source / "build"
    targets = right("ninja", "-C", build, "-t", "targets", "all")
    assert re.search(r"^transpose: ", targets, re.MULTILINE)
    assert "_test" not in targets and "apps_hotspot" not in targets
    # What is built when nobody names anything: the app, and of the suite what it needs.
    everything = right("ninja", "-C", build, "-t", "commands")
    assert " -o transpose " in everything
    assert " -o amasia/harness/amasia " not in everything and " -o amasia/amasia " not in everything
    assert "amasia_digests app transpose" in everything
    assert "Werror" not in everything.split("app.cpp.o")[1].split("\n")[0]
