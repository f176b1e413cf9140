"""Figures: what must be seen in each, that it can be read, and how it is saved."""

import os
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import planted
import pytest
from drawn import bars, faults_of, markers, texts
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from plots import processes
from plots.commands.figure import drawable
from plots.data.load import Results, load
from plots.data.selection import Selection
from plots.data.strategies import NAMES, ROOT
from plots.errors import PlotsError
from plots.figures import FIGURES, of_microbenchmarks, style
from plots.figures.async_copy import gains
from plots.figures.dpx_blocks import drops
from plots.figures.memory import in_cubs_form
from plots.figures.roofline import roofline
from plots.figures.speedup import speedup
from plots.figures.svedin import expectation, programs, times_of_programs
from plots.papers import expect
from plots.report import embedded
from plots.report.chapters.generations import generations
from plots.report.heatmap import cell, heatmap
from plots.report.verdicts import verdicts

# --- Of each figure -------------------------------------------------------------------------------

MAIN = {"cache": "cold", "launch": "stream"}
OF_MICROBENCHMARKS = [kind for kind in FIGURES.values() if kind.microbenchmark]


@pytest.mark.parametrize("kind", OF_MICROBENCHMARKS, ids=lambda kind: kind.name)
def test_without_its_microbenchmark_it_is_left_out_and_says_so(paper, kind):
    assert of_microbenchmarks(paper) == []
    with pytest.raises(PlotsError, match="nothing to draw"):
        kind.draw_points(paper)


def test_the_listing_names_each_in_order(ran):
    listed = [line.split()[0] for line in ran(0, "figure", "--list").out.splitlines()]
    assert listed == drawable() and set(listed) == set(FIGURES) and listed[0] == "heatmap"
    orders = [FIGURES[name].order for name in listed]
    assert len(orders) == len(set(orders)) and len(OF_MICROBENCHMARKS) == 7


# --- Legible, measured on the record and on planted faults ----------------------------------------

NEWEST, OTHER = "NVIDIA H200", "NVIDIA H100 80GB HBM3"


@pytest.fixture(scope="module")
def recorded(record: Results) -> dict[str, Results]:
    """The results of each GPU."""
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
    (measured,) = expect.compare_all([tuple(recorded.values())])
    assert faults_of(generations(measured, "2026-11-22")) == []


@pytest.mark.parametrize("name", ["latency", "dpx_blocks"])
def test_a_figure_that_is_squeezed_cannot(recorded, name):
    figure = drawn(recorded[NEWEST], name)
    figure.set_size_inches(3.4, 3.4 * figure.get_figheight() / figure.get_figwidth())
    found = faults_of(figure)
    assert any("outside of the canvas" in fault for fault in found)
    assert any("overlap" in fault for fault in found)


# --- What must be seen ----------------------------------------------------------------------------


def test_programs_are_timed_at_the_papers_input_alone(save):
    twice = {"baseline": (1.0, 1.0), "tma": (1.0, 2.0)}
    groups = [
        planted.group("lud", {"n": n}, base, speedups=twice, launch=launch)
        for n, base, launch in ((16384, 80, "stream"), (8192, 10, "stream"), (16384, 70, "graph"))
    ]
    results = load([save(planted.document(groups))])
    (program,) = times_of_programs(results).itertuples()
    assert (program.program, program.launch) == ("LUD", "stream")
    assert program.original == pytest.approx(80, rel=0.02)
    assert program.fastest == pytest.approx(20, rel=0.02)
    assert programs(results).get_suptitle().startswith("1 of the 15 programs")


