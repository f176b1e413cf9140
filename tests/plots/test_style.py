"""Saved figures, and figures inside a page."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree

import pytest
import synthetic

from plots import parallel
from plots.errors import PlotsError
from plots.figures import drawing, style
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


def test_legends_are_not_clipped(load_groups):
    names = ("cublas", "cusolver", "cub", "cuda_pipeline", "a-library-with-a-long-name")
    results = load_groups(
        *(synthetic.group("gemm", {"n": 64 * (i + 1)}, 1.0, comparator=name)
          for i, name in enumerate(names))
    )  # fmt: skip
    figure = speedup(results)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    reach = legend.get_window_extent()
    assert reach.x0 >= 0 and reach.x1 <= figure.bbox.width and reach.y0 >= 0
    assert len(legend.get_texts()) == 12


@pytest.mark.parametrize(
    "text, lines",
    [
        ("two words", ["two", "words"]),
        ("register_bypass", ["register_", "bypass"]),
        ("a\nb", ["a", "b"]),
        ("unbreakable", ["unbreakable"]),
        ("", [""]),
    ],
)
def test_texts_are_wrapped_between_words_and_in_those_that_are_too_long(text, lines):
    assert style.wrapped(text, 0.6, 9).split("\n") == lines
    assert style.wrapped(text, 9, 9) == text


def of_text(text):
    def draw():
        if text == "nothing":
            raise PlotsError("nothing to draw")
        figure = style.new_figure(1)
        figure.text(0.5, 0.5, text or f"process {os.getpid()}")
        return figure

    return draw


def test_any_number_of_processes_draws_the_same(monkeypatch):
    pictures = {text: of_text(text) for text in ("one", "two", "nothing")}
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    alone = drawing.draw_all(pictures)
    assert alone["nothing"] == "nothing to draw"
    assert ">one<" in alone["one"] and alone["one"].startswith("<svg ")
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    assert drawing.draw_all(pictures) == alone
    elsewhere = drawing.draw_all({name: of_text("") for name in "ab"})
    assert all(f"process {os.getpid()}" not in svg for svg in elsewhere.values())
