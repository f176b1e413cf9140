"""The rooms of the sources: includes go downwards only, and tests/ mirrors the tree."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
import structure
from structure import ROOT

TESTS = ROOT / "tests"

# Tests that are not named after one source, each with what it tests instead.
OTHER_TESTS = {
    "tests/effects/detection_loop_test.cpp": "harness/session/",  # and statistics, and claims
    "tests/fuzz/parsers_test.cpp": "inputs/formats/",  # and every other parser
    "tests/gpu/large_test.cpp": "apps/",  # on a device
    "tests/gpu/nw_bytes_in_flight_test.cpp": "harness/gpu/preparation.cpp",  # on a device
    "tests/harness/cli/new_command_test.cpp": "harness/cli/command.hpp",  # adds one
    "tests/microbench/points_test.cpp": "microbench/",  # the points of every microbenchmark
    "tests/variants/signature_test.cpp": "variants/strategy.hpp",
}


# --- Includes -------------------------------------------------------------------------------------


def test_includes_go_downwards_only_and_in_no_circle() -> None:
    assert structure.violations(ROOT) == []


def write(tree: Path, file: str, text: str = "") -> Path:
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def plant(tree: Path, file: str, target: str) -> str:
    """Append an #include of `target` to `file`, both made when they are not there; `file:line`."""
    if not (tree / target).exists():
        write(tree, target)
    text = (tree / file).read_text(encoding="utf-8") if (tree / file).exists() else ""
    write(tree, file, f'{text}#include "{target}"\n')
    return f"{file}:{text.count(chr(10)) + 1}"


@pytest.mark.parametrize(
    ("file", "target", "reason"),
    [
        ("variants/ptx/bulk.cuh", "harness/errors.hpp", "variants/ is the ground"),
        ("inputs/random.hpp", "harness/errors.hpp", "inputs/ includes variants/ only"),
        ("harness/variant.hpp", "harness/text/table.hpp", "the front door includes no room"),
        (
            "harness/text/table.cpp",
            "harness/results/result.hpp",
            "text does not stand above results",
        ),
        ("harness/new_room/x.cpp", "harness/text/table.hpp", "new_room has no place in the order"),
        ("harness/text/table.cpp", "apps/gemm/gemm.hpp", "harness/ knows nothing of apps/"),
        ("apps/nw/tma.cu", "apps/lud/lud.hpp", "no app includes another"),
        ("examples/softmax/tma.cu", "harness/text/table.hpp", "its own files and what is"),
        ("apps/common/tile_walk.hpp", "apps/lud/lud.hpp", "apps/common is for all apps"),
        ("apps/nw/walk.cuh", "microbench/walks.cuh", "apps/ includes nothing of microbench/"),
        ("microbench/dsm/latency.cu", "harness/gpu/sampler.hpp", "its front door only"),
        ("apps/nw/tma.cu", "apps/nw/baseline.cu", "sources are not included"),
        ("inputs/random.hpp", "variants/geometry/tile.hpp", ""),
        ("apps/nw/tma.cu", "harness/variant.hpp", ""),
        ("microbench/dsm/latency.cu", "microbench/walks.cuh", ""),
    ],
)
def test_an_include_against_the_direction_is_named(
    tmp_path: Path, file: str, target: str, reason: str
) -> None:
    where = plant(tmp_path, file, target)
    found = structure.violations(tmp_path)
    assert bool(found) == bool(reason)
    assert all(line.startswith(f"{where}: {target}: ") and reason in line for line in found)


def test_circles_of_files_and_of_rooms_are_named(tmp_path: Path) -> None:
    names = [f"variants/ptx/{name}.cuh" for name in ("first", "second", "third", "first")]
    for file, target in itertools.pairwise(names):
        where = plant(tmp_path, file, target)
    assert structure.violations(tmp_path) == [f"{where}: closes a circle: {' -> '.join(names)}"]
    shutil.rmtree(tmp_path / "variants")
    # No two files are in one.
    plant(tmp_path, "microbench/one/a.cuh", "microbench/two/a.cuh")
    where = plant(tmp_path, "microbench/two/b.cuh", "microbench/one/b.cuh")
    assert structure.violations(tmp_path) == [
        f"{where}: closes a circle: microbench/one -> microbench/two -> microbench/one"
    ]


# --- Tests mirror the tree ------------------------------------------------------------------------


def sources_of(test: str) -> list[str]:
    """What a C++ test is of: the sources or the folder whose place and name its own repeat.

    A source may have several: selection_test.cpp, selection_left_out_test.cpp.
    """
    place = test.removeprefix("tests/").removesuffix("_test.cpp")
    while place:
        found = [f"{place}{suffix}" for suffix in (".cpp", ".hpp", ".cuh", ".cu", "/")]
        existing = [file for file in found if (ROOT / file).exists()]
        if existing:
            return existing
        place = place.rpartition("_")[0]
    return []


def cpp_tests() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in TESTS.rglob("*_test.cpp"))


@pytest.mark.parametrize("test", cpp_tests())
def test_a_test_stands_where_its_source_does(test: str) -> None:
    other = [what for pattern, what in OTHER_TESTS.items() if Path(test).match(pattern)]
    assert sources_of(test) or other, f"{test} repeats the place and name of no source"


def test_every_room_of_the_harness_and_every_app_has_unit_tests() -> None:
    rooms = {path.parent.name for path in (ROOT / "harness").glob("*/*.cpp")}
    # Programs and refusals, which tests/cli and tests/amasia run.
    rooms -= {"main", "no_gpu", "gbench", "implementations"}
    tested = {
        path.relative_to(TESTS / "harness").parts[0]
        for path in TESTS.rglob("harness/**/*_test.cpp")
    }
    assert rooms - tested == set()
    apps = {path.parent.name for path in (ROOT / "apps").glob("*/*.cu")}
    assert apps - {path.name.split("_")[0] for path in (TESTS / "apps").glob("*_test.cpp")} == set()
