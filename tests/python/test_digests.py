"""Published results were made by the code that is here: digests in results/ equal the program's.
And `best` ran what the tuner found at that size.

AMASIA_BUILD names the build folder (default build/ci). The digests themselves are computed by
cmake/source_digests.cmake. The tests below run it on a small tree and on copies of the real one:
what can change what is timed, judged or bounded counts; moves, names, formatting and comments do
not.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("AMASIA_BUILD", ROOT / "build" / "ci")) / "amasia"
# Those of an earlier version, in results/<version>/<gpu>/, bind no code (plots/data/frozen.py).
RESULTS = sorted((ROOT / "results").glob("*/*.json"))


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


def refuse_old_kind(path: Path, file: dict) -> None:
    """Fail when the file's digests were made by paths and includes (schema version 1): they cover
    less than today's, and equal none of them. Profiles never had them.
    """
    assert file["schema"] == "amasia-profile" or file["version"] > 1, (
        f"{path.name} has digests of the old kind (schema version 1), which no program of today "
        "gives: it can be read, but not whether it was made by this code. Measure again"
    )


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
    refuse_old_kind(path, file)
    if is_of_known_effects(file):
        in_tree = digests_in(PROGRAM.parent / "generated" / "provenance" / "study_digests.inc")
        present = {name: in_tree[name.split("/")[0]] for name in measured(file)}
    old = stale(measured(file), present)
    assert not old, (
        f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: measure again"
    )


def digests_of_example(folder: Path, out: Path) -> dict[str, str]:
    """Return what `amasia_add_app` makes of the sources of an example, in this build."""
    provenance = PROGRAM.parent / "generated" / "provenance"
    if not (provenance / "ceiling_manifest.txt").exists():
        pytest.fail(f"{provenance} has no digests: build {PROGRAM}, or set AMASIA_BUILD")
    sources = ";".join(map(str, sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")])))
    options = (provenance / "code_options.txt").read_text().strip()
    subprocess.run(
        [
            "cmake", f"-DROOT={ROOT}", f"-DMANIFESTS={provenance}", f"-DNAME={folder.name}",
            f"-DAPP_FOLDER={folder}", f"-DSOURCES={sources}", f"-DOPTIONS={options}",
            f"-DOUTPUT={out}", "-P", ROOT / "cmake" / "app_digests.cmake",
        ],
        check=True, timeout=120, capture_output=True,
    )  # fmt: skip
    return digests_in(out)


EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/CMakeLists.txt"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_results_of_an_example_were_made_by_its_code(folder: Path, tmp_path: Path) -> None:
    present = digests_of_example(folder, tmp_path / "digests.cpp")
    assert f"{folder.name}/baseline" in present and f"{folder.name}/tma" in present
    built = PROGRAM.parent / "examples" / folder.name / f"{folder.name}_digests.cpp"
    if built.exists():
        assert digests_in(built) == present
    for path in sorted((folder / "results").glob("*.json")):
        file = json.loads(path.read_text())
        refuse_old_kind(path, file)
        old = stale(measured(file), present)
        assert not old, (
            f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: "
            "measure again"
        )


def is_of_known_effects(file: dict) -> bool:
    """Return whether the apps of the file are those of tests/effects, which the suite's own program
    does not have and nobody tunes.
    """
    apps = {group["key"]["app"] for group in file["groups"]}
    return file["provenance"]["study"] == "effects" or (
        bool(apps) and apps <= {"planted", "contest", "dosed"}
    )


@pytest.fixture(scope="session")
def present_microbenchmarks() -> dict[str, str]:
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is missing: build it, or set AMASIA_BUILD")
    generated = PROGRAM.parent / "generated" / "provenance"
    return digests_in(generated / "microbenchmark_digests.inc")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_microbenchmarks_were_made_by_this_code(
    path: Path, present_microbenchmarks: dict[str, str]
) -> None:
    file = json.loads(path.read_text())
    recorded = measured_microbenchmarks(file)
    if recorded:
        refuse_old_kind(path, file)
    old = stale(recorded, present_microbenchmarks)
    assert not old, (
        f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: measure again"
    )


def not_winners(file: dict, tuning: dict) -> list[str]:
    """Return the rows of role best whose config is no winner of the tuner at their own size, with
    the code that they ran, and none that it did not tell apart from the winner: another session may
    have found that one the fastest. cuBLAS and the like are comparators and have one config.
    """
    winners = {
        (entry["variant"], config, entry["source_digest"], tuple(entry["size"].items()))
        for entry in tuning["entries"]
        for config in (entry["config"], *entry.get("equal", []))
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
    if is_of_known_effects(file):
        pytest.skip("its configs are given, not tuned")
    tuning = json.loads((path.parent / "tuning.json").read_text())
    assert not_winners(file, tuning) == []


def test_a_config_that_did_not_win_would_be_found() -> None:
    row = {"variant": "a/tma", "role": "best", "status": "ok", "config": "x", "source_digest": "1"}
    file = {"groups": [{"key": {"size": {"n": "8", "input": "random"}}, "rows": [row]}]}
    entry = {"variant": "a/tma", "config": "x", "source_digest": "1", "size": {"n": "8"}}
    assert not_winners(file, {"entries": [entry]}) == []
    assert not_winners(file, {"entries": [entry | {"config": "w", "equal": ["v", "x"]}]}) == []
    assert len(not_winners(file, {"entries": [entry | {"config": "w", "equal": ["v"]}]})) == 1
    for other in ({"config": "y"}, {"size": {"n": "9"}}, {"source_digest": "2"}):
        assert len(not_winners(file, {"entries": [entry | other]})) == 1


def test_digests_of_the_old_kind_are_said_so() -> None:
    with pytest.raises(AssertionError, match=r"dpx\.json has digests of the old kind"):
        refuse_old_kind(Path("results/x/dpx.json"), {"schema": "amasia-result", "version": 1})
    refuse_old_kind(Path("results/x/dpx.json"), {"schema": "amasia-result", "version": 2})
    refuse_old_kind(Path("results/x/profile.json"), {"schema": "amasia-profile", "version": 1})


def test_a_changed_variant_would_be_found() -> None:
    file = {"groups": [{"rows": [{"variant": "a/tma", "source_digest": "1"}]}, {"rows": []}]}
    assert stale(measured(file), {"a/tma": "1", "a/dsm": "5"}) == []
    assert stale(measured(file), {"a/tma": "2"}) == ["a/tma"]
    assert stale(measured(file), {}) == ["a/tma"]


# --- what a digest covers, on a small tree --------------------------------------------------------

VARIANT = """\
// nw/tma: a comment with a "quotation mark and a 'single one; register_ceiling
#include "apps/nw/kernel.cuh"
#include "variants/copy.hpp"
#include <cuda.h>

