"""The rooms of the sources: includes and imports go downwards only, and in no circle. Every file is
formatted as .clang-format and pyproject.toml say."""

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from plots.tree import PACKAGE
from tests.process import ROOT, files_of, run

SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh")

# --- Includes -------------------------------------------------------------------------------------

# The rooms of the harness from the ground up, those of one level together: a room includes rooms of
# lower levels only. no_gpu defines what gpu declares, for a build without CUDA.
HARNESS = (
    "text", "statistics", "evidence", "results", "conclusions", "published",
    "plan report user_kernel", "process", "gpu", "no_gpu", "session", "implementations", "cli",
    "gbench", "main",
)  # fmt: skip
LEVEL = {f"harness/{name}": level for level, names in enumerate(HARNESS) for name in names.split()}
FRONT_DOOR, FRONT_DOOR_SOURCES = "harness/*.hpp", "harness/*.cpp"
GROUND = ("variants*", "inputs*", FRONT_DOOR)


def room(file: str) -> str:
    """The room a file stands in: an app, a room of the harness, a folder of another top."""
    parts = file.split("/")
    if parts[0] == "harness" and len(parts) == 2:
        return FRONT_DOOR if file.endswith((".hpp", ".cuh")) else FRONT_DOOR_SOURCES
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def may_include(own: str) -> tuple[str, ...]:
    """The rooms whose headers the files of a room may include."""
    lower = [name for name, level in LEVEL.items() if own in LEVEL and level < LEVEL[own]]
    return {
        "variants": ("variants*",),
        "inputs": ("variants*", "inputs*"),
        "harness": (*GROUND, own, *lower) if own in LEVEL else GROUND,
        "apps": (*GROUND, own, "apps/common"),
        "microbench": (*GROUND, "microbench*"),
        "examples": (*GROUND, own),
    }[own.split("/")[0]] + (("harness/text",) if own == FRONT_DOOR_SOURCES else ())


def includes() -> list[tuple[str, int, str]]:
    """(file, line, what it includes) between files of the tree. Nothing may include tests/."""
    found = []
    tops = ("variants/", "inputs/", "harness/", "apps/", "microbench/", "examples/")
    for file in (f for f in files_of(ROOT) if f.startswith(tops) and f.endswith(SUFFIXES)):
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if named := re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line):
                beside = Path(file).parent / named[1]
                target = named[1] if (ROOT / named[1]).is_file() else beside.as_posix()
                if (ROOT / target).is_file():
                    found.append((file, number, target))
    return found


def test_includes_go_downwards_only_and_in_no_circle() -> None:
    wrong = []
    files: dict[str, set[str]] = {}
    rooms: dict[str, set[str]] = {}
    for file, number, target in includes():
        own, other = room(file), room(target)
        rightly = target.endswith((".hpp", ".cuh")) and other != FRONT_DOOR_SOURCES
        if not rightly or not any(other == r or fnmatch(other, r) for r in may_include(own)):
            wrong.append(f"{file}:{number}: {own} does not include {target}")
        files.setdefault(file, set()).add(target)
        if own != other:
            rooms.setdefault(own, set()).add(other)
    assert wrong == []
    for arrows in (files, rooms):
        TopologicalSorter(arrows).prepare()  # raises CycleError, which names the circle


# --- Imports of plots/ ----------------------------------------------------------------------------

# Of each room those that it may import from; modules that lie in no room are for all.
ROOMS = {
    "statistics": set(),
    "data": {"statistics"},
    "judge": {"statistics", "data"},
    "advice": {"statistics", "data", "judge"},
    "papers": {"statistics", "data", "judge"},
    "figures": {"statistics", "data", "judge", "advice", "papers"},
    "report": {"statistics", "data", "judge", "advice", "papers", "figures"},
    "commands": {"statistics", "data", "judge", "advice", "papers", "figures", "report"},
}


def _name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(folder: Path) -> dict[str, set[str]]:
    """module -> the modules of the package that it imports when it runs, anywhere in its code."""
    paths = {_name(path, folder): path for path in folder.rglob("*.py")}

    def of(tree: ast.AST) -> Iterator[str]:
        if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
            return
        if isinstance(tree, ast.Import):
            yield from (alias.name for alias in tree.names)
        elif isinstance(tree, ast.ImportFrom) and tree.module:
            for alias in tree.names:
                inner = f"{tree.module}.{alias.name}"
                yield inner if inner in paths else tree.module
        for node in ast.iter_child_nodes(tree):
            yield from of(node)

    return {
        name: {other for other in of(ast.parse(path.read_text("utf-8"))) if other in paths} - {name}
        for name, path in paths.items()
    }


def test_no_room_imports_from_one_above_it():
    upwards = [
        f"{name} imports {other}"
        for name, others in imports(PACKAGE).items()
        for other in others
        if (room := name.split(".")[1:2]) and room[0] in ROOMS
        if (there := other.split(".")[1:2]) and there[0] in ROOMS
        if there[0] not in ROOMS[room[0]] | {room[0]}
    ]
    assert upwards == []


def test_every_folder_is_a_room():
    assert {path.parent.name for path in PACKAGE.glob("*/*.py")} == ROOMS.keys()


def test_no_modules_import_each_other_in_a_circle():
    assert len(list(TopologicalSorter(imports(PACKAGE)).static_order())) > 50


# --- Formatting -----------------------------------------------------------------------------------


def test_every_cpp_and_cuda_file_is_formatted() -> None:
    beside = Path(sys.executable).parent / "clang-format"
    program = str(beside) if beside.exists() else shutil.which("clang-format")
    assert program and " 14." in run(program, "--version").stdout, "pip install clang-format==14"
    files = [file for file in files_of(ROOT) if file.endswith(SUFFIXES)]
    found = run(program, "--dry-run", "--style=file", *files, cwd=ROOT).stderr
    assert sorted(set(re.findall(r"^(\S+?:\d+):\d+: warning: ", found, re.MULTILINE))) == []
    # It leaves what it cannot break: long words of a comment, long strings.
    long = [
        f"{file}:{number}"
        for file in files
        for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100 and "golden" not in file
    ]
    assert long == []


@pytest.mark.parametrize("command", [("format", "--diff", "--quiet"), ("check",)])
def test_python_is_clean_to_ruff(command: tuple[str, ...]) -> None:
    run(sys.executable, "-m", "ruff", *command, ".", cwd=ROOT, status=0)


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_scripts_are_clean_to_shellcheck() -> None:
    scripts = [f for f in files_of(ROOT) if f.endswith(".sh") or re.match("campaign/|.ci/run", f)]
    run("shellcheck", "-x", *scripts, cwd=ROOT, status=0)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a checkout")
def test_lines_end_as_on_linux_whatever_git_is_set_to() -> None:
    """In a clone of Windows, too. The corpus of the fuzzer and what is no text are exact."""
    listed = run("git", "-c", "safe.directory=*", "ls-files", "--eol", cwd=ROOT).stdout
    for line in listed.splitlines():
        attributes, path = line.split("\t")
        index, _, wanted = attributes.split(maxsplit=2)
        exact = wanted.strip() == "attr/-text"
        assert exact or (wanted.strip() == "attr/text=auto eol=lf" and index != "i/crlf"), line
        assert exact == (index == "i/-text" or path.startswith("tests/fuzz/corpus/")), line
