"""What holds for each figure; and a figure is one file."""

from __future__ import annotations

import sys

import pytest

from plots.cli import main
from plots.commands.figure import drawable
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.figures import FIGURES, of_microbenchmarks

OF_MICROBENCHMARKS = [kind for kind in FIGURES.values() if kind.microbenchmark]


@pytest.mark.parametrize("kind", FIGURES.values(), ids=lambda kind: kind.name)
def test_it_lies_in_a_file_of_its_name_and_says_what_it_shows(kind):
    assert any(
        (ROOT / "plots" / room / f"{kind.name}.py").is_file() for room in ("figures", "report")
    )
    assert kind.summary


@pytest.mark.parametrize("kind", OF_MICROBENCHMARKS, ids=lambda kind: kind.name)
def test_without_its_microbenchmark_it_is_left_out_and_says_so(paper, kind):
    assert of_microbenchmarks(paper) == []
    with pytest.raises(PlotsError, match="nothing to draw"):
        kind.draw_points(paper)


def test_the_listing_names_each_in_order(capsys):
    assert main(["figure", "--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == drawable() and set(listed) == set(FIGURES) and listed[0] == "heatmap"
    orders = [FIGURES[name].order for name in listed]
    assert len(orders) == len(set(orders)) and len(OF_MICROBENCHMARKS) == 8


def test_figures_of_all_rows_show_one_row_of_a_variant_and_role(matched_file):
    """Not the rows that were measured to match another strategy's schedule."""
    results = load([matched_file]).where(size="n=2048")
    alone = load([matched_file]).where(size="n=2048")
    for frame in ("rows", "comparisons"):
        of = getattr(alone, frame)
        object.__setattr__(alone, frame, of[of["role"] != "matched"])
    for name in ("speedup", "roofline"):
        draw = getattr(sys.modules[f"plots.figures.{name}"], name)
        shown, expected = draw(results), draw(alone)
        for ax, other in zip(shown.axes, expected.axes, strict=True):
            assert len(ax.lines) == len(other.lines) and len(ax.patches) == len(other.patches)
            assert [t.get_text() for t in ax.texts] == [t.get_text() for t in other.texts]
            assert ax.get_xlim() == other.get_xlim() and ax.get_ylim() == other.get_ylim()