/* a longer
   comment */
#define SQUARE(x) ((x) * \\
                   (x))
#define FEW
constexpr int million = 1'000'000;  // digits apart
const char* url = "https://example.org/a//b /* no comment */";
const char* two = "one; " "[two";
const char quote = '"';  // and after it a comment
std::vector<std::vector<int>> deep;
__global__ void kernel(int* p) { p[0] = 4 / 2 + ++p[1]; }
const bool registered = register_variant("nw");
"""

OPTIONS = "-std=c++17 -O3"


SMALL_TREE = {
    "apps/nw/tma.cu": VARIANT,
    "apps/nw/dsm.cu": "const bool registered = register_variant();\n",
    "apps/nw/instance.cu": '#include "inputs/random.hpp"\nint instance;\n',
    "apps/nw/schedule.cpp": "int schedule = 2;\n",
    "apps/nw/kernel.cuh": '#include "geometry.hpp"\nint kernel;\n',
    "apps/nw/geometry.hpp": "#pragma once\nint geometry;\n",
    "apps/nw/README.md": "text\n",
    "apps/lud/cublas.cu": "const bool registered = register_comparator();\n",
    "apps/lud/options.cmake": "# why\ntarget_compile_options(x -Xptxas=-O1)\n",
    "variants/copy.hpp": '#include "harness/gpu.hpp"\nint copy();\n',
    "variants/copy.cpp": '#include "variants/copy.hpp"\nint copy() { return 1; }\n',
    "variants/other.hpp": "int other;\n",
    "harness/gpu.hpp": '#include "variants/strategy.hpp"\nint harness;\n',
    "variants/strategy.hpp": "int strategy;\n",
    "inputs/random.hpp": "int inputs;\n",
    "inputs/published/table.csv": "latency,33\n",
    "microbench/ceilings/memory.cu": '#include "timing.hpp"\nbool b = register_ceiling();\n',
    "microbench/ceilings/timing.hpp": "int timing;\n",
    "microbench/ceilings/options.cmake": "target_compile_options(x -Xptxas=-O3)\n",
    "microbench/tma/latency.cu": ('#include "operands.hpp"\nbool b = register_microbenchmark();\n'),
    "microbench/tma/issue.cu": "bool issue = register_microbenchmark();\n",
    "microbench/tma/operands.hpp": "int operands();\n",
    "microbench/tma/operands.cpp": "int operands() { return 3; }\n",
    "microbench/tma/instances.cu": "template int f<3>();\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_small_tree(tmp_path)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of the small tree as it stands above."""
    return digests(write_small_tree(tmp_path_factory.mktemp("small")))


