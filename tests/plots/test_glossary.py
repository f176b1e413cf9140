"""docs/glossary.md has the words that the report uses for its columns."""

from __future__ import annotations

import importlib
import pkgutil
import re

import plots.report
from plots.data.strategies import ROOT
from plots.report.embedded import Column


def columns() -> set[str]:
    """The columns of all tables of the report, by the modules that declare them."""
    found = set()
    for module in pkgutil.walk_packages(plots.report.__path__, "plots.report."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, tuple):
                found |= {item.name for item in value if isinstance(item, Column)}
    return found


def test_every_column_of_the_report_is_in_the_glossary():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    section = page.split("## A column of the report")[1]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in first for name in re.findall("`([^`]+)`", cell)]
    assert len(named) == len(set(named)), "a column stands there twice"
    there = columns()
    assert len(there) > 40
    assert there - set(named) == set(), "columns that the glossary does not explain"
    assert set(named) - there == set(), "columns that the report does not have"
