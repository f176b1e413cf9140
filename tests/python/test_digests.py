"""Published results were made by the code that is here: digests in results/ equal the program's.
And `best` ran what the tuner found at that size.

AMASIA_BUILD names the build folder (default build/ci). Its amasia_digests (cmake/digests/) computes
digests. It is run on a small tree, whose digests must never change by themselves, and on copies of
this tree.
"""

import collections
import json
import re
import shutil
from pathlib import Path

import pytest

from plots.data.documents import text_of
from tests.process import BUILD, ROOT, built, run

GENERATED = BUILD / "generated" / "provenance"
# Those of an earlier version, in results/<version>/<gpu>/, bind no code (plots/folders.py).
RESULTS = sorted((ROOT / "results").glob("*/*.json.gz"))
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/CMakeLists.txt"))


def digests_in(path: Path) -> dict[str, str]:
    """Of one file that the build step wrote."""
    return dict(re.findall(r'\{"([^"]+)", "([0-9a-f]{64})"\},\n', path.read_text()))


def digests_of_kinds(generated: Path) -> dict[str, str]:
    """Of variants and of microbenchmarks."""
    kinds = (digests_in(generated / f"{of}_digests.inc") for of in ("source", "microbenchmark"))
    return {name: digest for of in kinds for name, digest in of.items()}


# --- Recorded results -----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def present() -> dict[str, str]:
    """Digests of variants and of microbenchmarks."""
    return digests_of_kinds(built("generated/provenance"))


def measured(file: dict) -> dict[str, str]:
    """What a result file says of the code that it measured."""
    rows = [row for group in file.get("groups", []) for row in group["rows"]]
    found = {row["variant"]: row["source_digest"] for row in rows}
    return found | {b["name"]: b["source_digest"] for b in file.get("microbenchmarks", [])}


def stale(recorded: dict[str, str], present: dict[str, str]) -> list[str]:
    return sorted(name for name, digest in recorded.items() if present.get(name) != digest)


def not_winners(file: dict, tuning: dict) -> list[str]:
    """The rows of role best whose config did not win. Winners are the tuner's, with the code that
    the row ran, and what it did not distinguish from them. They are of the row's own size, or of
    the nearest one that was tuned, where the row says so.
    """
    winners = {
        (entry["variant"], config, entry["source_digest"], tuple(entry["size"].items()))
        for entry in tuning["entries"]
        for config in (entry["config"], *entry.get("equal", []))
    }

    def label(size: tuple[tuple[str, object], ...]) -> str:
        return ",".join(f"{name}={value}" for name, value in size if value != "")

    def is_winner(row: dict, size: dict) -> bool:
        return any(
            all(str(size.get(name)) == str(value) for name, value in tuned)
            or row.get("config_source") == f"tuned at the nearest size {label(tuned)}"
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
def test_results_were_made_by_this_code(path: Path, present: dict[str, str]) -> None:
    file = json.loads(text_of(path))
    assert not (old := stale(measured(file), present)), (
        f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}: measure again"
    )
    if "groups" in file:
        assert not_winners(file, json.loads((path.parent / "tuning.json").read_text())) == []


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_results_of_an_example_were_made_by_its_code(folder: Path, tmp_path: Path) -> None:
    out, options = tmp_path / "digests.cpp", (GENERATED / "code_options.txt").read_text().strip()
    sources = [*folder.glob("*.cu"), *folder.glob("*.cpp")]
    where = (folder.name, ROOT, GENERATED, folder)
    run(BUILD / "amasia_digests", "app", *where, options, out, *sources, status=0)
    present = digests_in(out)
    assert f"{folder.name}/baseline" in present and f"{folder.name}/tma" in present
    results = sorted((ROOT / "results" / "examples" / folder.name).glob("*.json.gz"))
    assert results
    for path in results:
        old = stale(measured(json.loads(text_of(path))), present)
        assert not old, f"{path.relative_to(ROOT)} was measured with other code of {', '.join(old)}"


def test_a_stale_result_and_a_config_that_did_not_win_are_found() -> None:
    row = {"variant": "a/tma", "role": "best", "status": "ok", "config": "x", "source_digest": "1"}
    file = {"groups": [{"key": {"app": "a", "size": {"n": "8", "input": "random"}}, "rows": [row]}]}
    assert stale(measured(file), {"a/tma": "1", "a/dsm": "5"}) == []
    assert stale(measured(file), {"a/tma": "2"}) == stale(measured(file), {}) == ["a/tma"]
    entry = {"variant": "a/tma", "config": "x", "source_digest": "1", "size": {"n": "8"}}
    assert not_winners(file, {"entries": [entry]}) == []
    assert not_winners(file, {"entries": [entry | {"config": "w", "equal": ["v", "x"]}]}) == []
    for other in (
        {"config": "y"},
        {"config": "w", "equal": ["v"]},
        {"size": {"n": "9"}},
        {"source_digest": "2"},
    ):
        assert len(not_winners(file, {"entries": [entry | other]})) == 1
    elsewhere = {"entries": [entry | {"size": {"n": "9", "input": "random", "file": ""}}]}
    for nearest, found in (("n=9,input=random", 0), ("n=10,input=random", 1)):
        row["config_source"] = f"tuned at the nearest size {nearest}"
        assert len(not_winners(file, elsewhere)) == found


