"""Figures of microbenchmarks, of the record: what must be seen, and the numbers in their prose."""

from __future__ import annotations

import re
from types import SimpleNamespace

import planted
import pytest

from plots.data.load import load
from plots.data.strategies import ROOT
from plots.figures import FIGURES
from plots.figures.async_copy import gains
from plots.figures.dpx_blocks import drops
from plots.figures.in_flight import in_cubs_form

KINDS = {kind.name: kind for kind in FIGURES.values() if kind.microbenchmark}


def recorded(kind):
    return load([ROOT / "results" / "h200" / f"{kind.microbenchmark.split('/')[0]}.json.gz"])


# Of each figure, for each panel: the scales of its axes, what its curves are, a text in it.
SEEN = {
    "async_copy": [
        ("log log", "plain, register_bypass, pipeline, barrier, drop_off, bulk, roof", ""),
        ("log log", "0.25 op/byte, 4 op/byte, 16 op/byte, 32 op/byte", ""),
        ("log log", "0.25 op/byte, 4 op/byte, 16 op/byte, 32 op/byte", ""),
        ("log linear", "plain, register_bypass, pipeline, barrier, drop_off, bulk", ""),
    ],
    "dpx_blocks": [
        (
            "linear linear",
            "viaddmax_s32: DPX function, viaddmax_s16x2_relu: DPX function, "
            "viaddmax_s16x2_relu: plain C",
            "2 × 132",
        ),
    ],
    "dsm_ring": [
        *[("linear linear", "", r"\d\.\d\d")] * 4,  # clusters of 2, 4, 8, 16; of 1 none
        *[("log linear", ", ".join(f"clusters of {n}" for n in (2, 4, 8, 16)), "")] * 2,
    ],
    "in_flight": [
        ("log linear", ", ".join(f"{n} × 16 B per thread" for n in (1, 2, 4)), r"95 % at \d+ KiB")
    ]
    * 2,
    "latency": [
        ("log linear", "ld.ca (every level), ld.cg (L2 only), ld.cv (not cached)", "L1 ends"),
    ],
    "tensor_energy": [("linear linear", "", r" \d+ W, \d+ TFLOP/s")],
    "wgmma_n": [
        ("log linear", "dense, A in shared memory, .*sparse, A in registers", ""),
        ("log linear", r"n / 2: tensor cores busy, 16 \+ n / 4: .*", ""),
    ],
}


@pytest.mark.parametrize("name", KINDS)
def test_what_must_be_seen_is_there(name):
    panels = KINDS[name].draw_points(recorded(KINDS[name])).axes
    for ax, (scales, curves, text) in zip(panels, SEEN[name], strict=True):
        assert f"{ax.get_xscale()} {ax.get_yscale()}" == scales
        legend = ax.get_legend()
        shown = [t.get_text() for t in legend.get_texts()] if legend else []
        shown = ", ".join(shown or ax.get_legend_handles_labels()[1])
        assert shown == curves or re.fullmatch(curves, shown), shown
        assert not text or any(re.fullmatch(text, t.get_text()) for t in ax.texts)


def test_what_is_drawn_are_the_points():
    (ax,) = KINDS["latency"].draw_points(recorded(KINDS["latency"])).axes
    points = recorded(KINDS["latency"]).points
    at = points["at"].map(lambda at: (at.get("method"), at.get("hint")))
    ladder = points[(points["microbenchmark"] == "memory/latency") & (at == ("ladder", "cg"))]
    assert sorted(ladder["median"]) == sorted(ax.containers[1].lines[0].get_ydata())
    (ax,) = KINDS["tensor_energy"].draw_points(recorded(KINDS["tensor_energy"])).axes
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths, reverse=True)  # the dearest at the bottom
    watts, rate = map(float, re.findall(r"\d+", ax.texts[0].get_text()))
    assert widths[0] == pytest.approx(watts / rate, rel=0.01)


def test_the_gains_in_the_prose_are_the_datas(save):
    def found(bulk):
        rows = [
            planted.micro_row(
                {"mechanism": mechanism, "intensity": "1", "occupancy": "full"}, rate, "rate",
                "GFLOP/s",
            )
            for mechanism, rate in (("plain", 4.0), ("barrier", 5.0), ("bulk", bulk))
        ]  # fmt: skip
        made = planted.measured(planted.microbenchmark("async_copy/intensity", rows))
        return gains(load([save(made)])).to_dict()

    assert found(6.0) == pytest.approx({"barrier": 1.25, "bulk": 1.5})
    assert found(12.0) == pytest.approx({"barrier": 1.25, "bulk": 3.0})


def test_what_one_block_more_costs_is_computed(save):
    rows = [
        planted.micro_row(
            {"function": "__viaddmax_s16x2_relu", "form": form, "blocks": str(blocks)},
            peak * blocks / (132 * -(-blocks // 132)), "throughput", "call/clk",
        )
        for form, peak in (("dpx", 8000.0), ("plain", 1000.0))
        for blocks in (33, 66, 132, 133, 264, 265)
    ]  # fmt: skip
    path = save(planted.measured(planted.microbenchmark("dpx/blocks", rows)))
    assert drops(load([path])) == pytest.approx({"dpx": 1 - 133 / 264, "plain": 1 - 133 / 264})


@pytest.mark.parametrize(
    ("high", "step"),
    [
        (12, "CUB's step 12 KiB"),
        (12.1, "CUB's step 16 KiB"),
        (64.5, "more than CUB's largest step"),
    ],
)
def test_bytes_in_flight_are_said_in_cubs_steps(high, step):
    knee = SimpleNamespace(value=11 * 1024, low=10.96 * 1024, high=high * 1024)
    assert in_cubs_form(knee) == f"11.0 KiB [11.0, {high:.1f}], {step}"
