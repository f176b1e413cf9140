"""What the figure of all strategies with all schedules shows and says."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from drawn import heading, texts

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
