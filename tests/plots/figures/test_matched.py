"""What the figure of schedule and movement shows and says."""

from __future__ import annotations

import pytest
import synthetic
from drawn import bars, heading, texts

from plots.data.load import load
from plots.figures import FIGURES, GpuSubject
from plots.figures.matched import matched, sentences
from plots.judge.gains import gains_of


@pytest.fixture
def results(matched_file):
    return load([matched_file])


def test_the_steps_of_each_strategy_lead_to_its_total(results):
    figure = matched(results)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "nw, n=2048\nbaseline is best with wide", "nw, n=4096\nbaseline is best with wide",
    ]  # fmt: skip
    assert heading(figure).endswith("NVIDIA H200, 2026-11-21; cold cache, stream launches")
    ax = figure.axes[0]
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        f"{name}\n{divided[0]}" for name, divided in synthetic.DIVIDED.items()
    ]
    found: dict[str, list] = {}
    for label, x, y, ends, filled in bars(ax):
        found.setdefault(label, []).append((round(y), x, ends, filled))
    assert len(found["total"]) == 5 and len(found["schedule"]) == 4  # bypass: the same schedule
    for i, (name, (_, by_schedule, by_movement, _)) in enumerate(synthetic.DIVIDED.items()):
        ((_, end, interval, filled),) = found[name]
        assert end == pytest.approx(by_schedule * by_movement)
        # The interval is that of movement, from where the schedule ends.
        assert interval[0][0] < end < interval[1][0]
        assert filled == (name != "drop_off")
        (total,) = [t for t in found["total"] if t[0] == i]
        assert total[1] == pytest.approx(end)
    assert "1.56× = 1.20× · 1.30×" in texts(figure) and "1.02×, all movement" in texts(figure)


def test_sentences_say_what_a_printed_total_mostly_is(results):
    said = sentences(gains_of(results)[:5])
    assert said == [
        "All movement, with baseline's own schedule: register_bypass, 1.02× [1.01, 1.03].",
        "Mostly movement: tma, 1.56× [1.55, 1.57] = 1.20 schedule × 1.30 [1.29, 1.31] movement.",
        "By movement, against the schedule: dsm, 1.22× [1.21, 1.22] = 0.90 schedule × 1.35 "
        "[1.34, 1.36] movement.",
        "Mostly schedule: overlap, 1.26× [1.25, 1.27] = 1.20 schedule × 1.05 [1.04, 1.06] "
        "movement.",
        "The gain of movement is not resolved: drop_off, 1.00× with schedule iso (in all 0.80× "
        "[0.80, 0.81]).",
    ]


def test_the_report_shows_the_main_sizes_and_lists_the_others(results):
    subject = GpuSubject("NVIDIA H200", "h200", results, "cold", "stream", ())
    kind = FIGURES["matched"]
    (picture,) = kind.pictures(subject)
    assert picture.arguments[1] == ("nw n=2048",)  # the first of paper
    below = str(kind.below(subject))
    assert "<b>nw, n=2048</b>: All movement" in below and "Every gain, divided" in below
    assert below.count("<tr>") == 1 + 10 and "<td>n=4096</td>" in below
    assert "1, the same" in below and "<td>–</td>" in below  # dsm declines baseline's schedule
