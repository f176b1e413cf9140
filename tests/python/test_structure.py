"""The rooms of the sources: includes go downwards only, and tests/ mirrors the tree."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import structure
from structure import ROOT

TESTS = ROOT / "tests"

# Tests that are not named after one source, each with what it tests instead.
OTHER_TESTS = {
    "tests/apps/*_test.cpp": "apps/",  # an app: its parameters, reference, sizes
    "tests/effects/detection_loop_test.cpp": "harness/session/",  # and statistics, and claims
    "tests/fuzz/parsers_test.cpp": "inputs/formats/",  # and every other parser
    "tests/gpu/nw_bytes_in_flight_test.cpp": "harness/gpu/preparation.cpp",  # on a device
    "tests/harness/cli/new_command_test.cpp": "harness/cli/command.hpp",  # adds one
    "tests/microbench/memory_test.cpp": "microbench/memory/",
    "tests/microbench/points_test.cpp": "microbench/",  # the points of every microbenchmark
    "tests/variants/signature_test.cpp": "variants/strategy.hpp",
}


# --- Includes -------------------------------------------------------------------------------------


def test_includes_go_downwards_only_and_in_no_circle() -> None:
    assert structure.violations(ROOT) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the rooms, to be spoilt."""
    for top in structure.TOP:
        shutil.copytree(ROOT / top, tmp_path / top, ignore=shutil.ignore_patterns("*.csv"))
    return tmp_path


def plant(tree: Path, file: str, target: str) -> str:
    """Append an #include of `target` to `file`, made when it is not there; returns `file:line`."""
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else "#pragma once\n"
    path.write_text(f'{text}#include "{target}"\n', encoding="utf-8")
    return f"{file}:{text.count(chr(10)) + 1}"


@pytest.mark.parametrize(
    ("file", "target", "reason"),
    [
        ("variants/ptx/bulk.cuh", "harness/errors.hpp", "variants/ is the ground"),
        ("variants/ptx/bulk.cuh", "inputs/random.hpp", "variants/ is the ground"),
        ("inputs/random.hpp", "harness/errors.hpp", "inputs/ includes variants/ only"),
        ("harness/variant.hpp", "harness/text/table.hpp", "the front door includes no room"),
        ("harness/registry.cpp", "harness/plan/plan.hpp", "use no room but text"),
        (
            "harness/text/table.cpp",
            "harness/results/result.hpp",
            "text does not stand above results",
        ),
        ("harness/results/merge.cpp", "harness/plan/plan.hpp", "results does not stand above plan"),
        (
            "harness/plan/study.cpp",
            "harness/report/markdown.hpp",
            "plan does not stand above report",
        ),
        (
            "harness/gpu/sampler.cu",
            "harness/session/session.hpp",
            "gpu does not stand above session",
        ),
        ("harness/new_room/x.cpp", "harness/text/table.hpp", "new_room has no place in the order"),
        ("harness/text/table.cpp", "apps/gemm/gemm.hpp", "harness/ knows nothing of apps/"),
        ("apps/nw/tma.cu", "apps/lud/lud.hpp", "no app includes another"),
        ("examples/softmax/tma.cu", "harness/text/table.hpp", "its own files and what is"),
        ("examples/softmax/tma.cu", "apps/nw/nw.hpp", "its own files and what is"),
        ("examples/softmax/tma.cu", "examples/transpose/transpose.hpp", "its own files and what"),
        ("apps/common/tile_walk.hpp", "apps/lud/lud.hpp", "apps/common is for all apps"),
        ("apps/nw/walk.cuh", "harness/results/result.hpp", "its front door only"),
        ("apps/nw/walk.cuh", "microbench/walks.cuh", "apps/ includes nothing of microbench/"),
        ("microbench/walks.cuh", "apps/nw/nw.hpp", "microbench/ includes nothing of apps/"),
        ("microbench/dsm/latency.cu", "harness/gpu/sampler.hpp", "its front door only"),
        ("apps/nw/tma.cu", "apps/nw/baseline.cu", "sources are not included"),
    ],
)
def test_an_include_against_the_direction_is_named(
    tree: Path, file: str, target: str, reason: str
) -> None:
    where = plant(tree, file, target)
    found = [line for line in structure.violations(tree) if line.startswith(f"{where}: {target}: ")]
    assert len(found) == 1 and reason in found[0], structure.violations(tree)


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("inputs/random.hpp", "variants/geometry/tile.hpp"),
        ("harness/cli/list.cpp", "harness/plan/plan.hpp"),
        ("apps/nw/tma.cu", "harness/variant.hpp"),
        ("apps/nw/tma.cu", "apps/common/tile_walk.hpp"),
        ("microbench/dsm/latency.cu", "microbench/walks.cuh"),
    ],
)
def test_an_include_along_the_direction_is_not(tree: Path, file: str, target: str) -> None:
    before = structure.violations(tree)
    plant(tree, file, target)
    assert structure.violations(tree) == before


