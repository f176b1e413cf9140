"""Every figure can be read across the page of a paper: measured on the recorded results, and on
planted faults."""

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

NEWEST, OTHER = "NVIDIA H200", "NVIDIA H100 80GB HBM3"


@pytest.fixture(scope="module")
def recorded() -> dict[str, Results]:
    """The results of each GPU, from one record that all tests of a run share in their cache."""
    record = whole_record()
    return {gpu: record.where(gpu=gpu) for gpu in (NEWEST, OTHER)}


def drawn(results: Results, name: str) -> Figure:
    selection = Selection(())
    selection.__dict__["results"] = results
    return FIGURES[name].draw(selection)


@pytest.mark.parametrize("of", [NEWEST, OTHER])
@pytest.mark.parametrize("name", drawable())
def test_a_figure_can_be_read(recorded, name, of):
    figure = drawn(recorded[of], name)
    assert figure.get_figwidth() == style.WIDTH
    assert faults_of(figure) == []


def test_a_figure_of_two_gpus_can_be_read(recorded):
    assert faults_of(generations(compare(*recorded.values()), "2026-11-22")) == []


@pytest.mark.parametrize("name", ["latency", "dpx_blocks"])
def test_a_figure_that_is_squeezed_cannot(recorded, name):
    figure = drawn(recorded[NEWEST], name)
    figure.set_size_inches(3.4, 3.4 * figure.get_figheight() / figure.get_figwidth())
    found = faults_of(figure)
    assert any("outside of the canvas" in fault for fault in found)
    assert any("overlap" in fault for fault in found)
