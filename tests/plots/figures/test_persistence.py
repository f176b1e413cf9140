"""The figure of what a persisting window keeps in the L2."""

from __future__ import annotations

import pytest
import synthetic

from plots.data.load import load
from plots.figures.persistence import fitted_over_all, persistence


def test_persistence_has_a_curve_per_window_against_the_share(memory_file):
    (ax,) = persistence(load([memory_file])).axes
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "no stream passes", "a stream, no window", "window, every line persists",
        "window, the share that fits persists",
    ]  # fmt: skip
    undisturbed, displaced, window, fitted = (c.lines[0] for c in ax.containers)
    assert list(window.get_xdata()) == [25, 50, 100, 200]
    assert list(window.get_ydata()) == [280, 280, 280, 660]
    assert set(undisturbed.get_ydata()) == {280} and set(displaced.get_ydata()) == {660}
    assert list(fitted.get_xdata()) == [200] and list(fitted.get_ydata()) == [470]
    assert ax.get_ylim()[0] == 0


def test_readers_have_a_panel_each(save):
    document = synthetic.memory_like()
    (m,) = (m for m in document["microbenchmarks"] if m["name"] == "memory/persistence")
    m["rows"] += [
        {**r, "at": {**r["at"], "readers": "all"}} for r in m["rows"] if "readers" in r["at"]
    ]
    panels = persistence(load([save(document)])).axes
    assert [p.get_title(loc="left") for p in panels] == ["read by one SM", "read by all SMs"]


def test_how_far_the_share_that_fits_is_from_all_lines_is_computed(memory_file, save):
    assert fitted_over_all(load([memory_file])) == pytest.approx(1 - 470 / 660)
    document = synthetic.memory_like()
    (m,) = (m for m in document["microbenchmarks"] if m["name"] == "memory/persistence")
    m["rows"] = [r for r in m["rows"] if r["at"].get("window") != "fitted"]
    assert fitted_over_all(load([save(document)])) is None
