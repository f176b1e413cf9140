"""The sources are formatted as .clang-format and pyproject.toml say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from structure import ROOT, files_of

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


# --- The tools agree on their versions ------------------------------------------------------------


def test_pre_commit_and_the_tests_use_the_same_tools() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    pinned = dict(re.findall(r"([\w-]+)==([\d.]+)", " ".join(extras["test"])))
    for tool, repository in (("clang-format", "mirrors-clang-format"), ("ruff", "ruff-pre-commit")):
        revision = re.search(rf"/{repository}\n    rev: v([\d.]+)", hooks)
        assert revision and revision[1] == pinned[tool], tool