def test_expectation_figure_shows_what_stays_below_by_shape_word_and_colour():
    table = expect.published_table()
    (ax,) = expectation(table).axes
    expected = [line.get_xdata()[0] for line in ax.lines if line.get_label() == "expected"]
    assert expected == pytest.approx(table["expected"].tolist())
    assert "expected 1.38, measured 1.34, below" in texts(ax.figure)
    shapes, inks = {}, {}
    for container in ax.containers:
        line = container.lines[0]
        (mean,) = line.get_xdata()
        row = table[table["measured_mean"] == mean].iloc[0]
        below = bool(row["measured_mean"] < row["expected"])
        shapes.setdefault(below, set()).add(line.get_marker())
        inks.setdefault(below, set()).add(to_hex(line.get_color()))
    assert inks[True] == {style.ALARM_COLOUR.lower()} and not inks[True] & inks[False]
    assert len(shapes) == 2 and not shapes[True] & shapes[False]
    said = [text for text in texts(ax.figure) if text.endswith(", below")]
    assert len(said) == int((table["measured_mean"] < table["expected"]).sum()) > 0


def test_a_case_shows_hardware_and_best_on_best_beside_what_was_expected(two_gpus):
    (measured,) = expect.compare_all([two_gpus()])
    figure = generations(measured, "two dates")
    assert figure.get_suptitle() == "NVIDIA H200 over NVIDIA A100-SXM4-40GB\ntwo dates"
    (ax,) = figure.axes
    ((app, ratio, _, ends, _),) = bars(ax)
    best = measured.best.iloc[0]
    assert (app, ratio) == ("nw", pytest.approx(best["ratio"]))
    assert ends[:, 0] == pytest.approx([best["low"], best["high"]])
    dots = [x.get_xdata()[0] for x in ax.lines if x.get_marker() == "o"]
    assert dots == [pytest.approx(best["hardware"])]
    expected = [x.get_xdata()[0] for x in ax.lines if x.get_linestyle() in ("-", "--")
                and len(x.get_xdata()) == 2]  # fmt: skip
    assert expected == pytest.approx([2.5, 4800 / 1555])
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "expected, measured ceilings: 2.50" in labels and "expected, datasheets: 3.09" in labels


def test_a_row_is_a_verdict_and_its_winners_are_framed(load_groups):
    """gemm has a row for each arithmetic; a tie frames several, a baseline that wins itself."""
    sizes = [{"m": 64, "mode": mode} for mode in ("fp32", "bf16")]
    slow = {"baseline": (1, 1), "tma": (0.8, 0.8)}
    results = load_groups(
        *(planted.group("gemm", size, 1.0) for size in sizes),
        planted.group("lud", {"n": 64}, 1.0, speedups=slow),
    )
    ax, bar = heatmap(results).axes
    rows = [t.get_text().split("\n")[0] for t in ax.get_yticklabels()]
    assert rows == ["gemm fp32", "gemm bf16", "lud"]
    columns = [t.get_text().replace("\n", "") for t in ax.get_xticklabels()]
    framed = {
        (rows[round(p.get_y() + 0.43)], columns[round(p.get_x() + 0.45)])
        for p in ax.patches
        if p.get_label() == "winner"
    }
    assert framed == {(v.label, name) for v in verdicts(results) for name in v.winners}
    assert ("lud", "baseline") in framed and len(framed) == 3
    assert bar.get_ylabel() == "faster or slower than baseline"


def test_a_cell_without_a_claim_has_no_colour(paper):
    ax = heatmap(paper.where(**MAIN)).axes[0]
    undecided = [p for p in ax.patches if p.get_label() == "not resolved"]
    assert undecided and all(to_hex(p.get_facecolor()) == "#ffffff" for p in undecided)
    assert "(1.00×)" in [t.get_text() for t in ax.texts]


@pytest.mark.parametrize(("strategy", "kind"), [
    ("drop_off", "failed"), ("tma", "crashed"), ("dsm", "skipped"), ("overlap", "faster"),
    ("register_bypass", "not resolved"), ("baseline", "reference"),
])  # fmt: skip
def test_cells_of_rows_without_a_time(paper, strategy, kind):
    # Only the size with the odd rows, so that it is the main one.
    odd = paper.where(**MAIN, app="hotspot", size=next(
        s for s in paper.groups["size"] if "rows=4096" in s))  # fmt: skip
    (verdict,) = verdicts(odd)
    assert cell(odd, verdict, strategy).kind == kind


