"""docs/results.md: its example runs, and what it names exists."""

from __future__ import annotations

import json
import re

from plots.cli import COMMANDS, FIGURES
from plots.load import SCHEMA_PATH
from plots.strategies import ROOT

TEXT = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_example_runs(paper_file, tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.json").write_bytes(paper_file.read_bytes())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/results.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "hotspot/tma" in printed and "floor_fraction" in printed and "not resolved" in printed


def test_every_member_of_a_row_is_explained():
    row = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))["$defs"]["row"]["properties"]
    table = TEXT.split("## A row")[1].split("## A comparison")[0]
    explained = set(
        re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    )
    assert explained == set(row)


def test_every_command_and_figure_is_named():
    for command in COMMANDS:
        assert f"python -m plots {command}" in TEXT
    for figure in FIGURES:
        assert f"`{figure}`" in TEXT
