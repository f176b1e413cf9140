"""Every figure can be read in a paper's column and across its page: measured on the recorded
results, and on planted faults."""

from __future__ import annotations

import pytest
from legibility import LEAST_POINTS, faults_of
from matplotlib.axes import Axes
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


def test_every_registered_figure_is_among_them():
    assert {*drawable(), "generations"} == set(FIGURES)


@pytest.mark.parametrize("name", ["latency", "dpx_blocks"])
def test_a_figure_that_is_only_scaled_cannot(recorded, name):
    figure = drawn(recorded[NEWEST], name, None)
    figure.set_size_inches(COLUMN, COLUMN * figure.get_figheight() / figure.get_figwidth())
    found = faults_of(figure)
    assert any("outside of the canvas" in fault for fault in found)
    assert any("overlap" in fault for fault in found)


def plain() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(3, 2), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], label="a line")
    ax.tick_params(labelsize=LEAST_POINTS)
    return figure, ax


def test_a_plain_figure_has_no_fault():
    figure, ax = plain()
    ax.set_xticks([0.2, 0.4, 0.6, 0.8], ["a long label"] * 4, rotation=50, ha="right",
                  rotation_mode="anchor", fontsize=LEAST_POINTS)  # fmt: skip
    ax.legend(loc="upper left", fontsize=LEAST_POINTS)
    assert faults_of(figure) == []


@pytest.mark.parametrize(
    "plant, fault",
    [
        (lambda f, ax: ax.text(0.5, 0.2, "tiny", fontsize=5.9), "5.9 points: 'tiny'"),
        (
            lambda f, ax: ax.text(0.9, 0.2, "beyond the edge", in_layout=False),
            "outside of the canvas: 'beyond",
        ),
        (lambda f, ax: ax.set_title("a heading " * 9), "outside of the canvas: 'a heading"),
        (lambda f, ax: [ax.text(0.2, y, f"at {y}") for y in (0.5, 0.52)], "'at 0.5' and 'at 0.52'"),
        (
            lambda f, ax: ax.set_xticks([0, 0.1, 0.2], ["first", "second", "third"]),
            "'first' and 'second' overlap",
        ),
        (
            lambda f, ax: ax.set_xticks([0.5, 0.53], ["a slanted one", "another one"], rotation=50,
                                        ha="right", rotation_mode="anchor"),
            "'a slanted one' and 'another one' overlap",
        ),
        (lambda f, ax: ax.legend(loc="center"), "the legend of 'a line' lies on data"),
        (
            lambda f, ax: (ax.bar([0.1], [0.9], 0.2), ax.legend(loc="upper left")),
            "the legend of 'a line' lies on data",
        ),
        (
            lambda f, ax: (ax.errorbar([0.1], [0.5], yerr=0.5), ax.legend(loc="upper left")),
            "the legend of 'a line' lies on data",
        ),
        (lambda f, ax: ax.set_ylabel("long\n" * 14), "a panel of"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(plant, fault):
    figure, ax = plain()
    plant(figure, ax)
    assert any(fault in found for found in faults_of(figure))


def test_a_layout_that_was_given_up_is_a_fault():
    figure, ax = plain()
    ax.set_ylabel("long\n" * 40)
    with pytest.raises(UserWarning, match="axes sizes collapsed"):
        faults_of(figure)