def test_roofline_puts_rates_over_intensities_under_the_ceilings(paper):
    (ax,) = roofline(paper.where(**MAIN)).axes
    found = markers(ax)
    assert len(found) == 2 * 12  # hotspot and pathfinder at their main size, iso and best
    _, y, filled = found["hotspot overlap best"]
    cells = 8192 * 8192 * 5
    assert y == pytest.approx(3 * cells / (2.3 / 2 / 1.22) / 1e6, rel=0.01) and filled
    assert not found["hotspot overlap iso"][2]
    # Both do 3 operations on 5 bytes: the columns stand side by side around that.
    apps = [[x for at, (x, _, _) in found.items() if at.startswith(name)]
            for name in ("hotspot", "pathfinder")]  # fmt: skip
    first, second = sorted(apps, key=min)
    assert max(first) < min(second)
    centres = np.exp([np.mean(np.log(xs)) for xs in apps])
    assert np.sqrt(centres.prod()) == pytest.approx(3 / 5)
    # The slope ends where it meets the highest level.
    ends = [line.get_xydata()[-1] for line in ax.lines]
    assert any(end == pytest.approx([65100 / 4280, 65100]) for end in ends)
    # The bar at what the floor allows.
    of_size = paper.groups[paper.groups["size_label"] == "rows=8192 cols=8192"]
    (bar,) = [line for line in ax.lines if line.get_label() == "hotspot floor"]
    assert bar.get_ydata()[0] == pytest.approx(3 * cells / of_size["floor_ms"].iloc[0] / 1e6)


def test_roofline_has_a_column_per_mode_of_arithmetic(load_groups):
    sizes = [{"m": m, "mode": mode} for m, mode in ((64, "fp32"), (128, "fp32"), (64, "bf16"))]
    groups = [planted.group("gemm", size, 1.0, comparator="cublas") for size in sizes]
    groups[2]["preset"] = "quick"
    figure = roofline(load_groups(*groups))
    assert {t.split("\n")[1] for t in texts(figure) if t.startswith("gemm")} == {"fp32", "bf16"}
    assert "gemm\nfp32 cublas comparator" in markers(figure.axes[0])


def test_speedup_draws_each_comparison_where_it_belongs(paper):
    figure = speedup(paper.where(**MAIN))
    assert [ax.get_title(loc="left").split(":")[0] for ax in figure.axes] == [
        "hotspot, iso", "hotspot, best", "pathfinder, iso", "pathfinder, best",
    ]  # fmt: skip
    assert figure.get_suptitle().endswith("NVIDIA H200, 2026-11-21; cold cache, stream launches")
    iso, best = figure.axes[:2]
    assert [t.get_text() for t in iso.get_xticklabels()] == [
        "rows=1024\ncols=1024", "rows=4096\ncols=4096", "rows=8192\ncols=8192",
    ]  # fmt: skip
    points = bars(iso)
    assert len(points) == 5 * 3
    for label, x, y, ends, filled in points:
        assert y == pytest.approx(planted.TYPICAL[label][0]) and filled
        half = 0.02 if round(x) == 0 else 0.006
        assert ends[:, 1] == pytest.approx([y * np.exp(-half), y * np.exp(half)])
    # At 4096, three strategies of best have no comparison but say why; hollow is not resolved.
    assert len(bars(best)) == 5 * 3 - 3
    written = [t.get_text() for t in best.texts]
    assert any("1 failed" in t and "1 crashed" in t and "1 skipped" in t for t in written)
    hollow = {label for label, x, _, _, filled in bars(best) if round(x) == 2 and not filled}
    assert hollow == {"register_bypass"}


