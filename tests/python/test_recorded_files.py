"""results/README.md names every recorded file, and what it counts in them is there."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from fnmatch import fnmatch
from typing import Any

import pytest
from structure import ROOT

TEXT = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
FOLDERS = sorted(path for path in (ROOT / "results").iterdir() if path.is_dir())


def section(folder: str) -> str:
    return TEXT.split(f"## {folder}\n")[1].split("\n## ")[0]


def patterns(folder: str) -> set[str]:
    """Of the first column of the table of files."""
    table = section(folder).split("| file | what | remark |\n")[1].split("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()[1:]]
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    return {re.sub(r"<\w+>", "*", name).removesuffix(".json") + ".json" for name in names}


@pytest.mark.parametrize("folder", [path.name for path in FOLDERS])
def test_every_file_is_in_the_table_and_every_name_of_it_is_a_file(folder: str) -> None:
    files = {path.name for path in (ROOT / "results" / folder).glob("*.json")}
    known = patterns(folder)
    assert {f for f in files if not any(fnmatch(f, name) for name in known)} == set()
    assert {name for name in known if not any(fnmatch(f, name) for f in files)} == set()


def document(folder: str, name: str) -> dict[str, Any]:
    path = ROOT / "results" / folder / name
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_the_sessions_of_quick_are_those_of_the_file() -> None:
    file = document("h200", "quick.json")
    sessions = defaultdict(set)
    for group in file["groups"]:
        for row in group["rows"]:
            sessions[row["variant"]].add(group["session"])
    all_ = set().union(*sessions.values())
    gpus = {file["provenance"]["sessions"][number]["uuid_hash"] for number in all_}
    of = {name: len(found) for name, found in sessions.items()}
    assert (
        f"{len(all_)} sessions on {len(gpus)} GPUs: nw in {of['nw/baseline']}; histogram in "
        f"{of['histogram/baseline']}, of which CUB, whose code is older, is in "
        f"{of['histogram/cub']}."
    ) in section("h200")


def test_the_points_of_microbenchmarks_are_counted() -> None:
    folder = "h100-80gb-hbm3"
    (line,) = (line for line in section(folder).splitlines() if "`paper` forms" in line)
    names = re.findall(r"`(\w+)`", line.split(" | ")[0])
    rows = {
        name: [
            row for m in document(folder, f"{name}.json")["microbenchmarks"] for row in m["rows"]
        ]
        for name in names
    }
    skipped = {name: sum(r["status"] == "skipped" for r in of) for name, of in rows.items()}
    values = sum(row["status"] == "ok" for of in rows.values() for row in of)
    assert f"{values:,} values" in line
    assert f"{sum(skipped.values())} points were skipped" in line
    assert f"{skipped['dsm']} of them of `dsm`" in line
