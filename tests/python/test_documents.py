"""What comments and documents name exists, and facts that stand in two places agree."""

from __future__ import annotations

import re

import citations
from tree import ROOT, files_of

# --- Names of files and sections ------------------------------------------------------------------


def test_every_file_and_section_that_is_named_exists() -> None:
    assert citations.broken(ROOT, files_of(ROOT)) == []


# --- The index ------------------------------------------------------------------------------------


def test_the_index_names_every_document_and_each_says_what_the_reader_can_do() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    index = pages.pop("README.md")
    for name in [*pages, "../CONTRIBUTING.md", "../CHANGELOG.md"]:
        assert f"]({name})" in index, f"docs/README.md has no link to {name}"
    assert "](docs/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    del pages["reproduction.md"]  # generated
    assert len(pages) <= 15
    for name, text in pages.items():
        assert text.split("\n")[2].startswith("After this page "), name


# --- Strategies -----------------------------------------------------------------------------------


def test_the_table_of_strategies_is_that_of_the_header() -> None:
    header = (ROOT / "variants/strategy.hpp").read_text(encoding="utf-8")
    document = (ROOT / "docs/strategies.md").read_text(encoding="utf-8")
    row = re.compile(r'\{"(\w+)",\s*(\d+),\s*(\d+),\s*\d+,\s*\{([^}]*)\},\s*\{([^}]*)\},')
    rows = row.findall(header)
    assert len(rows) == len(re.findall(r'^ *\{"\w+",$', header, re.MULTILINE)) > 0
    for name, runs_from, _, required, forbidden in rows:
        line = re.search(rf"^\| `{name}` .*$", document, re.MULTILINE)
        assert line, f"docs/strategies.md has no row {name}"
        cells = line[0].split("|")
        for words, cell in ((required, cells[4]), (forbidden, cells[5])):
            wanted = sorted(w for part in re.findall(r'"([^"]+)"', words) for w in part.split("|"))
            assert sorted(re.findall(r"`([^`]+)`", cell)) == wanted, f"{name}: {cell}"
        assert (f"sm_{runs_from} and newer" in cells[6]) == (runs_from != "0"), name