def test_comparators_are_a_reference_and_no_strategy(load_groups):
    figure = speedup(load_groups(planted.group("gemm", {"n": 64}, 1.0, comparator="cublas")))
    assert all(label != "cublas" for ax in figure.axes for label, *_ in bars(ax))
    iso, best = ([x for x in ax.lines if x.get_label() == "cublas"] for ax in figure.axes)
    assert not iso and [x.get_ydata()[0] for x in best] == [pytest.approx(1.5)]
    assert best[0].get_linestyle() == "--"
    assert "cublas" in [t.get_text() for t in figure.legends[0].get_texts()]


def simulated(hex_colour, matrix):
    """The colour as a dichromat sees it: Vienot, Brettel, Mollon 1999, on linear RGB."""
    rgb = [int(hex_colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    return [sum(m * v for m, v in zip(row, linear, strict=True)) for row in matrix]


def test_colours_are_told_apart_by_colour_blind_readers():
    protan = [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]
    deutan = [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]
    for matrix in (protan, deutan):
        seen = [simulated(style.colour(n), matrix) for n in NAMES]
        for i, a in enumerate(seen):
            for b in seen[i + 1 :]:
                assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 0.1


# --- Saved, and in a page -------------------------------------------------------------------------


def test_the_same_data_are_the_same_file(paper, tmp_path):
    for name in "ab":
        style.save(speedup(paper.where(**MAIN)), tmp_path / "new" / f"{name}.svg", "what it is")
    one, other = sorted((tmp_path / "new").iterdir())
    assert one.read_bytes() == other.read_bytes()
    assert "what it is" in "".join(ElementTree.parse(one).getroot().itertext())


def of_text(text):
    def draw():
        if text == "nothing":
            raise PlotsError("nothing to draw")
        figure = style.new_figure(1)
        figure.text(0.5, 0.5, text or f"process {os.getpid()}")
        return figure

    return draw


def test_any_number_of_processes_draws_the_same(monkeypatch):
    pictures = {text: of_text(text) for text in ("one", "two", "nothing")}
    monkeypatch.setattr(processes, "cores", lambda: 1)
    alone = embedded.draw_all(pictures)
    assert alone["nothing"] == "nothing to draw"
    assert ">one<" in alone["one"] and alone["one"].startswith("<svg ")
    monkeypatch.setattr(processes, "cores", lambda: 2)
    assert embedded.draw_all(pictures) == alone
    elsewhere = embedded.draw_all({name: of_text("") for name in "ab"})
    assert all(f"process {os.getpid()}" not in svg for svg in elsewhere.values())


# --- Of microbenchmarks, of the record: what must be seen, and the numbers in their prose ---------

KINDS = {kind.name: kind for kind in FIGURES.values() if kind.microbenchmark}


def results_of(kind):
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
    panels = KINDS[name].draw_points(results_of(KINDS[name])).axes
    for ax, (scales, curves, text) in zip(panels, SEEN[name], strict=True):
        assert f"{ax.get_xscale()} {ax.get_yscale()}" == scales
        legend = ax.get_legend()
        shown = [t.get_text() for t in legend.get_texts()] if legend else []
        shown = ", ".join(shown or ax.get_legend_handles_labels()[1])
        assert shown == curves or re.fullmatch(curves, shown), shown
        assert not text or any(re.fullmatch(text, t.get_text()) for t in ax.texts)


def test_what_is_drawn_are_the_points():
    (ax,) = KINDS["latency"].draw_points(results_of(KINDS["latency"])).axes
    points = results_of(KINDS["latency"]).points
    at = points["at"].map(lambda at: (at.get("method"), at.get("hint")))
    ladder = points[(points["microbenchmark"] == "memory/latency") & (at == ("ladder", "cg"))]
    assert sorted(ladder["median"]) == sorted(ax.containers[1].lines[0].get_ydata())
    (ax,) = KINDS["tensor_energy"].draw_points(results_of(KINDS["tensor_energy"])).axes
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