def write_small_tree(folder: Path) -> Path:
    for name, text in SMALL_TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run_script(tree: Path, out: Path, options: str = OPTIONS) -> None:
    """Run the build step that computes digests."""
    script = ROOT / "cmake" / "source_digests.cmake"
    subprocess.run(
        ["cmake", f"-DROOT={tree}", f"-DOUTPUT={out}", f"-DOPTIONS={options}", "-P", script],
        check=True,
        timeout=120,
        capture_output=True,
    )


def digests_in(path: Path) -> dict[str, str]:
    """Return what the build step wrote to one file."""
    return dict(re.findall(r'\{"([^"]+)", "([0-9a-f]{64})"\},\n', path.read_text()))


def all_digests(generated: Path) -> dict[str, str]:
    """Return the digests of all files that the build step wrote; the harness's is "harness"."""
    found = digests_in(generated / "source_digests.inc")
    found |= digests_in(generated / "microbenchmark_digests.inc")
    found["harness"] = (generated / "harness_digest.inc").read_text().strip().strip('"')
    return found


def digests(tree: Path, options: str = OPTIONS) -> dict[str, str]:
    """Run the build step and return all digests."""
    run_script(tree, tree / "out", options)
    return all_digests(tree / "out")


def covered(generated: Path) -> dict[str, set[str]]:
    """Return the paths that each digest covers, from the build step's manifest."""
    paths: dict[str, set[str]] = collections.defaultdict(set)
    for line in (generated / "source_manifest.txt").read_text().splitlines():
        name, _, path = line.split(" ", 2)
        paths[name].add(path)
    return paths


def test_apps_of_tests_have_one_digest_of_their_folder(tree: Path) -> None:
    def of_studies() -> dict[str, str]:
        run_script(tree, tree / "out")
        return digests_in(tree / "out" / "study_digests.inc")

    assert of_studies() == {}  # a tree without the tests
    for name, text in {
        "apps.cu": '#include "tests/effects/kernels.cuh"\nbool b = register_variant();\n',
        "kernels.cuh": "int kernel;\n",
        "detection_test.cpp": "int test;\n",
    }.items():
        (tree / "tests" / "effects").mkdir(parents=True, exist_ok=True)
        (tree / "tests" / "effects" / name).write_text(text)
    suite = digests(tree)
    before = of_studies()
    assert set(before) == {"planted", "contest", "dosed"} and len(set(before.values())) == 1
    replace(tree / "tests" / "effects" / "detection_test.cpp", "test", "other")
    assert of_studies() == before
    replace(tree / "tests" / "effects" / "kernels.cuh", "kernel", "other")
    changed = of_studies()
    assert not set(changed.values()) & set(before.values())
    replace(tree / "microbench" / "ceilings" / "memory.cu", "b", "other")
    assert not set(of_studies().values()) & set(changed.values())
    replace(tree / "microbench" / "ceilings" / "memory.cu", "other", "b")
    assert digests(tree) == suite


def differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return the names whose digests differ."""
    assert before.keys() == after.keys()
    return {key for key in before if before[key] != after[key]}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


NW = {"nw/tma", "nw/dsm"}
VARIANTS = NW | {"lud/cublas"}
MICROBENCHMARKS = {"tma/latency", "tma/issue"}


def test_only_what_is_measured_has_digests(tree: Path) -> None:
    assert set(digests(tree)) == VARIANTS | MICROBENCHMARKS | {"harness"}
    assert digests(tree) == digests(tree)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("4 / 2", "5 / 2"),
        ("a//b", "a//c"),
        ("no comment */", "any comment */"),
        ("no comment */", "no  comment */"),
        ("1'000'000", "2'000'000"),
        ("+ ++p[1]", "++ +p[1]"),
        ("+ ++p[1]", "+ + +p[1]"),
        ("SQUARE(x)", "SQUARE (x)"),
        ("#define FEW\n", "#define FEW "),
        ('"[two"', '"{two"'),
        ("'\"'", "'\\''"),
        ("int* p", "int*p2"),
    ],
)
def test_tokens_count(tree: Path, small: dict[str, str], old: str, new: str) -> None:
    replace(tree / "apps/nw/tma.cu", old, new)
    assert differing(small, digests(tree)) == {"nw/tma"}


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("apps/nw/kernel.cuh", "int kernel", "int kernels", {"nw/tma"}),
        ("apps/nw/geometry.hpp", "int geometry", "long geometry", {"nw/tma"}),
        ("variants/copy.hpp", "int copy", "long copy", {"nw/tma"}),
        ("variants/copy.cpp", "return 1", "return 2", {"nw/tma"}),
        ("apps/nw/instance.cu", "int instance", "long instance", NW),
        ("apps/nw/schedule.cpp", "schedule = 2", "schedule = 3", NW),
        ("inputs/random.hpp", "int inputs", "long inputs", NW | {"harness"}),
        ("inputs/published/table.csv", "33", "34", {"harness"}),
        ("harness/gpu.hpp", "int harness", "long harness", {"harness"}),
        ("variants/strategy.hpp", "int strategy", "long strategy", {"harness"}),
        ("microbench/ceilings/memory.cu", "bool b", "bool c", VARIANTS),
        ("microbench/ceilings/timing.hpp", "int timing", "long timing", VARIANTS),
        ("microbench/ceilings/options.cmake", "-O3", "-O2", VARIANTS),
        ("microbench/tma/operands.cpp", "3", "4", {"tma/latency"}),
        ("microbench/tma/instances.cu", "3", "4", MICROBENCHMARKS),
        ("apps/lud/options.cmake", "-O1", "-O2", {"lud/cublas"}),
    ],
)
def test_whatever_can_change_a_result_counts(
    tree: Path, small: dict[str, str], name: str, old: str, new: str, changed: set[str]
) -> None:
    replace(tree / name, old, new)
    assert differing(small, digests(tree)) == changed


def test_options_of_the_compiler_count(tree: Path) -> None:
    after = digests(tree, OPTIONS + " -use_fast_math")
    assert differing(digests(tree), after) == VARIANTS | MICROBENCHMARKS


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("apps/nw/tma.cu", "a comment with", 'a longer comment with another " and'),
        ("apps/nw/tma.cu", "// digits apart", "/* digits */ // 'apart"),
        ("apps/nw/tma.cu", "// and after it a comment", ""),
        ("apps/nw/tma.cu", "a longer\n   comment", "no\n\n   longer ** one **"),
        ("apps/nw/tma.cu", "{ p[0] = 4 / 2", "{\n  p [ 0 ]=4/2"),
        ("apps/nw/tma.cu", "+ ++p[1]", "+\n  ++ p[1]"),
        ("apps/nw/tma.cu", '"one; " "[two"', '"one; [two"'),
        ("apps/nw/tma.cu", "<int>> deep", "<int> > deep"),
        ("apps/nw/tma.cu", "((x) * \\\n                   (x))", "( ( x ) * ( x ) )  // why"),
        ("apps/nw/tma.cu", "#define FEW", "  #  define  FEW // why"),
        ("apps/nw/tma.cu", "#include <cuda.h>", "#include <cuda_runtime.h>"),
        ("apps/nw/geometry.hpp", "#pragma once", "#pragma  once  // and again"),
        ("apps/nw/geometry.hpp", "#pragma once", ""),
        ("apps/nw/kernel.cuh", '"geometry.hpp"', '"apps/nw/geometry.hpp"'),
        ("apps/nw/kernel.cuh", "int kernel;\n", "\tint  kernel; // one\r\n"),
        ("apps/nw/README.md", "text", "more text"),
        ("apps/lud/options.cmake", "# why", "# why not"),
        ("apps/lud/options.cmake", "(x -X", "(\n  x -X"),
        ("variants/other.hpp", "int other", "long other"),
    ],
)
def test_form_and_unrelated_files_do_not_count(
    tree: Path, small: dict[str, str], name: str, old: str, new: str
) -> None:
    replace(tree / name, old, new)
    assert digests(tree) == small


def test_raw_strings_are_taken_exactly(tree: Path) -> None:
    path = tree / "apps/nw/geometry.hpp"

    def changed_by(old: str, new: str) -> set[str]:
        before = digests(tree)
        replace(path, old, new)
        return differing(before, digests(tree))

    path.write_text('auto a = R"(// "; [text\n#include  "x")";  // 1\nint after;\n')
    assert changed_by("; [text", "; [other") == {"nw/tma"}
    assert changed_by("#include  ", "#include ") == {"nw/tma"}
    assert changed_by("// 1", "/* 2 */") == set()
    # With a delimiter the whole file counts as it stands.
    path.write_text('auto a = R"x(// ")" text)x";  // 1\n')
    assert changed_by("text", "other") == {"nw/tma"}
    assert changed_by("// 1", "// 2") == {"nw/tma"}


def test_files_of_equal_content_are_one(tree: Path) -> None:
    before = digests(tree)
    (tree / "apps/nw/copy_of_schedule.cpp").write_text("int schedule = 2; // the same\n")
    (tree / "apps/nw/only_includes.cpp").write_text('#include "apps/nw/kernel.cuh"\n')
    assert differing(before, digests(tree)) == {"nw/dsm"}, "which did not cover kernel.cuh before"
    (tree / "apps/nw/only_includes.cpp").unlink()
    assert digests(tree) == before


# --- what a digest covers, on a copy of the real tree ---------------------------------------------

FOLDERS = ("apps", "cmake", "harness", "inputs", "microbench", "variants")
SOURCES = (".cpp", ".cu", ".cuh", ".hpp")


def copy_sources(to: Path) -> Path:
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, to / folder)
    return to


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of this tree's sources."""
    return copy_sources(tmp_path)


