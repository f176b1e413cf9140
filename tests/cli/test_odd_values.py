"""Values that nobody means, for every option of the programs that takes a number or a list: each is
taken or refused in one line, in the words of the program and not of the C++ library."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from programs import NO_GPU, Run

ODD = [
    "",
    "-1",
    "0",
    "1e308",
    "nan",
    "99999999999999999999",
    "n=-1",
    "n=9223372036854775807",
    "1/0",
]
# What a file or a folder is called may be anything.
NOT_ODD = ("FILE", "FOLDER")
LIBRARY_WORDS = re.compile(
    r"std::|vector|basic_|terminate|bad_alloc|what\(\)|stoi|stod|length_error|out_of_range|"
    r"json\.exception|Assertion"
)
# What a command cannot do without.
ARGUMENTS = {
    "bench": ["none.toml"],
    "export": ["none.json"],
    "merge": ["none.json"],
    "profile": ["lud"],
    "reproduce": ["none.json"],
    "run": ["lud"],
    "study": ["quick"],
    "tune": ["lud"],
    "verify": ["lud"],
}


def refused_well(stderr: str, status: int) -> bool:
    one_line = status != 2 or len(stderr.strip().splitlines()) == 1
    return status in (0, 2, 3) and one_line and not LIBRARY_WORDS.search(stderr)


def numeric_options(amasia: Run) -> Iterator[tuple[str, str, list[str]]]:
    """(command, option, what makes it run nothing)."""
    for command in re.findall(r"^  ([a-z]+)  +\S", amasia("--help").stdout, re.MULTILINE):
        text = amasia(command, "--help").stdout
        dry_run = ["--dry-run"] if "--dry-run" in text else []
        for option, takes in re.findall(r"^  (--[a-z-]+) ([A-Z][A-Z=/.,]*)", text, re.MULTILINE):
            if takes not in NOT_ODD:
                yield command, option, dry_run


def test_every_option(amasia: Run, tmp_path) -> None:
    options = list(numeric_options(amasia))
    assert {"run", "verify", "study"} <= {command for command, _, _ in options}
    for command, option, dry_run in options:
        for value in ODD:
            arguments = (command, *ARGUMENTS.get(command, []), f"{option}={value}", *dry_run)
            done = amasia(*arguments, cwd=tmp_path, **NO_GPU)
            assert refused_well(done.stderr, done.returncode), (arguments, done.stderr)


@pytest.mark.parametrize(
    "size",
    [
        ("lud", "n=1048576"),
        ("nw", "rows=1000000,cols=1000000"),
        ("hotspot", "rows=1000000,cols=1000000"),
        ("gemm", "m=1000000,n=1000000,k=16"),
    ],
)
def test_a_reference_beyond_the_memory(amasia: Run, size: tuple[str, str]) -> None:
    done = amasia("verify", "--reference", size[0], "--size", size[1], status=2)
    assert re.fullmatch(
        rf"amasia: {size[0]} \S*: out of host memory: \S+ GB are needed for one array, "
        r"\S+ GB are available; choose a smaller --size\n",
        done.stderr,
    )
