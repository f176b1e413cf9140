"""What the figure of all samples shows."""

from __future__ import annotations

import re

import pytest
import synthetic
from matplotlib.colors import to_hex

from plots.figures import style
from plots.figures.samples import samples


def test_samples_show_every_sample_and_mark_throttled_ones(paper):
    group = paper.groups[
        (paper.groups["app"] == "pathfinder")
        & (paper.groups["size_label"] == "rows=10000 cols=10000")
    ].iloc[0]["group"]
    strip, drift = samples(paper, group).axes
    dots = [line for line in strip.lines if line.get_label().startswith("pathfinder/")]
    crosses = [line for line in strip.lines if line.get_label() == "throttled"]
    assert sum(len(line.get_xdata()) for line in dots) == 14 * 21 - 6
    assert [len(line.get_xdata()) for line in crosses] == [3, 3]
    assert all(to_hex(line.get_color()) == style.ALARM_COLOUR.lower() for line in crosses)
    labels = [t.get_text() for t in strip.get_yticklabels()]
    assert labels[0].startswith("baseline iso, 6.") and labels[1].startswith("baseline iso (A/A)")
    assert labels[7].startswith("baseline best") and len(labels) == 14
    assert strip.get_xlabel() == "deviation from the row's median, %"
    assert drift.get_xlabel() == "round"
    assert strip.get_xlim() == pytest.approx(drift.get_ylim())


def test_samples_beyond_the_axis_are_counted_on_it(load_groups):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    times_ms = group["rows"][0]["samples"]["time_ms"]
    times_ms[5] = 4.0
    results = load_groups(group)
    strip = samples(results, results.groups.iloc[0]["group"]).axes[0]
    notes = [t.get_text() for t in strip.texts]
    assert any(re.fullmatch(r"1 beyond, to \+(299|30[0-9]|29[0-9]) %", note) for note in notes), (
        notes
    )
    assert strip.get_xlim()[1] < 20  # the outlier does not squash the others
