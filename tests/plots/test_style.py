"""Saved figures, and figures inside a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
import synthetic
from matplotlib.text import Text

from plots import style
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
    figure = speedup(of_many_libraries(load_groups))
    if width is not None:
        style.fit(figure, width)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    reach = legend.get_window_extent()
    assert reach.x0 >= 0 and reach.x1 <= figure.bbox.width and reach.y0 >= 0
    assert len(legend.get_texts()) == 12


def test_a_figure_fits_a_column_and_stays_readable(load_groups):
    figure = speedup(of_many_libraries(load_groups))
    shape = figure.get_figheight() / figure.get_figwidth()
    style.fit(figure, 7.1)
    assert figure.get_figwidth() == 7.1
    assert figure.get_figheight() / figure.get_figwidth() == pytest.approx(shape)
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
    assert min(sizes) == style.LEAST_POINTS and max(sizes) < 10
