"""The rooms of the C++ sources: includes go downwards only, and in no circle. Every file is
formatted as .clang-format and pyproject.toml say."""

import graphlib
import re
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.process import ROOT, files_of, run

SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh")

# --- Includes -------------------------------------------------------------------------------------

# The rooms of the harness from the ground up: a room includes rooms of lower lines only. no_gpu
# defines what gpu declares, for a build without CUDA.
HARNESS = (
    ("text",),
    ("statistics",),
    ("evidence",),
    ("results",),
    ("conclusions",),
    ("published",),
    ("plan", "report", "user_kernel"),
    ("process",),
    ("gpu",),
    ("no_gpu",),
    ("session",),
    ("implementations",),
    ("cli",),
    ("gbench",),
    ("main",),
)
LEVEL = {f"harness/{name}": level for level, names in enumerate(HARNESS) for name in names}
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


def includes(root: Path) -> list[tuple[str, int, str]]:
    """(file, line, what it includes) between files of the tree. Nothing may include tests/."""
    found = []
    tops = ("variants/", "inputs/", "harness/", "apps/", "microbench/", "examples/")
    for file in (f for f in files_of(root) if f.startswith(tops) and f.endswith(SUFFIXES)):
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if named := re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line):
                beside = Path(file).parent / named[1]
                target = named[1] if (root / named[1]).is_file() else beside.as_posix()
                if (root / target).is_file():
                    found.append((file, number, target))
    return found


def violations(root: Path) -> list[str]:
    """Includes against the direction, and circles of files and of rooms."""
    wrong = []
    files: dict[str, set[str]] = {}
    rooms: dict[str, set[str]] = {}
    for file, number, target in includes(root):
        own, other = room(file), room(target)
        rightly = target.endswith((".hpp", ".cuh")) and other != FRONT_DOOR_SOURCES
        if not rightly or not any(other == r or fnmatch(other, r) for r in may_include(own)):
            wrong.append(f"{file}:{number}: {own} does not include {target}")
        files.setdefault(file, set()).add(target)
        if own != other:
            rooms.setdefault(own, set()).add(other)
    for arrows in (files, rooms):
        try:
            graphlib.TopologicalSorter(arrows).prepare()
        except graphlib.CycleError as error:
            wrong.append(f"a circle: {' <- '.join(error.args[1])}")
    return wrong


def test_includes_go_downwards_only_and_in_no_circle() -> None:
    assert violations(ROOT) == []


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
    done = run(sys.executable, "-m", "ruff", *command, ".", cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
def test_scripts_are_clean_to_shellcheck() -> None:
    scripts = [f for f in files_of(ROOT) if f.endswith(".sh") or re.match("campaign/|.ci/run", f)]
    done = run("shellcheck", "-x", *scripts, cwd=ROOT)
    assert done.returncode == 0, done.stdout


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
