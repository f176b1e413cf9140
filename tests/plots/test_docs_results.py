"""docs/results.md: its example runs, and what it names exists."""

from __future__ import annotations

import json
import re
import shlex

from plots.cli import parser
from plots.schema import SCHEMA_PATH
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


def test_the_commands_shown_exist_and_the_others_can_be_found():
    shown = re.findall(r"^python -m plots (.*?) *(?:#.*)?$", TEXT, re.MULTILINE)
    for line in shown:
        parser().parse_args(shlex.split(line))
    assert len(shown) >= 6
    assert "figure --list" in shown and "python -m plots --help" in TEXT