# --- What a digest covers, on a small tree --------------------------------------------------------

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
    "apps/nw/dsm.cu": '#include "variants/raw.hpp"\n#include "variants/delimited.hpp"\n'
    "const bool registered = register_variant();\n",
    "variants/raw.hpp": 'auto a = R"(// "; [text\n#include  "x")";  // 1\nint after;\n',
    "variants/delimited.hpp": 'auto a = R"x(// ")" text)x";  // 1\n',
    "apps/nw/instance.cu": '#include "inputs/random.hpp"\nint instance;\n',
    "apps/nw/schedule.cpp": "int schedule = 2;\n",
    "apps/nw/kernel.cuh": '#include "geometry.hpp"\nint kernel;\n',
    "apps/nw/geometry.hpp": "#pragma once\nint geometry;\n",
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
    "microbench/tma/latency.cu": '#include "operands.hpp"\nbool b = register_microbenchmark();\n',
    "microbench/tma/issue.cu": "bool issue = register_microbenchmark();\n",
    "microbench/tma/operands.hpp": "int operands();\n",
    "microbench/tma/operands.cpp": "int operands() { return 3; }\n",
    "microbench/tma/instances.cu": "template int f<3>();\n",
}

NW = {"nw/tma", "nw/dsm"}
VARIANTS = NW | {"lud/cublas"}
MICROBENCHMARKS = {"tma/latency", "tma/issue"}
EVERYTHING = VARIANTS | MICROBENCHMARKS


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in SMALL_TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def all_digests(generated: Path) -> dict[str, str]:
    """Those that the build step wrote, that of the harness by this name."""
    harness = (generated / "harness_digest.inc").read_text().strip().strip('"')
    return {**digests_of_kinds(generated), "harness": harness}


def digests(tree: Path, options: str = OPTIONS, out: Path | None = None) -> dict[str, str]:
    """What the build step makes of a tree."""
    out = out or tree / "out"
    out.mkdir(exist_ok=True)
    run(BUILD / "amasia_digests", "suite", tree, options, out, status=0)
    return all_digests(out)


def covered(generated: Path) -> dict[str, set[str]]:
    """The paths that each digest covers."""
    paths: dict[str, set[str]] = collections.defaultdict(set)
    for line in (generated / "source_manifest.txt").read_text().splitlines():
        name, _, path = line.split(" ", 2)
        paths[name].add(path)
    return paths


def differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    assert before.keys() == after.keys()
    return {key for key in before if before[key] != after[key]}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# As recorded results have them: a tool that gives others makes every recorded result stale.
GOLDEN = {
    "lud/cublas": "8c822838833bd9d2c6aa8e51970b180409458ed05581364a05b7a79b42fbc673",
    "nw/dsm": "ebc39f975386ced1d9bae4b819354ba507d2888fa4f1d65b23ab249a12c0edc4",
    "nw/tma": "23207ee8d96d6a187438fb9e5c61b4ae441da1706347b4078b880fbf2a2badab",
    "tma/issue": "b3f012aacf79172f377db968ada5813533f3260ce6cac9d21f00b20f7175ff99",
    "tma/latency": "afbc1a9aca658b590f3aeca8f48cf78ddddaabb9fa11f210703dee9e339c57db",
    "harness": "2cc62eed0ce61c2196ffb67af6c55da9e179ef651009027ed11ea02bdcd63782",
}


def test_the_digests_of_a_tree_stay_what_they_are(tree: Path) -> None:
    assert digests(tree) == GOLDEN
    assert set(GOLDEN) == EVERYTHING | {"harness"}