def test_a_circle_of_files_is_named(tree: Path) -> None:
    plant(tree, "variants/ptx/first.cuh", "variants/ptx/second.cuh")
    plant(tree, "variants/ptx/second.cuh", "variants/ptx/third.cuh")
    where = plant(tree, "variants/ptx/third.cuh", "variants/ptx/first.cuh")
    found = [line for line in structure.violations(tree) if "variants/ptx/first.cuh" in line]
    assert found == [
        f"{where}: closes a circle: variants/ptx/first.cuh -> variants/ptx/second.cuh"
        " -> variants/ptx/third.cuh -> variants/ptx/first.cuh"
    ]


def test_a_circle_of_rooms_is_named_though_no_two_files_are_in_one(tree: Path) -> None:
    plant(tree, "microbench/two/a.cuh", "microbench/curve.hpp")
    plant(tree, "microbench/one/a.cuh", "microbench/two/a.cuh")
    plant(tree, "microbench/one/b.cuh", "microbench/curve.hpp")
    where = plant(tree, "microbench/two/b.cuh", "microbench/one/b.cuh")
    found = [line for line in structure.violations(tree) if "-> microbench/one" in line]
    assert found == [
        f"{where}: closes a circle: microbench/one -> microbench/two -> microbench/one"
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('#include "bulk.cuh"', "should be named from the root: variants/ptx/bulk.cuh"),
        ('#include "variants/ptx/absent.cuh"', 'there is no file "variants/ptx/absent.cuh"'),
        ("#include HEADER", "an #include that names no file: #include HEADER"),
        ("  # include <harness/errors.hpp>", "harness/errors.hpp: variants/ is the ground"),
    ],
)
def test_an_include_in_another_spelling_is_not_overlooked(
    tree: Path, line: str, complaint: str
) -> None:
    (tree / "variants/ptx/odd.cuh").write_text(f"\n{line}\n", encoding="utf-8")
    found = [text for text in structure.violations(tree) if "variants/ptx/odd.cuh:2: " in text]
    assert len(found) == 1 and complaint in found[0]


def test_the_graph_can_be_printed(tree: Path) -> None:
    command = [sys.executable, structure.__file__]
    clean = subprocess.run(command, capture_output=True, text=True, check=False)
    assert clean.returncode == 0, clean.stdout
    assert "upward arrows: 0\n" in clean.stdout and "circles among rooms: 0\n" in clean.stdout
    assert re.search(r"^harness/cli -> .*harness/session \(\d+\)", clean.stdout, re.MULTILINE)

    where = plant(tree, "variants/ptx/bulk.cuh", "harness/errors.hpp")
    spoilt = subprocess.run([*command, tree], capture_output=True, text=True, check=False)
    assert spoilt.returncode == 1
    assert f"upward arrows: 1\n  {where}: harness/errors.hpp: " in spoilt.stdout


# --- Tests mirror the tree ------------------------------------------------------------------------


def sources_of(test: str) -> list[str]:
    """What a C++ test stands beside: the sources whose place and name its own repeat.

    A source may have several: selection_test.cpp, selection_left_out_test.cpp.
    """
    place = test.removeprefix("tests/").removesuffix("_test.cpp")
    while place:
        found = [f"{place}{suffix}" for suffix in (".cpp", ".hpp", ".cuh", ".cu")]
        existing = [file for file in found if (ROOT / file).is_file()]
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


def test_the_exceptions_are_needed_and_name_what_exists() -> None:
    for pattern, what in OTHER_TESTS.items():
        tests = [test for test in cpp_tests() if Path(test).match(pattern)]
        assert tests and (ROOT / what).exists(), pattern
        assert [test for test in tests if not sources_of(test)], f"{pattern} needs no exception"


def rooms_with_sources() -> list[str]:
    """The rooms of the harness that have host sources of their own."""
    rooms = {path.parent.name for path in (ROOT / "harness").glob("*/*.cpp")}
    return sorted(rooms - {"main", "no_gpu"})  # programs and refusals: tests/cli runs them


@pytest.mark.parametrize("name", rooms_with_sources())
def test_every_room_of_the_harness_has_its_unit_tests(name: str) -> None:
    assert list((TESTS / "harness" / name).rglob("*_test.cpp")), (
        f"tests/harness/{name}/ has no test"
    )


def test_every_app_has_its_unit_tests() -> None:
    apps = {path.parent.name for path in (ROOT / "apps").glob("*/*.cu")}
    tested = {path.name.split("_")[0] for path in (TESTS / "apps").glob("*_test.cpp")}
    assert apps - tested == set()
