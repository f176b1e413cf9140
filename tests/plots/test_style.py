"""Saved figures, and figures inside a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import synthetic
from matplotlib.text import Text

from plots.figures import style
from plots.figures.floor import floor
from plots.figures.speedup import speedup

MAIN = {"cache": "cold", "launch": "stream"}


def test_saved_files(paper, tmp_path):
    figure = speedup(paper.where(**MAIN))
    svg, png = tmp_path / "new" / "a.svg", tmp_path / "a.png"
    style.save(figure, svg, "what it is")
    style.save(figure, png)
    assert png.read_bytes().startswith(b"\x89PNG")
    root = ElementTree.parse(svg).getroot()
    assert root.tag.endswith("svg") and "what it is" in svg.read_text(encoding="utf-8")
    again = tmp_path / "b.svg"
    style.save(speedup(paper.where(**MAIN)), again, "what it is")
    assert again.read_bytes() == svg.read_bytes()  # same data, same file


def test_inline_svg_stands_alone(paper):
    text = style.inline_svg(floor(paper.where(**MAIN)), "f1", 'a "label" & more')
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img" and root.get("aria-label") == 'a "label" & more'
    assert root.get("width") is None and root.get("viewBox")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert ids and all(i.startswith("f1-") for i in ids) and len(ids) == len(set(ids))
    for used in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
        assert used in ids


def of_many_libraries(load_groups):
    names = ("cublas", "cusolver", "cub", "cuda_pipeline", "a-library-with-a-long-name")
    return load_groups(
        *(synthetic.group("gemm", {"n": 64 * (i + 1)}, 1.0, comparator=name)
          for i, name in enumerate(names))
    )  # fmt: skip


@pytest.mark.parametrize("width", [None, 7.1, 4])
def test_legends_are_not_clipped(load_groups, width):
    results = of_many_libraries(load_groups)
    figure = style.drawn_at(lambda: speedup(results), width)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    reach = legend.get_window_extent()
    assert reach.x0 >= 0 and reach.x1 <= figure.bbox.width and reach.y0 >= 0
    assert len(legend.get_texts()) == 12


def test_a_figure_grows_in_a_column_where_its_texts_would_shrink(load_groups):
    results = of_many_libraries(load_groups)
    own = speedup(results)
    figure = style.drawn_at(lambda: speedup(results), 3.4)
    assert figure.get_figwidth() == 3.4 and figure.get_figheight() > own.get_figheight()
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
    assert min(sizes) == style.LEAST_POINTS and max(sizes) < 10


@pytest.mark.parametrize(
    "text, lines",
    [
        ("two words", ["two", "words"]),
        ("register_bypass", ["register_", "bypass"]),
        ("128x256-producer", ["128x256-", "producer"]),
        ("a\nb", ["a", "b"]),
        ("unbreakable", ["unbreakable"]),
        ("", [""]),
    ],
)
def test_texts_are_wrapped_between_words_and_in_those_that_are_too_long(text, lines):
    assert style.wrapped(text, 0.5, 9).split("\n") == lines
    assert style.wrapped(text, 9, 9) == text
