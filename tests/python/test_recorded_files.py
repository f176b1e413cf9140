"""results/README.md names every recorded file, and what it counts in them is there."""

import gzip
import hashlib
import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from plots.data.documents import ASIDE, read_document
from tests.process import ROOT

RECORDS = sorted(path.parent for path in (ROOT / "results").glob("*/SHA256SUMS"))
FOLDERS = sorted(
    path.relative_to(ROOT / "results").as_posix()
    for of in (ROOT / "results", *RECORDS)
    for path in of.iterdir()
    if path.is_dir() and path not in RECORDS and path.name not in ASIDE
)


def section(folder: str) -> str:
    """What the README beside the folder says of it."""
    path = ROOT / "results" / folder
    text = (path.parent / "README.md").read_text(encoding="utf-8")
    return text.split(f"## {path.name}\n")[1].split("\n## ")[0]


def patterns(folder: str) -> set[str]:
    """Of the first column of the table of files."""
    table = section(folder).split("| file | what | remark |\n")[1].split("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines()[1:]]
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    return {re.sub(r"<\w+>", "*", name).removesuffix(".gz").removesuffix(".json") for name in names}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_is_in_the_table_and_every_name_of_it_is_a_file(folder: str) -> None:
    files = {path.name.split(".")[0] for path in (ROOT / "results" / folder).glob("*.json*")}
    known = patterns(folder)
    assert {f for f in files if not any(fnmatch(f, name) for name in known)} == set()
    assert {name for name in known if not any(fnmatch(f, name) for f in files)} == set()


@pytest.mark.parametrize("study", ["quick", "paper"])
def test_every_app_was_measured_on_three_gpus_as_the_table_says(study: str) -> None:
    assert f"| the study `{study}` | on three GPUs" in section("h200")
    for path in (ROOT / "results" / "h200").glob(f"{study}-*.json.gz"):
        assert len({s.uuid_hash for s in read_document(path).provenance.sessions}) == 3, path


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name)
def test_a_frozen_record_is_as_it_was_frozen(record: Path) -> None:
    listed = (record / "SHA256SUMS").read_text(encoding="utf-8")
    files = sorted(record.glob("*/*"))
    assert files and all(path.name.endswith(".json.gz") for path in files)
    assert listed == "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(record)}\n"
        for path in files
    )


def test_the_table_of_commits_is_that_of_the_files() -> None:
    table = section("h200").split("| commit | files, or sessions in them |\n")[1].split("\n\n")[0]
    rows = re.findall(r"\| (\w+) \| (.*) \|", table)
    named = {commit: set(re.findall(r"`([^`]+)`", cell)) for commit, cell in rows}
    found: dict[str, set[str]] = {}
    for path in (ROOT / "results" / "h200").glob("*.json.gz"):
        provenance = json.loads(gzip.decompress(path.read_bytes()))["provenance"]
        for of in provenance.get("sessions") or [provenance]:
            found.setdefault(of["commit"][:8], set()).add(path.name.split(".")[0])
    assert {commit[:7] for commit in named} == {commit[:7] for commit in found}
    for commit, names in named.items():
        files = {f for c, of in found.items() if c[:7] == commit[:7] for f in of}
        assert {f for f in files if not any(fnmatch(f, n) for n in names)} == set()
        assert {n for n in names if not any(fnmatch(f, n) for f in files)} == set()
