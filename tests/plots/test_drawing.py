"""Pictures are drawn once, by any number of processes, with the same result."""

from __future__ import annotations

import os

from plots.data.cache import Cache

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


def test_what_was_drawn_is_not_drawn_again(tmp_path):
    first = drawing.draw_all(pictures("one", "two"), Cache(tmp_path))
    assert "one" in first["p0"].svg and "two" in first["p1"].svg
    again = Cache(tmp_path)
    assert drawing.draw_all(pictures("one", "two"), again) == first
    assert (again.hits, again.misses) == (2, 0)
    changed = Cache(tmp_path)
    second = drawing.draw_all(pictures("one", "three"), changed)
    assert (changed.hits, changed.misses) == (1, 1) and "three" in second["p1"].svg


def test_any_number_of_processes_draws_the_same(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    alone = drawing.draw_all(pictures("one", "two", "three"), Cache(None))
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    assert drawing.draw_all(pictures("one", "two", "three"), Cache(None)) == alone
    elsewhere = drawing.draw_all(
        {f"p{i}": Picture("p", "label", draw_process, (i,)) for i in range(2)}, Cache(None)
    )
    assert all(f"process {os.getpid()}" not in drawn.svg for drawn in elsewhere.values())
