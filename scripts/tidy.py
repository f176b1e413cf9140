#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) over host code, and prints what it finds as file:line:column.

    scripts/tidy.py              on the C++ files that differ from the last commit
    scripts/tidy.py --all        on the host code: what the preset cpu compiles, but for the tests
    scripts/tidy.py FILE...      on these; a header stands for the source of its name

Nothing is compiled for it. The clang-tidy that pyproject.toml pins is installed beside this Python
on the first run.

Exit status: 0 nothing found, 1 something found, 2 it could not be run.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class CannotRun(Exception):
    """What is missing, in one line."""


def output(*command: str | Path) -> str:
    """What a command of the tree prints; CannotRun when it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        raise CannotRun(f"{command[0]} {command[1]}: {lines[-1]}")
    return done.stdout


def clang_tidy() -> Path:
    """The pinned clang-tidy beside this Python, installed if need be."""
    tool = Path(sys.executable).parent / "clang-tidy"
    if not tool.exists():
        with (ROOT / "pyproject.toml").open("rb") as file:
            wanted = tomllib.load(file)["project"]["optional-dependencies"]["tidy"]
        print(f"tidy: installing {', '.join(wanted)}", file=sys.stderr)
        output(sys.executable, "-m", "pip", "install", "--quiet", *wanted)
    return tool


def configured(rooms: bool) -> Path:
    """An up-to-date build folder of its own, with the headers that a build writes.

    With `rooms` the sources of a room are one unit, and what they all include is read once.
    """
    build = ROOT / ("build/tidy" if rooms else "build/tidy-files")
    unity = [] if rooms else ["-DCMAKE_UNITY_BUILD=OFF"]
    output("cmake", "--preset", "cpu", "-B", build, "-DAMASIA_TESTS=OFF", *unity)
    targets = output("ninja", "-C", build, "-t", "targets", "all")
    output("ninja", "-C", build, *re.findall(r"(?m)^([^/\s]\S*\.inc): CUSTOM", targets))
    return build


def compiled_sources(build: Path) -> list[str]:
    """What the build compiles, relative to the tree: sources, and rooms in one unit."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return sorted(Path(entry["file"]).relative_to(ROOT).as_posix() for entry in commands)


def changed() -> list[str]:
    """C++ files that differ from the last commit, new ones too."""
    listed = output("git", "diff", "--name-only", "--diff-filter=d", "HEAD")
    listed += output("git", "ls-files", "--others", "--exclude-standard")
    return [file for file in listed.splitlines() if file.endswith((".cpp", ".hpp"))]


def to_check(named: list[str], compiled: list[str]) -> list[str]:
    """The sources among `named`, and for a header the source of its name."""
    sources = {re.sub(r"\.hpp$", ".cpp", file) for file in named}
    return sorted(sources & set(compiled))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--all", action="store_true", help="all host code but the tests")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    named = [Path(file).resolve().relative_to(ROOT).as_posix() for file in options.files]
    named = named or ([] if options.all else changed())
    if not named and not options.all:
        return 0
    tool = clang_tidy()
    build = configured(rooms=options.all)
    compiled = compiled_sources(build)
    files = compiled if options.all else to_check(named, compiled)

    # The wheel has no headers of its own compiler; those of g++ serve.
    headers = output("g++", "-print-file-name=include").strip()
    command = [tool, "--quiet", f"--extra-arg=-isystem{headers}", "-p", build]
    # g++ has warnings and parameters of its own.
    command += ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Qunused-arguments"]
    if options.all:
        # A room includes its sources, which then see each other's aliases. (g++ warns of shadows.)
        command += ["--checks=-bugprone-suspicious-include", "--extra-arg=-Wno-shadow"]

    def check(file: str) -> tuple[str, int, str]:
        done = subprocess.run(
            [*command, file], cwd=ROOT, capture_output=True, text=True, check=False
        )
        said = done.stdout if done.stdout.strip() or not done.returncode else done.stderr
        return file, done.returncode, said.replace(f"{ROOT}/", "")

    found: set[str] = set()  # a header is met by many sources
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(check, file) for file in files]
        for number, done in enumerate(concurrent.futures.as_completed(running), 1):
            file, status, said = done.result()
            bad += bool(status)
            print(f"tidy: {number}/{len(files)} {file}", file=sys.stderr)
            for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:warning|error))", said):
                if finding.strip() and finding not in found:
                    found.add(finding)
                    print(finding.rstrip())
    print(f"tidy: {len(files)} files, {bad} with findings", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotRun, ValueError) as error:
        print(f"tidy: {error}", file=sys.stderr)
        sys.exit(2)
