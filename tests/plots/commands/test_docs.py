"""The pages that are made of results: what is kept is of them, and the rest can be made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from whole_record import whole_record

from plots.cli import main
from plots.commands import docs
from plots.data.strategies import ROOT
from plots.report import readme

PAGES = {"between-runs.md", "occupancy.md", "reproduction.md"}


def test_what_the_repository_keeps_is_of_the_recorded_results(capsys):
    kept = docs._kept_in_the_repository(whole_record(), ROOT, check=True)
    assert kept == 0, capsys.readouterr().out + "stale: python -m plots docs results"


def test_every_page_is_made_of_the_record_and_its_links_lead_somewhere(tmp_path):
    docs._write_all(whole_record(), tmp_path)
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert made == PAGES
    for name in made:
        page = tmp_path / name
        for target in re.findall(r"\]\(([^)#:\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{name}: {target}"


def test_of_microbenchmarks_alone_there_are_pages_too(memory_file, tmp_path):
    assert main(["docs", str(memory_file), "--out", str(tmp_path / "a" / "pages")]) == 0
    assert {path.name for path in (tmp_path / "a" / "pages").iterdir()} >= PAGES


@pytest.fixture
def clone(tmp_path, monkeypatch) -> Path:
    """A clone that keeps nothing yet."""
    text = f"# Title\n\n{readme.BEGIN}\n{readme.END}\n"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    return tmp_path


def test_check_names_what_differs_and_writes_nothing(clone, paper_file, capsys):
    command = ["docs", str(paper_file)]
    before = sorted(clone.rglob("*"))
    assert main([*command, "--check"]) == 1
    said = capsys.readouterr()
    assert "overview.png: missing" in said.out and "+# What of the source" in said.out
    assert said.err.endswith("Pages differ from the results; run: python -m plots docs\n")
    assert sorted(clone.rglob("*")) == before
    assert main(command) == 0 and main([*command, "--check"]) == 0
    page = clone / "docs" / "reproduction.md"
    page.write_text(page.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    capsys.readouterr()
    assert main([*command, "--check"]) == 1 and "-more" in capsys.readouterr().out


def test_outside_a_clone_a_folder_is_needed(paper_file, monkeypatch, capsys):
    monkeypatch.setattr(docs, "IN_A_CLONE", False)
    assert main(["docs", str(paper_file)]) == 2
    assert "name a folder with --out FOLDER" in capsys.readouterr().err
