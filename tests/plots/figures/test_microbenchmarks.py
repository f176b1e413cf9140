"""Figures of microbenchmarks: what is drawn, and the numbers in their prose."""

from __future__ import annotations

import pytest
import synthetic

from plots.data.load import load
from plots.figures import FIGURES
from plots.figures.async_copy import async_copy, gains
from plots.figures.dpx_blocks import dpx_blocks, drops
from plots.figures.dsm_ring import dsm_ring
from plots.figures.in_flight import in_flight
from plots.figures.latency import latency
from plots.figures.persistence import persistence
from plots.figures.tensor_energy import tensor_energy
from plots.figures.wgmma_n import wgmma_n


def test_the_latency_ladder_shows_every_operator_and_the_capacity(memory_file):
    (ax,) = latency(load([memory_file])).axes
    assert ax.get_legend_handles_labels()[1] == ["ld.ca (every level)", "ld.cg (L2 only)"]
    assert ax.get_xlabel() == "footprint" and "L1 ends" in [t.get_text() for t in ax.texts]
    assert ax.get_xscale() == "log"


def test_bandwidth_against_bytes_in_flight_has_both_levels(memory_file):
    memory, l2 = in_flight(load([memory_file])).axes
    assert len(memory.containers) == len(l2.containers) == 3
    assert "95 % at 27 KiB" in [t.get_text() for t in memory.texts] and not l2.texts


def test_persistence_has_a_curve_per_window_against_the_share(memory_file):
    (ax,) = persistence(load([memory_file])).axes
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "no stream", "a stream, no window", "window, every line persists",
        "window, the share that fits persists",
    ]  # fmt: skip
    undisturbed, displaced, window, fitted = (c.lines[0] for c in ax.containers)
    assert list(window.get_xdata()) == [25, 50, 100, 200]
    assert list(window.get_ydata()) == [280, 280, 280, 660]
    assert set(undisturbed.get_ydata()) == {280} and set(displaced.get_ydata()) == {660}
    assert list(fitted.get_xdata()) == [200] and list(fitted.get_ydata()) == [470]
    assert ax.get_ylim()[0] == 0


def test_the_asynchronous_copies_have_four_panels(async_copy_file):
    roof, barrier, pipeline, low = async_copy(load([async_copy_file])).axes
    assert len(roof.lines) == 2 * 6 + 1 and roof.get_yscale() == "log"
    assert [t.get_text() for t in pipeline.get_legend().texts] == ["0.25 op/byte", "16 op/byte"]
    # Of the tiles 512 B to 32 KiB: a tenth slower at the first, level at 16 KiB.
    first = barrier.lines[0].get_ydata()
    assert first[0] == pytest.approx(0.9) and first[5] == pytest.approx(1.0)
    plain = low.lines[0].get_ydata()
    assert plain[0] == pytest.approx(100 * (1 / 0.7 - 1)) and low.lines[1].get_ydata()[0] == 0


def test_the_gains_in_the_prose_are_the_datas(save):
    document = synthetic.async_copy_like()
    (m,) = (m for m in document["microbenchmarks"] if m["name"] == "async_copy/intensity")
    before = gains(load([save(document)]))
    for row in m["rows"]:
        if row["at"]["mechanism"] == "bulk" and row["at"]["occupancy"] == "full":
            value = 2 * row["value"]["median"]
            row.update(synthetic.micro_row(row["at"], value, row["quantity"], row["unit"]))
    after = gains(load([save(document)]))
    assert after["bulk"] == pytest.approx(2 * before["bulk"])
    assert after.drop("bulk").tolist() == before.drop("bulk").tolist() and "plain" not in after


def test_the_ring_has_a_surface_per_cluster_size_and_a_curve_per_width(dsm_file):
    *surfaces, words, quads = dsm_ring(load([dsm_file])).axes
    assert [s.get_title(loc="left") for s in surfaces] == [
        f"clusters of {n}, TB/s"
        for n in (2, 4, 8)  # 1 has no neighbour
    ]
    # 64, 256, 1024 threads x 1, 4 accesses; op=push is another curve and is left out.
    assert [t.get_text() for t in surfaces[0].texts] == [
        "0.06", "0.26", "0.26", "1.02", "1.02", "4.10",
    ]  # fmt: skip
    assert words.get_xlim()[1] < quads.get_xlim()[1]
    pairs = words.lines[0]
    assert list(pairs.get_xdata()) == [256, 1024, 1024, 4096, 4096, 16384]


def test_the_best_of_each_cluster_size_is_in_the_prose(dsm_file):
    said = " ".join(FIGURES["dsm_ring"].reading(load([dsm_file])))
    assert "4.40 TB/s in clusters of 2 at" in said and "3.40 TB/s in clusters of 8 at" in said


def test_dpx_blocks_has_a_curve_per_form_and_marks_the_multiples(save):
    (ax,) = dpx_blocks(load([save(synthetic.dpx_like())])).axes
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "viaddmax_s16x2_relu: DPX function", "viaddmax_s16x2_relu: plain C"
    ]  # fmt: skip
    assert [t.get_text() for t in ax.texts] == ["1 × 132", "2 × 132"]
    assert ax.get_ylim()[0] == 0


def test_what_one_block_more_costs_is_computed(save):
    assert drops(load([save(synthetic.dpx_like())])) == pytest.approx(
        {"dpx": 1 - 133 / 264, "plain": 1 - 133 / 264}
    )


def test_energy_has_a_bar_per_load_the_dearest_at_the_bottom(memory_file):
    (ax,) = tensor_energy(load([memory_file])).axes
    bars = ax.patches
    assert len(bars) == 4
    widths = [bar.get_width() for bar in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(700 / 820)
    assert " 700 W, 820 TFLOP/s" in [t.get_text() for t in ax.texts]


def test_widths_of_wgmma_have_rates_and_cycles(memory_file):
    rates, cycles = wgmma_n(load([memory_file])).axes
    assert len(rates.containers) == 6 and len(cycles.containers) == 4
    assert "n / 2: tensor cores busy" in cycles.get_legend_handles_labels()[1]
