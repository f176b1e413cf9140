"""Every figure can be read in a paper's column and across its page: measured on the recorded
results, and on planted faults."""

from __future__ import annotations

import pytest
from legibility import faults_of
from matplotlib.figure import Figure
from whole_record import whole_record

from plots.commands.figure import drawable
from plots.data.load import Results
from plots.data.selection import Selection
from plots.figures import FIGURES, style
from plots.figures.generations import generations
from plots.papers.expect import compare

COLUMN, PAGE = 3.4, 7.0  # inches
NOT_FROZEN = ("cross",)  # results/0.1.0/ has no such study
NEWEST, OTHER = "NVIDIA H200", "NVIDIA H100 80GB HBM3"


@pytest.fixture(scope="module")
def recorded() -> dict[str, Results]:
    """The results of each GPU, from one record that all tests of a run share in their cache."""
    record = whole_record()
    return {gpu: record.where(gpu=gpu) for gpu in (NEWEST, OTHER)}


def drawn(results: Results, name: str, width: float | None) -> Figure:
    selection = Selection(())
    selection.__dict__["results"] = results
    draw = FIGURES[name].of_selection
    return style.drawn_at(lambda: draw(selection), width)


# The other GPU where there is the least room: what differs is which texts are long. A figure in its
# own width is that of a page in proportion, or has more room.
@pytest.mark.parametrize(
    "name, of, width",
    [
        (name, of, width)
        for name in drawable()
        for of, width in ((NEWEST, COLUMN), (NEWEST, PAGE), (OTHER, COLUMN))
        if of == NEWEST or name not in NOT_FROZEN
    ],
)
def test_a_figure_can_be_read(recorded, name, of, width):
    figure = drawn(recorded[of], name, width)
    assert figure.get_figwidth() == width
    assert faults_of(figure) == []


@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_a_figure_of_two_gpus_can_be_read(recorded, width):
    mode = {"cache": "cold", "launch": "stream", "app": "nw"}
    measured = compare(*(recorded[gpu].where(**mode) for gpu in (NEWEST, OTHER)))
    figure = style.drawn_at(lambda: generations(measured, "2026-11-22"), width)
    assert figure.get_figwidth() == width
    assert faults_of(figure) == []


@pytest.mark.parametrize("name", ["latency", "dpx_blocks"])
def test_a_figure_that_is_only_scaled_cannot(recorded, name):
    figure = drawn(recorded[NEWEST], name, None)
    figure.set_size_inches(COLUMN, COLUMN * figure.get_figheight() / figure.get_figwidth())
    found = faults_of(figure)
    assert any("outside of the canvas" in fault for fault in found)
    assert any("overlap" in fault for fault in found)