@pytest.fixture(scope="session")
def shared_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that tests leave as they found it."""
    return copy_sources(tmp_path_factory.mktemp("copy"))


@contextlib.contextmanager
def edited(path: Path) -> Iterator[Path]:
    """For an edit that is taken back."""
    text = path.read_text()
    try:
        yield path
    finally:
        path.write_text(text)


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build step writes for this tree."""
    out = tmp_path_factory.mktemp("digests")
    run_script(ROOT, out)
    return out


def sources_of(tree: Path) -> list[Path]:
    return sorted(
        path for folder in FOLDERS for path in (tree / folder).rglob("*") if path.suffix in SOURCES
    )


def move(tree: Path, moves: dict[str, str]) -> None:
    """Move files and folders, and correct every include line that names one of them."""
    names = {}
    for old, new in moves.items():
        moved = [p.relative_to(tree) for p in [tree / old, *(tree / old).rglob("*")] if p.is_file()]
        assert moved, f"{old} is not in the tree"
        names |= {f'"{path}"': f'"{new}{str(path).removeprefix(old)}"' for path in moved}
        (tree / new).parent.mkdir(parents=True, exist_ok=True)
        (tree / old).rename(tree / new)
    for path in sources_of(tree):
        text = path.read_text()
        moved_text = re.sub(
            r'(?<=#include )"[^"]+"', lambda found: names.get(found[0], found[0]), text
        )
        if moved_text != text:
            path.write_text(moved_text)


def change_a_number(path: Path) -> None:
    """Add one to the first integer in code."""
    lines = path.read_text().splitlines(keepends=True)
    for i, line in enumerate(lines):
        code = line.split("//")[0]
        found = re.search(r"(?<![\w.\"'<])\d+(?![\w.\"'])", code)
        if found and not code.startswith("#"):
            changed = str(int(found[0]) + 1)
            lines[i] = line[: found.start()] + changed + line[found.end() :]
            path.write_text("".join(lines))
            return
    raise AssertionError(f"{path} has no number")


def one_of(tree: Path, *patterns: str) -> str:
    """Return the only file that matches one of the patterns."""
    found = [str(p.relative_to(tree)) for pattern in patterns for p in tree.glob(pattern)]
    assert len(found) == 1, f"{patterns}: {found}"
    return found[0]


def of_app(app: str, generated: Path) -> set[str]:
    return {name for name in covered(generated) if name.startswith(app + "/")}


def users_of(path: str, generated: Path) -> set[str]:
    return {name for name, paths in covered(generated).items() if path in paths}


