"""Pictures are drawn by any number of processes with the same result."""

from __future__ import annotations

import os

from plots import parallel
from plots.errors import PlotsError
from plots.figures import Picture, drawing
from plots.figures.style import new_figure


def draw_text(text):
    if text == "nothing":
        raise PlotsError("nothing to draw")
    figure = new_figure(2, 1)
    figure.text(0.5, 0.5, text)
    return figure


def draw_process(_):
    return draw_text(f"process {os.getpid()}")


def pictures(*texts):
    return {f"p{i}": Picture("p", "label", draw_text, (t,)) for i, t in enumerate(texts)}


def test_any_number_of_processes_draws_the_same(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    alone = drawing.draw_all(pictures("one", "two", "three"))
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    assert drawing.draw_all(pictures("one", "two", "three")) == alone
    elsewhere = drawing.draw_all(
        {f"p{i}": Picture("p", "label", draw_process, (i,)) for i in range(2)}
    )
    assert all(f"process {os.getpid()}" not in drawn.svg for drawn in elsewhere.values())
