"""Saved figures, and figures inside a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

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