def measured_names(generated: Path, kind: str) -> set[str]:
    return set(digests_in(generated / f"{kind}_digests.inc"))


# A file of the real tree, found by pattern, and whose digests it is to change.
EDITS = {
    "a schedule": (("apps/hotspot/schedule*.cpp",), lambda g: of_app("hotspot", g)),
    "an instance": (("apps/nw/instance.cu",), lambda g: of_app("nw", g)),
    "a reference": (
        ("apps/lud/reference.cpp", "apps/lud/cpu_reference.cpp"),
        lambda g: of_app("lud", g),
    ),
    "a variant": (("apps/nw/tma.cu",), lambda g: {"nw/tma"}),
    "a ceiling": (
        ("microbench/ceilings/memory_bandwidth.cu",),
        lambda g: measured_names(g, "source"),
    ),
    "what ceilings include": (
        ("microbench/ceilings/timing.hpp",),
        lambda g: measured_names(g, "source") | users_of("microbench/ceilings/timing.hpp", g),
    ),
    "a microbenchmark": (("microbench/dpx/functions.cu",), lambda g: {"dpx/functions"}),
    "options of an app": (("apps/gemm/options.cmake",), lambda g: of_app("gemm", g)),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_constant_of_the_real_tree_counts(what: str, shared_copy: Path, generated: Path) -> None:
    patterns, expected = EDITS[what]
    with edited(shared_copy / one_of(shared_copy, *patterns)) as path:
        if path.suffix == ".cmake":
            replace(path, "-Xptxas=-O1", "-Xptxas=-O2")
        else:
            change_a_number(path)
        changed = differing(all_digests(generated), digests(shared_copy))
    # Apps of tests have digests of their own, which all_digests() does not list.
    assert changed == expected(generated) & all_digests(generated).keys()
    assert changed


def test_the_ground_counts_for_those_who_stand_on_it(shared_copy: Path, generated: Path) -> None:
    """Also what is implemented in a .cpp, and nobody else's digest."""
    header, implementation = "variants/device/tensor_map.hpp", "variants/device/tensor_map.cpp"
    users = users_of(header, generated)
    assert {"hotspot/tma", "tensor_core/wgmma_tma"} <= users
    assert "instruction/clock" not in users
    with edited(shared_copy / implementation) as path:
        change_a_number(path)
        changed = differing(all_digests(generated), digests(shared_copy))
    assert changed == users


def test_every_app_covers_its_folder(generated: Path) -> None:
    """Every source of an app is covered by a variant of that app; what registers none, by all."""
    paths_of = covered(generated)
    for app in (ROOT / "apps").iterdir():
        variants = of_app(app.name, generated)
        for path in app.glob("*"):
            name = str(path.relative_to(ROOT))
            if path.suffix in SOURCES and variants:
                by = {variant for variant in variants if name in paths_of[variant]}
                shared = path.suffix in (".cpp", ".cu") and "register_" not in path.read_text()
                assert by == variants if shared else by, f"no digest covers {name}"


def test_every_source_of_microbench_and_variants_is_covered(generated: Path) -> None:
    everything = set().union(*covered(generated).values())
    for folder in ("microbench", "variants", "inputs", "harness"):
        for path in (ROOT / folder).rglob("*"):
            name = str(path.relative_to(ROOT))
            assert path.suffix not in SOURCES or name in everything or not path.read_text(), name


def test_moves_and_renames_do_not_count(copy: Path, generated: Path) -> None:
    schedule = Path(one_of(copy, "apps/hotspot/schedule*.cpp")).with_suffix("")
    moves = {
        f"{schedule}.cpp": "apps/hotspot/planning/passes.cpp",
        f"{schedule}.hpp": "apps/hotspot/planning/passes.hpp",
        "apps/nw/instance.cu": "apps/nw/device_instance.cu",
        "variants/ptx": "variants/instructions",
        "variants/device/tensor_map.cpp": "variants/maps/tensor.cpp",
        "variants/device/tensor_map.hpp": "variants/maps/tensor.hpp",
        "microbench/ceilings": "microbench/limits",
        "inputs/random.hpp": "inputs/generators/random.hpp",
        "harness/text": "harness/words",
    }
    move(copy, moves)
    assert digests(copy) == all_digests(generated)
    assert (copy / "apps/hotspot/planning/passes.cpp").exists()
    assert covered(copy / "out") != covered(generated)


@pytest.mark.skipif(not shutil.which("clang-format"), reason="needs clang-format")
def test_another_style_and_comments_do_not_count(copy: Path, generated: Path) -> None:
    """All sources reformatted in another style, which also splits strings and sorts includes."""
    files = sources_of(copy)
    style = "{BasedOnStyle: LLVM, ColumnLimit: 72, SortUsingDeclarations: false}"
    subprocess.run(["clang-format", "-i", f"--style={style}", *files], check=True, timeout=300)
    for path in files:
        text = path.read_text()
        assert text != (ROOT / path.relative_to(copy)).read_text()
        path.write_bytes(("// a new comment\n" + text).replace("\n", "\r\n").encode())
    assert digests(copy) == all_digests(generated)


# --- the options that a build passes --------------------------------------------------------------

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(amasia CXX)
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
set(AMASIA_CUDA OFF)
include(BuildSettings)
include(digests)
add_library(harness OBJECT EXCLUDE_FROM_ALL source.cpp)
amasia_add_provenance(harness)
"""


@pytest.fixture
def project(tree: Path) -> Path:
    """The small tree with this tree's build settings and build step."""
    scripts = ("digests", "code_options", "source_digests", "source_content", "commit")
    for name in ("BuildSettings", *scripts):
        (tree / "cmake").mkdir(exist_ok=True)
        shutil.copy(ROOT / "cmake" / f"{name}.cmake", tree / "cmake")
    (tree / "CMakeLists.txt").write_text(PROJECT)
    (tree / "source.cpp").write_text("int source;\n")
    return tree


def built(project: Path, *arguments: str) -> dict[str, str]:
    """Configure the project, run the build step and return the digests."""
    build = project / "build"
    options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *arguments]
    for command in (
        ["cmake", "-S", project, "-B", build, *options],
        ["cmake", "--build", build, "--target", "harness_digests"],
    ):
        subprocess.run(command, check=True, timeout=300, capture_output=True)
    return all_digests(build / "generated" / "provenance")


