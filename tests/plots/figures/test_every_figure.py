"""What holds for each figure; and a figure is one file."""

from __future__ import annotations

import sys

import pytest
import synthetic

from plots.cli import main
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.figures import FIGURES, Chapter, GpuSubject, of_chapter


@pytest.mark.parametrize("kind", FIGURES.values(), ids=lambda kind: kind.name)
def test_it_lies_in_a_file_of_its_name_and_says_what_it_shows(kind):
    assert (ROOT / "plots" / "figures" / f"{kind.name}.py").is_file()
    assert kind.summary and (kind.of_selection or kind.pictures)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in FIGURES.values() if kind.chapter is Chapter.MICROBENCHMARKS],
    ids=lambda kind: kind.name,
)
def test_without_its_microbenchmark_it_is_left_out_and_says_so(paper, kind):
    subject = GpuSubject("NVIDIA H200", "h200", paper, "cold", "stream", ())
    assert kind.pictures(subject) == []
    with pytest.raises(PlotsError, match="nothing to draw"):
        draw_of(kind)(paper)


def draw_of(kind):
    """The function that draws the figure, as its file names it."""
    return getattr(sys.modules[f"plots.figures.{kind.name}"], kind.name)


def test_the_listing_names_each(capsys):
    assert main(["figure", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    in_the_report = [k for chapter in Chapter for k in of_chapter(chapter)]
    others = sorted(set(FIGURES) - {k.name for k in in_the_report})
    names = [*(k.name for k in in_the_report), *others]
    assert [line.split()[0] for line in listed] == [n for n in names if FIGURES[n].of_selection]
    assert {"samples", "heatmap", "floor"} <= set(others)  # which the page says in its own way


def test_figures_of_all_rows_show_one_row_of_a_variant_and_role(matched_file):
    """Not the rows that were measured to match another strategy's schedule."""
    results = load([matched_file]).where(size="n=2048")
    alone = load([matched_file]).where(size="n=2048")
    for frame in ("rows", "comparisons"):
        of = getattr(alone, frame)
        object.__setattr__(alone, frame, of[of["role"] != "matched"])
    for name in ("speedup", "floor", "roofline"):
        draw = draw_of(FIGURES[name])
        shown, expected = draw(results), draw(alone)
        for ax, other in zip(shown.axes, expected.axes, strict=True):
            assert len(ax.lines) == len(other.lines) and len(ax.patches) == len(other.patches)
            assert [t.get_text() for t in ax.texts] == [t.get_text() for t in other.texts]
            assert ax.get_xlim() == other.get_xlim() and ax.get_ylim() == other.get_ylim()


def test_samples_name_the_schedule_of_a_matched_row(matched_file):
    results = load([matched_file])
    figure = draw_of(FIGURES["samples"])(results, results.groups.iloc[0]["group"])
    labels = [t.get_text().split(",")[0] for t in figure.axes[0].get_yticklabels()]
    assert "baseline matched tall" in labels and "tma matched wide" in labels
    assert labels.index("dsm best") < labels.index("baseline matched tall")
    assert len(labels) == len(set(labels))


def test_launch_costs_are_of_the_shown_rows(save):
    groups = [synthetic.matched_group("nw", {"n": 64}, 1.0, launch=m) for m in ("stream", "graph")]
    (ax,) = draw_of(FIGURES["launch"])(load([save(synthetic.document(groups))])).axes
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert len(labels) == 12 and not any("matched" in label for label in labels)
