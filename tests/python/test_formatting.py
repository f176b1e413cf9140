"""The sources are formatted as .clang-format and pyproject.toml say; clang-tidy's file is sound."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from citations import files_of
from structure import ROOT

COLUMNS = 100
CPP = (".hpp", ".cpp", ".cu", ".cuh")


def clang_format() -> str:
    """The clang-format that pyproject.toml pins, else one of its release on PATH."""
    beside = Path(sys.executable).parent / "clang-format"
    found = str(beside) if beside.exists() else shutil.which("clang-format")
    assert found, "no clang-format: pip install clang-format==14.0.6"
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    assert " 14." in version.stdout, f"clang-format 14 is needed, not: {version.stdout.strip()}"
    return found


def unformatted(files: list[Path]) -> list[str]:
    """The first line of each file that clang-format would change, as file:line."""
    command = [clang_format(), "--dry-run", "--style=file", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, str] = {}
    for file, line in re.findall(r"^(\S+?):(\d+):\d+: warning: ", done.stderr, re.MULTILINE):
        found.setdefault(file, f"{file.removeprefix(f'{ROOT}/')}:{line}")
    return sorted(found.values())


def cpp_files() -> list[Path]:
    return [ROOT / file for file in files_of(ROOT) if file.endswith(CPP)]


def test_every_cpp_and_cuda_file_is_formatted() -> None:
    assert unformatted(cpp_files()) == []


def test_an_unformatted_file_is_named_with_its_line(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".clang-format", tmp_path)
    good, bad = tmp_path / "good.cuh", tmp_path / "bad.cu"
    good.write_text("int a;\nint b;\n", encoding="utf-8")
    bad.write_text("int a;\n\nint  b;\nint  c;\n", encoding="utf-8")
    assert unformatted([good, bad]) == [f"{bad}:3"]


def test_no_line_is_longer_than_a_window() -> None:
    """clang-format leaves what it cannot break: long words of a comment, long strings."""
    long = []
    for path in cpp_files():
        if "golden" in path.parts:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > COLUMNS:
                long.append(f"{path.relative_to(ROOT)}:{number}: {len(line)} columns")
    assert long == []


def test_python_is_formatted() -> None:
    command = [sys.executable, "-m", "ruff", "format", "--diff", "--quiet", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# --- clang-tidy -----------------------------------------------------------------------------------


def clang_tidy() -> str:
    beside = Path(sys.executable).parent / "clang-tidy"
    found = str(beside) if beside.exists() else shutil.which("clang-tidy")
    if not found:
        pytest.skip("needs clang-tidy")
    return found


def test_clang_tidy_finds_what_its_file_asks_for(tmp_path: Path) -> None:
    source = tmp_path / "harness/text/a.cpp"
    source.parent.mkdir(parents=True)
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    source.write_text(
        '#include "harness/text/a.hpp"\nint f(int a) { return sizeof(sizeof(a)); }\n',
        encoding="utf-8",
    )
    source.with_suffix(".hpp").write_text("#pragma once\ninline int *p = 0;\n", encoding="utf-8")
    compile_commands = [
        {"directory": str(tmp_path), "file": str(source), "command": f"g++ -I. -c {source}"}
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(compile_commands), encoding="utf-8")
    command = [clang_tidy(), "--quiet", "-p", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"a\.cpp:2:\d+: error: .*bugprone-sizeof-expression", done.stdout), done.stdout
    assert re.search(r"a\.hpp:2:\d+: error: .*modernize-use-nullptr", done.stdout), done.stdout


def test_a_header_stands_for_the_source_of_its_name() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    import tidy

    compiled = ["harness/a.cpp", "harness/b.cpp"]
    named = ["harness/a.hpp", "harness/b.cpp", "harness/header_only.hpp", "apps/x/y.cu"]
    assert tidy.to_check(named, compiled) == compiled


# --- The tools agree on their versions ------------------------------------------------------------


def test_pre_commit_and_the_tests_use_the_same_tools() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    pinned = dict(re.findall(r"([\w-]+)==([\d.]+)", " ".join(extras["test"] + extras["tidy"])))
    for tool, repository in (("clang-format", "mirrors-clang-format"), ("ruff", "ruff-pre-commit")):
        revision = re.search(rf"/{repository}\n    rev: v([\d.]+)", hooks)
        assert revision and revision[1] == pinned[tool], tool
    assert f"clang-tidy=={pinned['clang-tidy']}" in hooks


@pytest.mark.parametrize("workflow", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_workflows_call_the_two_commands(workflow: str) -> None:
    lines = (ROOT / workflow).read_text(encoding="utf-8").splitlines()
    commands = {re.sub(r"^ *- (run: )?", "", line) for line in lines}
    for command in ("./run.sh", "./test.sh", ".venv/bin/python scripts/tidy.py --all"):
        assert command in commands, f"{workflow} does not run {command}"