TMA = "apps/nw/tma.cu"


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        # Every token counts ...
        (TMA, "4 / 2", "5 / 2", {"nw/tma"}),
        (TMA, "a//b", "a//c", {"nw/tma"}),
        (TMA, "no comment */", "any comment */", {"nw/tma"}),
        (TMA, "no comment */", "no  comment */", {"nw/tma"}),
        (TMA, "1'000'000", "2'000'000", {"nw/tma"}),
        (TMA, "+ ++p[1]", "++ +p[1]", {"nw/tma"}),
        (TMA, "+ ++p[1]", "+ + +p[1]", {"nw/tma"}),
        (TMA, "SQUARE(x)", "SQUARE (x)", {"nw/tma"}),
        (TMA, "#define FEW\n", "#define FEW ", {"nw/tma"}),
        (TMA, '"[two"', '"{two"', {"nw/tma"}),
        (TMA, "'\"'", "'\\''", {"nw/tma"}),
        (TMA, "int* p", "int*p2", {"nw/tma"}),
        ("variants/raw.hpp", "; [text", "; [other", {"nw/dsm"}),
        ("variants/raw.hpp", "#include  ", "#include ", {"nw/dsm"}),
        ("variants/raw.hpp", "// 1", "/* 2 */", set()),
        # ... with a delimiter in a raw string the whole file as it is.
        ("variants/delimited.hpp", "text", "other", {"nw/dsm"}),
        ("variants/delimited.hpp", "// 1", "// 2", {"nw/dsm"}),
        # Whatever is included or shared counts.
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
        # Form and unrelated files do not.
        (TMA, "a comment with", 'a longer comment with another " and', set()),
        (TMA, "// digits apart", "/* digits */ // 'apart", set()),
        (TMA, "// and after it a comment", "", set()),
        (TMA, "a longer\n   comment", "no\n\n   longer ** one **", set()),
        (TMA, "{ p[0] = 4 / 2", "{\n  p [ 0 ]=4/2", set()),
        (TMA, "+ ++p[1]", "+\n  ++ p[1]", set()),
        (TMA, '"one; " "[two"', '"one; [two"', set()),
        (TMA, "<int>> deep", "<int> > deep", set()),
        (TMA, "((x) * \\\n                   (x))", "( ( x ) * ( x ) )  // why", set()),
        (TMA, "#define FEW", "  #  define  FEW // why", set()),
        (TMA, "#include <cuda.h>", "#include <cuda_runtime.h>", set()),
        ("apps/nw/geometry.hpp", "#pragma once", "#pragma  once  // and again", set()),
        ("apps/nw/geometry.hpp", "#pragma once", "", set()),
        ("apps/nw/kernel.cuh", '"geometry.hpp"', '"apps/nw/geometry.hpp"', set()),
        ("apps/nw/kernel.cuh", "int kernel;\n", "\tint  kernel; // one\r\n", set()),
        ("apps/lud/options.cmake", "# why", "# why not", set()),
        ("apps/lud/options.cmake", "(x -X", "(\n  x -X", set()),
        ("variants/other.hpp", "int other", "long other", set()),
    ],
)
def test_what_counts(tree: Path, name: str, old: str, new: str, changed: set[str]) -> None:
    replace(tree / name, old, new)
    assert differing(GOLDEN, digests(tree)) == changed


def test_files_of_equal_content_are_one_and_options_count(tree: Path) -> None:
    assert differing(GOLDEN, digests(tree, OPTIONS + " -use_fast_math")) == EVERYTHING
    (tree / "apps/nw/copy_of_schedule.cpp").write_text("int schedule = 2; // the same\n")
    (tree / "apps/nw/only_includes.cpp").write_text('#include "apps/nw/kernel.cuh"\n')
    assert differing(GOLDEN, digests(tree)) == {"nw/dsm"}, "which did not cover kernel.cuh before"
    (tree / "apps/nw/only_includes.cpp").unlink()
    assert digests(tree) == GOLDEN


# --- What a digest covers, on a copy of this tree -------------------------------------------------

