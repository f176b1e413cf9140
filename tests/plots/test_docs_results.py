"""docs/results.md: its example runs, and what it names exists."""

from __future__ import annotations

import json
import re

from plots.data.schema import SCHEMA_PATH
from plots.data.strategies import ROOT

TEXT = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def test_the_examples_run(paper_file, matched_file, cross_file, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "results"
    folder.mkdir()
    for file in (paper_file, matched_file, cross_file):
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(from plots.*?)```", TEXT, re.DOTALL)
    names: dict = {}
    exec(compile(first, "docs/results.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "hotspot/tma" in printed and "floor_fraction" in printed and "not resolved" in printed
    names["cold"] = names["results"]  # of hotspot no gain was divided
    exec(compile(second, "docs/results.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "schedule ×" in printed and "wide" in printed and "baseline" in printed


def test_every_member_of_a_row_is_explained():
    row = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))["$defs"]["row"]["properties"]
    table = TEXT.split("## A row")[1].split("## A comparison")[0]
    explained = set(
        re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    )
    assert explained == set(row)
