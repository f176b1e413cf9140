"""What holds for each figure; and a figure is one file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import matplotlib
import pytest
import synthetic
from markupsafe import Markup

from plots.cli import main
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.figures import FIGURES, Chapter, GpuSubject, of_chapter
from plots.figures.registry import microbenchmark_figure, unregister
from plots.report import page
from plots.report.embedded import carried_by, unpacked

EXAMPLE = '''"""An example."""

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.figures.registry import Chapter, FigureKind, GpuSubject, Picture, register
from plots.data.load import Results
from plots.prose import paragraph
from plots.figures.style import new_figure, styled


@styled
def example(results: Results) -> Figure:
    figure = new_figure(3, 2)
    figure.subplots().set_title(f"{len(results.groups)} groups drawn")
    return figure


def _above(subject: GpuSubject) -> Markup:
    return paragraph(f"The example has {len(subject.results.groups)} groups.")


register(
    FigureKind(
        "example",
        "what an example shows",
        lambda selection: example(selection.one_mode()),
        Chapter.COMPARISONS,
        order=15,
        heading="An example",
        pictures=lambda subject: [Picture("example", "An example", example, (subject.results,))],
        above=_above,
    )
)
'''


@pytest.mark.parametrize("kind", FIGURES.values(), ids=lambda kind: kind.name)
def test_it_lies_in_a_file_of_its_name_and_says_what_it_shows(kind):
    assert (ROOT / "plots" / "figures" / f"{kind.name}.py").is_file()
    assert kind.summary and (kind.of_selection or kind.pictures)
    tests = ROOT / "tests" / "plots" / "figures" / f"test_{kind.name}.py"
    assert tests.is_file() or kind.name == "example"


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


def test_adding_a_figure_is_adding_a_file(tmp_path, save):
    """In a copy with one file more: listed, drawn, in the report, in the tests that go over all."""
    for name in ("plots", "tests/plots"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("inputs", "schema", "apps", "docs", "results", "README.md", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("fuzz", "golden"):
        (tmp_path / "tests" / name).symlink_to(ROOT / "tests" / name)
    (tmp_path / "plots" / "figures" / "example.py").write_text(EXAMPLE, encoding="utf-8")

    # Few groups, because every other picture of the report is drawn anew, too.
    groups = [synthetic.group("nw", {"n": n}, 1.0, seed=n) for n in (512, 1024)]
    groups.append(synthetic.group("lud", {"n": 512}, 1.0))
    results = save(synthetic.document(groups), "few.json")

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
            # The pictures' cache is the copy's own, the list of fonts is not.
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"),
                 "MPLCONFIGDIR": matplotlib.get_cachedir()},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # One interpreter for the three commands: to import what draws takes seconds.
    commands = [
        ["figure", "--list"],
        ["figure", "example", str(results), "-o", "example.svg"],
        ["report", str(results), "-o", "report.html"],
    ]
    code = f"from plots.cli import main; raise SystemExit(any([main(c) for c in {commands!r}]))"
    listed = [line.split()[0] for line in run("-c", code).splitlines()]
    assert listed[:3] == ["speedup", "cross", "example"]
    assert (tmp_path / "example.svg").is_file()
    page = unpacked((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "The example has 3 groups." in page
    assert "3 groups drawn" in carried_by(page)["figures"]["h200-example"]
    assert page.index(">An example</h3>") < page.index(">Roofline</h3>")
    over_all = ("tests/plots/figures/test_every_figure.py", "tests/plots/test_cli.py")
    collected = run("-m", "pytest", "--collect-only", "-q", *over_all, "-k", "example")
    assert "figures/test_every_figure.py::test_it_lies_in_a_file_of_its_name" in collected
    assert "test_cli.py::test_every_figure_can_be_written[example-svg]" in collected


def test_two_figures_of_one_microbenchmark_have_a_picture_each(memory_file):
    results = load([memory_file])
    subject = GpuSubject("NVIDIA H200", "h200", results, "cold", "stream", ())
    draw = draw_of(FIGURES["latency"])
    other = microbenchmark_figure(
        "of_a_test", "for this test", draw, "memory/latency", order=11, above=lambda _: Markup("")
    )
    try:
        shown = {m.name: m.figures for m in page._microbenchmarks(subject, page._Pictures())}
    finally:
        unregister("of_a_test")
    pictures = [name for figure in shown["memory/latency"] for name in figure.pictures]
    assert len(pictures) == len(set(pictures)) == 2 and other.name in pictures[1]


def test_figures_of_the_report_have_prose_from_their_subject(memory_file, paper_file):
    results = load([memory_file, paper_file]).where(gpu="NVIDIA H200")
    subject = GpuSubject("NVIDIA H200", "h200", results, "cold", "stream", ())
    for chapter in (Chapter.COMPARISONS, Chapter.MICROBENCHMARKS):
        for kind in of_chapter(chapter):
            if kind.pictures(subject) if kind.pictures else kind.markup(subject):
                assert str(kind.above(subject)).startswith("<p>"), kind.name
                assert "H200" not in str(kind.above(subject)), kind.name  # whose figures are these?


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