FOLDERS = ("apps", "harness", "inputs", "microbench", "variants")
SOURCES = (".cpp", ".cu", ".cuh", ".hpp")


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build step writes for this tree."""
    out = tmp_path_factory.mktemp("digests")
    digests(ROOT, out=out)
    return out


def sources_of(tree: Path) -> list[Path]:
    paths = (path for folder in FOLDERS for path in (tree / folder).rglob("*"))
    return sorted(path for path in paths if path.suffix in SOURCES)


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
        text = re.sub(r'(?<=#include )"[^"]+"', lambda f: names.get(f[0], f[0]), path.read_text())
        path.write_text(text)


def test_every_source_is_covered_by_those_that_it_can_change(generated: Path) -> None:
    paths_of = covered(generated)
    registered = {
        f"{path.parent.name}/{path.stem}"
        for path in (ROOT / "apps").glob("*/*.cu")
        if re.search("register_(variant|comparator)", path.read_text())
    }
    assert registered and registered <= paths_of.keys()
    everything = set().union(*paths_of.values())
    for path in sources_of(ROOT):
        name = str(path.relative_to(ROOT))
        assert name in everything or not path.read_text(), name
    for app in (ROOT / "apps").iterdir():
        variants = {name for name in paths_of if name.startswith(f"{app.name}/")}
        for path in app.glob("*.c*") if variants else ():
            if path.suffix in (".cpp", ".cu") and "register_" not in path.read_text():
                name = str(path.relative_to(ROOT))
                assert variants == {v for v in variants if name in paths_of[v]}, name
    ground = "variants/device/tensor_map.cpp"
    assert all(ground in paths_of[name] for name in ("hotspot/tma", "tensor_core/wgmma_tma"))
    assert ground not in paths_of["instruction/clock"]


def test_moves_and_renames_do_not_count(tmp_path: Path, generated: Path) -> None:
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    moves = {
        "apps/nw/instance.cu": "apps/nw/device_instance.cu",
        "variants/ptx": "variants/instructions",
        "variants/device/tensor_map.cpp": "variants/maps/tensor.cpp",
        "variants/device/tensor_map.hpp": "variants/maps/tensor.hpp",
        "microbench/ceilings": "microbench/limits",
        "inputs/random.hpp": "inputs/generators/random.hpp",
        "harness/text": "harness/words",
    }
    move(tmp_path, moves)
    assert digests(tmp_path) == all_digests(generated)
    assert covered(tmp_path / "out") != covered(generated)


# --- The options that a build passes --------------------------------------------------------------

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(amasia CXX)
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
set(AMASIA_CUDA OFF)
include(BuildSettings)
include(Dependencies)
include(digests)
add_library(harness OBJECT EXCLUDE_FROM_ALL source.cpp)
amasia_add_provenance(harness)
"""
HARMLESS = (
    "-I/a -I /a -isystem=/b -ccbin=g++-12 -Wno-x -Xcompiler=-Wall -Xcompiler -Wextra "
    "--Werror=all-warnings -Xptxas=--warn-on-spills -diag-suppress=177 "
    "-Xcudafe --diag_suppress=1 -gencode arch=compute_80,code=sm_80 -arch=sm_90a "
    "--allow-unsupported-compiler -Xcompiler -fPIC -Xcompiler=-fno-pie"
)


@pytest.mark.parametrize("flag", ["-use_fast_math", "-Xptxas -O1", "-DX=1", "-Xcompiler=-fast"])
def test_options_that_count_are_told_from_others(flag: str, tmp_path: Path) -> None:
    script = tmp_path / "script.cmake"
    script.write_text(
        f"include({ROOT}/cmake/code_options.cmake)\nset(CMAKE_CUDA_STANDARD 17)\n"
        f'set(CMAKE_CUDA_FLAGS "{HARMLESS} {flag} {HARMLESS}")\n'
        "amasia_code_options(options)\nfile(WRITE answer ${options})\n"
    )
    run("cmake", "-P", script, cwd=tmp_path, status=0)
    assert (tmp_path / "answer").read_text() == f"-std=c++17 {flag}"


def test_a_build_passes_what_reaches_the_kernels(tree: Path) -> None:
    """The small tree, with this tree's build settings and build step."""
    shutil.copytree(ROOT / "cmake", tree / "cmake")
    (tree / "CMakeLists.txt").write_text(PROJECT)
    (tree / "source.cpp").write_text("int source;\n")
    build = tree / "build"
    generated = build / "generated" / "provenance"

    def built(flags: str = "") -> dict[str, str]:
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CUDA_FLAGS={flags}"]
        run("cmake", "-S", tree, "-B", build, *options, status=0)
        run("cmake", "--build", build, "--target", "harness_digests", status=0)
        return all_digests(generated)

    plain = built()
    options = (generated / "code_options.txt").read_text()
    assert options.startswith("-std=c++17 ") and options.endswith(" -O3 -DNDEBUG\n")
    assert digests(tree, options.strip()) == plain
    assert differing(plain, built("-use_fast_math")) == EVERYTHING
    assert built(HARMLESS) == plain

    # The common options are those of the build settings, and nvcc gets these.
    settings = tree / "cmake" / "BuildSettings.cmake"
    text = settings.read_text()
    for old, new in (
        ("set(amasia_device_options ", "set(amasia_device_options -fmad=false "),
        ("set(CMAKE_CUDA_STANDARD 17)", "set(CMAKE_CUDA_STANDARD 20)"),
    ):
        assert old in text
        settings.write_text(text.replace(old, new))
        assert differing(plain, built()) == EVERYTHING
    assert "  set(device_options ${amasia_device_options})\n" in text
    assert re.search(r"COMPILE_LANGUAGE:CUDA>:[^>]*\$\{device_options\}", text)
