"""What the figure of all strategies with all schedules shows and says."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from drawn import heading, texts
from matplotlib.colors import to_rgb

from plots.data.load import load
from plots.figures import FIGURES, AppSubject, GpuSubject
from plots.figures.cross import cross


@pytest.fixture
def results(cross_file):
    return load([cross_file])


def cells(ax, kind):
    return [p for p in ax.patches if p.get_label() == kind]


def test_each_cell_has_its_time_and_what_movement_gains(results):
    figure = cross(results.cross)
    (ax,) = figure.axes
    assert heading(figure).endswith("NVIDIA H200, 2026-11-21; cold cache, graph launches")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["baseline", "overlap", "tma", "dsm"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["iso", "wide", "tall"]
    assert len(cells(ax, "ok")) == 11
    (hatched,) = cells(ax, "declined")
    assert hatched.get_hatch() == "////" and hatched.get_xy() == (-0.5, 2.5)
    written = texts(figure)
    assert written.count("reference") == 3 and "gain 1.60×" in written
    assert "gain 1.00×\nnot resolved" in written and "declined" in written
    (bold,) = [t for t in ax.texts if t.get_weight() == "bold"]
    assert bold.get_text() == "1.00" and bold.get_position()[0] == 2
    assert ax.get_xlabel().startswith("Fastest: tma with tall (")


def test_the_fastest_of_each_schedule_is_framed(results):
    (ax,) = cross(results.cross).axes
    framed = {(round(p.get_x() + 0.46), round(p.get_y() + 0.45)) for p in cells(ax, "fastest")}
    assert framed == {(0, 2), (1, 2), (2, 2)}
    (even,) = cells(ax, "even")
    assert even.get_linestyle() == "--" and round(even.get_y() + 0.45) == 1


def of_nw(results):
    gpu = GpuSubject("NVIDIA H200", "h200", results, "cold", "stream", ())
    return AppSubject(gpu, "nw", "h200-nw")


def test_the_report_says_who_wins_where_and_why_cells_are_empty(results):
    text = str(FIGURES["cross"].markup(of_nw(results)))
    assert "Fastest: tma with tall (" in text
    assert "Fastest with each schedule: tma with iso, wide (not told apart: overlap), tall." in text
    assert "Baseline against itself, once per schedule, stayed within 0.997 and 1.003." in text
    assert "<td>dsm declines: its tiles are too small to share</td>" in text
    assert FIGURES["cross"].markup(replace(of_nw(results), app="lud")) == ""


def test_a_cell_of_the_report_opens_its_samples_and_says_its_gain_without_colour(results):
    text = str(FIGURES["cross"].markup(of_nw(results)))
    rows = results.cross.rows
    row = rows[(rows["variant"] == "nw/tma") & (rows["schedule"] == "tall") & (rows["repeat"] == 0)]
    (cell,) = re.findall(rf'<td [^>]*><button data-samples="{row.iloc[0]["row"]}".*?</td>', text)
    assert 'class="won s' in cell and ">1.00<small>gain 1." in cell
    assert "; fastest with this schedule" in cell
    assert text.count('class="won ') == 3 and text.count('class="even ') == 1
    assert text.count('class="none"') == 1


def test_lightness_alone_tells_fast_from_slow(results):
    """In grey print, and for colour-blind readers."""
    (ax,) = cross(results.cross).axes
    light = [float(np.dot(to_rgb(p.get_facecolor()), (0.21, 0.72, 0.07))) for p in cells(ax, "ok")]
    medians = [float(t.get_text()) for t in ax.texts if t.get_text().replace(".", "", 1).isdigit()]
    assert len(light) == len(medians)
    order = np.argsort(medians)
    assert (np.diff(np.array(light)[order]) < 0.02).all()


def test_failed_cells_look_different_from_declined_ones(load_groups):
    group = synthetic.cross_group("nw", {"n": 64})
    row = next(r for r in group["rows"] if r["variant"] == "nw/tma" and r["schedule"] == "iso")
    synthetic.fail(row, "crashed", "hung")
    (ax,) = cross(load_groups(group).cross).axes
    (crashed,) = cells(ax, "crashed")
    assert crashed.get_hatch() == "...."
