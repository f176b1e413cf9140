"""Published results were made by the code that is here: digests in results/ equal the program's.
And `best` ran what the tuner found at that size.

AMASIA_BUILD names the build folder (default build/ci). The digests themselves are computed by
cmake/source_digests.cmake; the tests below it show that code counts, and comments do not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci")) / "amasia"
RESULTS = sorted((ROOT / "results").glob("**/*.json"))


def measured(file: dict) -> dict[str, str]:
    """Return the digest of every variant that has a row in the result file."""
    return {
        row["variant"]: row["source_digest"] for group in file["groups"] for row in group["rows"]
    }


def measured_microbenchmarks(file: dict) -> dict[str, str]:
    """Return the digest of every microbenchmark in the result file."""
    return {b["name"]: b["source_digest"] for b in file.get("microbenchmarks", [])}


def stale(recorded: dict[str, str], present: dict[str, str]) -> list[str]:
    """Return the variants whose code is not what it was when they were measured."""
    return sorted(name for name, digest in recorded.items() if present.get(name) != digest)


@pytest.fixture(scope="session")
def present() -> dict[str, str]:
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is missing: build it, or set AMASIA_BUILD")
    listing = subprocess.run(
        [PROGRAM, "list", "--sources"], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(listing.stdout)


def test_the_program_names_every_variant_of_the_tree(present: dict[str, str]) -> None:
    in_tree = {
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "apps").glob("*/*.cu")
        if re.search("register_(variant|comparator)", path.read_text())
    }
    assert set(present) == in_tree
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in present.values())


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_results_were_made_by_this_code(path: Path, present: dict[str, str]) -> None:
    file = json.loads(path.read_text())
    if "groups" not in file:
        pytest.skip("not a result file")
    old = stale(measured(file), present)
    assert not old, (
        f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: measure again"
    )


@pytest.fixture(scope="session")
def present_microbenchmarks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("digests")
    run_script(ROOT, out)
    return digests_in(out / "microbenchmark_digests.inc")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_microbenchmarks_were_made_by_this_code(
    path: Path, present_microbenchmarks: dict[str, str]
) -> None:
    recorded = measured_microbenchmarks(json.loads(path.read_text()))
    old = stale(recorded, present_microbenchmarks)
    assert not old, (
        f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: measure again"
    )


def not_winners(file: dict, tuning: dict) -> list[str]:
    """Return the rows of role best whose config is no winner of the tuner at their own size, with
    the code that they ran. cuBLAS and the like are comparators and have one config.
    """
    winners = {
        (entry["variant"], entry["config"], entry["source_digest"], tuple(entry["size"].items()))
        for entry in tuning["entries"]
    }

    def is_winner(row: dict, size: dict) -> bool:
        return any(
            all(str(size.get(name)) == str(value) for name, value in tuned)
            for variant, config, digest, tuned in winners
            if (variant, config, digest) == (row["variant"], row["config"], row["source_digest"])
        )

    return [
        f"{row['variant']} {row['config']} at {group['key']['size']}"
        for group in file["groups"]
        for row in group["rows"]
        if row["role"] == "best" and row["status"] == "ok"
        if not is_winner(row, group["key"]["size"])
    ]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_best_ran_the_winners_of_its_size(path: Path) -> None:
    file = json.loads(path.read_text())
    if "groups" not in file:
        pytest.skip("not a result file")
    tuning = json.loads((path.parent / "tuning.json").read_text())
    assert not_winners(file, tuning) == []


def test_a_config_that_did_not_win_would_be_found() -> None:
    row = {"variant": "a/tma", "role": "best", "status": "ok", "config": "x", "source_digest": "1"}
    file = {"groups": [{"key": {"size": {"n": "8", "input": "random"}}, "rows": [row]}]}
    entry = {"variant": "a/tma", "config": "x", "source_digest": "1", "size": {"n": "8"}}
    assert not_winners(file, {"entries": [entry]}) == []
    for other in ({"config": "y"}, {"size": {"n": "9"}}, {"source_digest": "2"}):
        assert len(not_winners(file, {"entries": [entry | other]})) == 1


def test_a_changed_variant_would_be_found() -> None:
    file = {"groups": [{"rows": [{"variant": "a/tma", "source_digest": "1"}]}, {"rows": []}]}
    assert stale(measured(file), {"a/tma": "1", "a/dsm": "5"}) == []
    assert stale(measured(file), {"a/tma": "2"}) == ["a/tma"]
    assert stale(measured(file), {}) == ["a/tma"]


# --- what a digest covers -------------------------------------------------------------------------

VARIANT = """\
// nw/tma: a comment with a "quotation mark and a 'single one
#include "apps/nw/kernel.cuh"
#include "variants/copy.hpp"
#include <cuda.h>

/* a longer
   comment */
