"""What makes the report of a large record take long is done once: files are read once
(those of twins are read again by their chapter), and figures are drawn once."""

from __future__ import annotations

from collections import Counter

import pytest
from matplotlib.figure import Figure

from plots import parallel
from plots.data import load as loading
from plots.data.load import load
from plots.figures import drawing, style
from plots.report.embedded import carried_by
from plots.report.page import render


@pytest.fixture
def counted(monkeypatch):
    """Counts calls by the name of the function and what names the call; all in this process."""
    calls: Counter[tuple[str, str]] = Counter()
    kept = []  # so that no id is given to another one
    monkeypatch.setattr(parallel, "cores", lambda: 1)

    def count(where, name, of):
        function = getattr(where, name)

        def counting(*arguments, **options):
            calls[name, of(*arguments)] += 1
            kept.append(arguments)
            return function(*arguments, **options)

        monkeypatch.setattr(where, name, counting)

    count(loading, "read_document", str)
    count(drawing, "_draw", lambda name: name)
    count(style, "inline_svg", lambda figure, *_: str(id(figure)))
    count(Figure, "draw", lambda figure, *_: str(id(figure)))
    return calls


def of(calls, name):
    return [count for (function, _), count in calls.items() if function == name]


def test_files_are_read_and_figures_drawn_once(
    paper_file, memory_file, async_copy_file, dsm_file, counted
):
    files = [paper_file, memory_file, async_copy_file, dsm_file]
    page = render(load(files))
    assert of(counted, "read_document") == [1] * len(files)

    figures = carried_by(page)["figures"]
    assert len(figures) > 5
    asked = [count for count in of(counted, "_draw") if count]
    assert len(asked) >= len(figures) and set(asked) == {1}
    # A second pass would lay it out again, which takes half of the time of a figure.
    assert of(counted, "draw") == of(counted, "inline_svg") and set(of(counted, "draw")) == {1}


def test_what_is_counted_would_show_it(paper_file, counted):
    """Else the test above could not fail."""
    for _ in range(2):
        load([paper_file])
    figure = style.new_figure(1, 1)
    figure.draw_without_rendering()
    assert of(counted, "read_document") == [2] and of(counted, "draw") == [1]