def test_a_build_passes_what_reaches_the_kernels(project: Path) -> None:
    plain = built(project)
    options = project / "build" / "generated" / "provenance" / "code_options.txt"
    assert options.read_text().split()[0] == "-std=c++17"
    assert options.read_text().endswith(" -O3 -DNDEBUG\n")
    assert digests(project, options.read_text().strip()) == plain

    everything = VARIANTS | MICROBENCHMARKS
    for flags in ("-use_fast_math", "-Xptxas -O1", "-DX=1", "-Xcompiler=-ffast-math"):
        assert differing(plain, built(project, f"-DCMAKE_CUDA_FLAGS={flags}")) == everything, flags
    harmless = (
        "-I/a -I /a -isystem=/b -ccbin=g++-12 -Wno-x -Xcompiler=-Wall -Xcompiler -Wextra "
        "--Werror=all-warnings -Xptxas=--warn-on-spills -diag-suppress=177 "
        "-Xcudafe --diag_suppress=1 -gencode arch=compute_80,code=sm_80 -arch=sm_90a "
        "--allow-unsupported-compiler -Xcompiler -fPIC -Xcompiler=-fno-pie"
    )
    assert built(project, f"-DCMAKE_CUDA_FLAGS={harmless}") == plain
    assert built(project, "-DCMAKE_CUDA_FLAGS=-Xcompiler -fPIC") == plain


def test_the_common_options_are_those_of_the_build_settings(project: Path) -> None:
    plain = built(project)
    settings = project / "cmake" / "BuildSettings.cmake"
    text = settings.read_text()
    everything = VARIANTS | MICROBENCHMARKS
    for old, new in (
        ("set(amasia_device_options ", "set(amasia_device_options -fmad=false "),
        ("set(CMAKE_CUDA_STANDARD 17)", "set(CMAKE_CUDA_STANDARD 20)"),
    ):
        assert old in text
        settings.write_text(text.replace(old, new))
        assert differing(plain, built(project)) == everything
    # And these are the ones that nvcc gets. Where nothing is timed line numbers are left out
    # (test_build.py), which are not code.
    assert "  set(device_options ${amasia_device_options})\n" in text
    assert re.search(r"COMPILE_LANGUAGE:CUDA>:[^>]*\$\{device_options\}", text)