constexpr int million = 1'000'000;  // digits apart
const char* url = "https://example.org/a//b /* no comment */";
const char quote = '"';  // and after it a comment
__global__ void kernel(int* p) { p[0] = 4 / 2; }
const bool registered = register_variant("nw");
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    if not shutil.which("cmake"):
        pytest.skip("needs CMake")
    files = {
        "apps/nw/tma.cu": VARIANT,
        "apps/nw/dsm.cu": "const bool registered = register_variant();\n",
        "apps/nw/instance.cu": "int instance;\n",
        "apps/nw/kernel.cuh": '#include "geometry.hpp"\nint kernel;\n',
        "apps/nw/geometry.hpp": "int geometry;\n",
        "variants/copy.hpp": '#include "harness/gpu.hpp"\nint copy();\n',
        "variants/copy.cpp": '#include "variants/copy.hpp"\nint copy() { return 1; }\n',
        "variants/other.hpp": "int other;\n",
        "harness/gpu.hpp": "int harness;\n",
        "inputs/random.hpp": "int inputs;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run_script(tree: Path, out: Path) -> None:
    """Run the build step that computes digests."""
    script = ROOT / "cmake" / "source_digests.cmake"
    subprocess.run(
        ["cmake", f"-DROOT={tree}", f"-DOUTPUT={out}", "-P", script],
        check=True,
        timeout=60,
        capture_output=True,
    )


def digests_in(path: Path) -> dict[str, str]:
    """Return what the build step wrote to one file."""
    return dict(re.findall(r'\{"([^"]+)", "([0-9a-f]{64})"\},\n', path.read_text()))


def digests(tree: Path) -> dict[str, str]:
    """Run the build step; the harness's digest is under the name "harness"."""
    run_script(tree, tree / "out")
    found = digests_in(tree / "out" / "source_digests.inc")
    found["harness"] = (tree / "out" / "harness_digest.inc").read_text().strip().strip('"')
    return found


def changed_by(tree: Path, name: str, old: str, new: str) -> set[str]:
    """Return the digests that differ after `old` became `new` in one file."""
    before = digests(tree)
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new, 1))
    after = digests(tree)
    assert before.keys() == after.keys()
    return {key for key in before if before[key] != after[key]}


def test_only_variants_have_digests(tree: Path) -> None:
    assert set(digests(tree)) == {"nw/tma", "nw/dsm", "harness"}
    assert digests(tree) == digests(tree)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("apps/nw/tma.cu", "4 / 2", "5 / 2"),
        ("apps/nw/tma.cu", "a//b", "a//c"),
        ("apps/nw/tma.cu", "no comment */", "any comment */"),
        ("apps/nw/tma.cu", "1'000'000", "2'000'000"),
        ("apps/nw/kernel.cuh", "int kernel", "int kernels"),
        ("apps/nw/geometry.hpp", "int geometry", "long geometry"),
        ("variants/copy.hpp", "int copy", "long copy"),
        ("variants/copy.cpp", "return 1", "return 2"),
    ],
)
def test_code_counts(tree: Path, name: str, old: str, new: str) -> None:
    assert changed_by(tree, name, old, new) == {"nw/tma"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("apps/nw/tma.cu", "a comment with", 'a longer comment with another " and'),
        ("apps/nw/tma.cu", "// digits apart", "/* digits */ // 'apart"),
        ("apps/nw/tma.cu", "// and after it a comment", ""),
        ("apps/nw/tma.cu", "a longer\n   comment", "no\n\n   longer ** one **"),
        ("apps/nw/tma.cu", "{ p[0]", "{   p[0]"),
        ("apps/nw/tma.cu", "\n\n", "\n\n\n  \n"),
        ("apps/nw/kernel.cuh", "int kernel;\n", "\tint  kernel; // one\r\n"),
        ("apps/nw/instance.cu", "int instance", "long instance"),
        ("variants/other.hpp", "int other", "long other"),
    ],
)
def test_comments_blanks_and_unrelated_files_do_not(
    tree: Path, name: str, old: str, new: str
) -> None:
    assert changed_by(tree, name, old, new) == set()


@pytest.mark.parametrize("name", ["harness/gpu.hpp", "inputs/random.hpp"])
def test_the_harness_has_its_own(tree: Path, name: str) -> None:
    assert changed_by(tree, name, "int", "long") == {"harness"}


def test_a_raw_string_is_taken_as_it_stands(tree: Path) -> None:
    (tree / "apps/nw/geometry.hpp").write_text('auto a = R"(// " text)";  // 1\n')
    assert changed_by(tree, "apps/nw/geometry.hpp", '" text', '" other') == {"nw/tma"}
    assert changed_by(tree, "apps/nw/geometry.hpp", "// 1", "// 2") == {"nw/tma"}
