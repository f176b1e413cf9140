"""What the figures show, not only that they can be drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.patches import Rectangle

from plots import expect, figures, style
from plots.errors import PlotsError
from plots.figures.common import milliseconds, ratio_axis, times
from plots.figures.heatmap import cell
from plots.load import load

MAIN = {"cache": "cold", "launch": "stream"}


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def heading(figure):
    return figure.get_suptitle()


def bars(ax):
    """label -> (x, y, low, high, filled) of every point with an interval, in drawing order."""
    found = []
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            line, _, (segments,) = container.lines
            (x,), (y,) = line.get_data()
            ends = segments.get_segments()[0]
            filled = to_hex(line.get_markerfacecolor()) == to_hex(line.get_color())
            found.append((container.get_label(), x, y, ends, filled))
    return found


def test_speedup_draws_each_comparison_where_it_belongs(paper):
    selected = paper.where(**MAIN)
    figure = figures.speedup(selected)
    assert [ax.get_title(loc="left").split(":")[0] for ax in figure.axes] == [
        "hotspot, iso", "hotspot, best", "pathfinder, iso", "pathfinder, best",
    ]  # fmt: skip
    assert heading(figure).endswith("NVIDIA H200, 2026-11-21; cold cache, stream launches")
    iso, best = figure.axes[:2]
    assert iso.get_ylabel() == "speed-up over baseline" and iso.get_yscale() == "log"
    assert [t.get_text() for t in iso.get_xticklabels()] == [
        "rows=1024\ncols=1024", "rows=4096\ncols=4096", "rows=8192\ncols=8192",
    ]  # fmt: skip
    points = bars(iso)
    assert len(points) == 5 * 3
    for label, x, y, ends, filled in points:
        assert y == pytest.approx(synthetic.TYPICAL[label][0]) and filled
        half = 0.02 if round(x) == 0 else 0.006
        assert ends[:, 1] == pytest.approx([y * np.exp(-half), y * np.exp(half)])
    # At 4096, three strategies of best have no comparison but say why.
    assert len(bars(best)) == 5 * 3 - 3
    written = [t.get_text() for t in best.texts]
    assert {"failed", "crashed", "skipped"} <= set(written)
    assert {"1.31×", "1.22×"} <= set(written)


def test_speedup_shows_what_is_not_resolved_as_hollow(paper):
    best = figures.speedup(paper.where(**MAIN)).axes[1]
    filled = {label: f for label, x, _, _, f in bars(best) if round(x) == 2}
    assert filled == {
        "register_bypass": False, "overlap": True, "drop_off": True, "tma": True, "dsm": True,
    }  # fmt: skip


def test_speedup_draws_the_noise_band(paper, load_groups):
    iso = figures.speedup(paper.where(**MAIN)).axes[0]
    bands = [p for p in iso.patches if isinstance(p, Rectangle)]
    assert len(bands) == 3
    assert bands[0].get_y() == pytest.approx(1.0004 * np.exp(-0.003))
    assert bands[0].get_height() == pytest.approx(1.0004 * 2 * np.sinh(0.003))
    assert "A/A 0.997 to 1.003" in [t.get_text() for t in iso.texts]
    without = load_groups(synthetic.group("nw", {"n": 64}, 1.0, control=False))
    assert not figures.speedup(without).axes[0].patches


def test_speedup_of_many_sizes_and_of_one_row(load_groups):
    groups = [synthetic.group("nw", {"n": 2**i}, 1.0, preset="sweep") for i in range(6, 16)]
    sweep = figures.speedup(load_groups(*groups)).axes[0]
    assert len(sweep.get_xticklabels()) == 10 and len(bars(sweep)) == 50
    noise = [t.get_text() for t in sweep.texts if "A/A" in t.get_text()]
    assert noise == ["A/A within 0.997 to 1.003"]  # once, where ten would overlap
    only = {"baseline": (1.0, 1.0), "tma": (3.0, 2.0)}
    one = figures.speedup(load_groups(synthetic.group("nw", {"n": 9}, 1.0, speedups=only)))
    assert [len(bars(ax)) for ax in one.axes] == [1, 1]


def test_speedup_says_once_that_no_strategy_ran(load_groups):
    groups = [synthetic.group("nw", {"n": n}, 1.0, seed=n) for n in (64, 128)]
    odd = groups[1]
    for i, row in enumerate(odd["rows"]):
        if row["role"] == "iso":
            odd["rows"][i] = synthetic.untimed_row(row["variant"], "iso", "skipped", "-")
    odd["comparisons"] = [c for c in odd["comparisons"] if c["role"] != "iso"]
    iso, best = figures.speedup(load_groups(*groups)).axes
    assert [t.get_text() for t in iso.texts if "skipped" in t.get_text()] == ["all skipped"]
    assert not any("skipped" in t.get_text() for t in best.texts)


def test_speedup_sums_up_the_controls_of_many_sizes(load_groups):
    def words(sizes):
        groups = [synthetic.group("nw", {"n": 64 * i}, 1.0, seed=i) for i in range(1, sizes + 1)]
        texts = [t.get_text() for t in figures.speedup(load_groups(*groups)).axes[0].texts]
        return [t for t in texts if t.startswith("A/A")]

    assert len(words(4)) == 4
    summed_up = words(5)
    assert len(summed_up) == 1 and summed_up[0].startswith("A/A within")


def test_speedup_without_comparisons_says_so(load_groups):
    group = synthetic.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1)}, control=False)
    with pytest.raises(PlotsError, match="hold no comparisons"):
        figures.speedup(load_groups(group))


def test_comparators_are_a_reference_and_no_strategy(load_groups):
    results = load_groups(synthetic.group("gemm", {"n": 64}, 1.0, comparator="cublas"))
    figure = figures.speedup(results)
    assert all(label != "cublas" for ax in figure.axes for label, *_ in bars(ax))
    iso, best = ([x for x in ax.lines if x.get_label() == "cublas"] for ax in figure.axes)
    assert not iso and [x.get_ydata()[0] for x in best] == [1.5] and best[0].get_linestyle() == "--"
    assert "cublas" in [t.get_text() for t in figure.legends[0].get_texts()]
    floor = figures.floor(results).axes[0]
    assert [t.get_text() for t in floor.get_yticklabels()][-1] == "cublas"


def test_heatmap_has_all_36_cells_twice_and_says_what_each_is(paper):
    built = {"gemm/tma", *(f"{a}/{s}" for a in ("hotspot", "pathfinder") for s in style.COLOURS)}
    figure = figures.heatmap(paper.where(**MAIN), built)
    iso, best, bar = figure.axes
    kinds = [p.get_label() for p in iso.patches]
    assert len(kinds) == 36 and kinds.count("reference") == 2
    assert kinds.count("not built") == 4 * 6 - 1 and kinds.count("not run") == 1
    assert kinds.count("faster") == 2 * 3 and kinds.count("slower") == 2 * 2
    assert [p.get_hatch() for p in iso.patches if p.get_label() == "not built"] == ["////"] * 23
    unresolved = [p for p in best.patches if p.get_label() == "not resolved"]
    assert len(unresolved) == 2
    assert all(to_hex(p.get_facecolor()) == "#ffffff" for p in unresolved)
    assert "1.00×\nnot resolved" in [t.get_text() for t in best.texts]
    assert [t.get_text().split("\n")[0] for t in iso.get_yticklabels()] == [
        "nw", "lud", "hotspot", "pathfinder", "histogram", "gemm",
    ]  # fmt: skip
    assert bar.get_ylabel() == "speed-up over baseline"


def test_heatmap_colours_are_symmetric_in_the_logarithm(load_groups):
    speedups = {"baseline": (1, 1), "overlap": (2.0, 1.0), "tma": (0.5, 4.0)}
    results = load_groups(synthetic.group("nw", {"n": 64}, 1.0, speedups=speedups))
    figure = figures.heatmap(results, set())
    mappable = figure.axes[2]._colorbar.mappable
    assert mappable.norm(np.log2(2.0)) - 0.5 == pytest.approx(0.5 - mappable.norm(np.log2(0.5)))


@pytest.mark.parametrize(("strategy", "kind"), [
    ("drop_off", "failed"), ("tma", "crashed"), ("dsm", "skipped"), ("overlap", "faster"),
    ("register_bypass", "not resolved"), ("baseline", "reference"),
])  # fmt: skip
def test_cells_of_rows_without_a_time(paper, strategy, kind):
    # Only the size with the odd rows, so that it is the main one.
    odd = paper.where(**MAIN, app="hotspot", size=next(
        s for s in paper.groups["size"] if "rows=4096" in s))  # fmt: skip
    assert cell(odd, "hotspot", strategy, "best", set())[0] == kind


def test_floor_bars_are_the_fractions(paper):
    figure = figures.floor(paper.where(**MAIN))
    assert len(figure.axes) == 6 and not figure.axes[5].get_visible()  # 5 panels in 2 columns
    ax = figure.axes[2]
    assert "hotspot, rows=8192 cols=8192\nfloor 0.460 ms, bound by memory traffic" in (
        ax.get_title(loc="left")
    )
    assert ax.get_xlabel() == "floor / time, %"
    widths = {c.get_label(): c.patches[0].get_width() for c in ax.containers}
    assert len(widths) == 12
    # baseline at best is 2.5 times its floor, tma 1.31 times faster, iso half of best.
    assert widths["baseline best"] == pytest.approx(40, rel=0.01)
    assert widths["tma best"] == pytest.approx(40 * 1.31, rel=0.01)
    assert widths["baseline iso"] == pytest.approx(20, rel=0.01)
    assert ax.get_xlim()[1] > 100
    assert "best: crashed" in [t.get_text() for t in figure.axes[1].texts]


def test_floor_beyond_100_percent_stays_visible(load_groups):
    group = synthetic.group("nw", {"n": 64}, 1.0, cache="hot")
    group["floor"].update(bytes_ms=1.5, floor_ms=1.5)
    ax = figures.floor(load_groups(group)).axes[0]
    longest = max(c.patches[0].get_width() for c in ax.containers)
    assert longest > 300 and ax.get_xlim()[1] > longest


def test_floor_without_ceilings_says_so(load_groups):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    group["floor"] = None
    with pytest.raises(PlotsError, match="no floors"):
        figures.floor(load_groups(group))


def markers(ax):
    """label -> (x, y, filled) of every single marker."""
    return {
        line.get_label(): (
            float(line.get_xdata()[0]), float(line.get_ydata()[0]),
            to_hex(line.get_markerfacecolor()) == to_hex(line.get_color()),
        )
        for line in ax.lines
        if len(line.get_xdata()) == 1
    }  # fmt: skip


def test_roofline_puts_rates_over_intensities_under_the_ceilings(paper):
    figure = figures.roofline(paper.where(**MAIN))
    (ax,) = figure.axes
    found = markers(ax)
    assert len(found) == 2 * 12  # hotspot and pathfinder at their main size, iso and best
    _, y, filled = found["hotspot overlap best"]
    cells = 8192 * 8192 * 5
    assert y == pytest.approx(3 * cells / (2.3 / 2 / 1.22) / 1e6, rel=0.01) and filled
    assert not found["hotspot overlap iso"][2]
    # Both do 3 operations on 5 bytes: the columns stand side by side around that.
    apps = {name: [x for at, (x, _, _) in found.items() if at.startswith(name)]
            for name in ("hotspot", "pathfinder")}  # fmt: skip
    assert max(apps["pathfinder"]) < min(apps["hotspot"]) or (
        max(apps["hotspot"]) < min(apps["pathfinder"])
    )
    centres = np.exp([np.mean(np.log(xs)) for xs in apps.values()])
    assert np.sqrt(centres.prod()) == pytest.approx(3 / 5)
    labels = texts(figure)
    assert {"hotspot\n0.6", "pathfinder\n0.6"} <= set(labels)
    assert "fp32 65.1 T/s" in labels
    assert any(t.startswith("device memory, copy 4.28 TB/s") for t in labels)
    # The slope ends where it meets the highest level.
    ends = [line.get_xydata()[-1] for line in ax.lines]
    assert any(end == pytest.approx([65100 / 4280, 65100]) for end in ends)
    # The bar at what the floor allows: 2.5 times what baseline reaches at best.
    (bar,) = [line for line in ax.lines if line.get_label() == "hotspot floor"]
    assert bar.get_ydata()[0] == pytest.approx(2.5 * 3 * cells / (2.3 / 2) / 1e6)


def test_roofline_has_a_column_per_mode_of_arithmetic(load_groups):
    sizes = [{"m": m, "mode": mode} for m, mode in ((64, "fp32"), (128, "fp32"), (64, "bf16"))]
    groups = [synthetic.group("gemm", size, 1.0, comparator="cublas") for size in sizes]
    groups[2]["preset"] = "quick"
    figure = figures.roofline(load_groups(*groups))
    labels = {t.split("\n")[1] for t in texts(figure) if t.startswith("gemm")}
    assert labels == {"fp32", "bf16"}
    assert "gemm\nfp32 cublas comparator" in markers(figure.axes[0])


def test_roofline_without_times_or_ceilings(load_groups, save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    document = synthetic.document([group])
    document["ceilings"] = []
    assert len(markers(figures.roofline(load([save(document)])).axes[0])) == 12
    for row in group["rows"]:
        row.update(status="crashed", reason="x", time_ms=None, gflops=None)
    with pytest.raises(PlotsError, match="no times"):
        figures.roofline(load([save(synthetic.document([group]))]))


def test_samples_show_every_sample_and_mark_throttled_ones(paper):
    group = paper.groups[
        (paper.groups["app"] == "pathfinder")
        & (paper.groups["size_label"] == "rows=10000 cols=10000")
    ].iloc[0]["group"]
    strip, drift = figures.samples(paper, group).axes
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
    strip = figures.samples(results, results.groups.iloc[0]["group"]).axes[0]
    notes = [t.get_text() for t in strip.texts]
    assert any(re.fullmatch(r"1 beyond, to \+(299|30[0-9]|29[0-9]) %", note) for note in notes), (
        notes
    )
    assert strip.get_xlim()[1] < 20  # the outlier does not squash the others


def test_launch_costs_pair_stream_and_graph(paper):
    costs = figures.launch_costs(paper)
    assert set(costs["cache"]) == {"cold", "hot"}
    of = costs[(costs["app"] == "pathfinder") & (costs["role"] == "iso")]
    assert of["ratio"].to_numpy() == pytest.approx(1.25, rel=0.01) and of["resolved"].all()
    hotspot = costs[costs["app"] == "hotspot"]
    assert hotspot["ratio"].to_numpy() == pytest.approx(1.0, rel=0.01)
    assert not hotspot["resolved"].any()
    # 12 rows in 5 sizes and 2 cache modes, less the three that did not run at one.
    assert len(costs) == 12 * 5 * 2 - 3


def test_launch_figure(paper):
    figure = figures.launch(paper.where(cache="cold"))
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in shown][
        -1
    ] == "pathfinder, rows=1000 cols=1000000, cold"
    ax = shown[-1]
    assert len(bars(ax)) == 12 and ax.get_xlabel() == "time in a stream / time in a graph"
    filled = {t.get_text(): f for t, (*_, f) in zip(ax.get_yticklabels(), bars(ax), strict=True)}
    assert filled["tma iso"] and not filled["tma best"]
    with pytest.raises(PlotsError, match="both in a stream and in a graph"):
        figures.launch(paper.where(launch="stream"))


def test_expectation_figure_shows_the_paper():
    figure = figures.expectation(expect.published_table(), "source of it")
    (ax,) = figure.axes
    assert "source of it" in heading(figure)
    assert [t.get_text() for t in ax.get_yticklabels()][2] == "A100 over V100"
    assert "expected 1.38, measured 1.34" in [t.get_text() for t in ax.texts]
    expected = [line for line in ax.lines if line.get_label() == "expected"]
    assert [line.get_xdata()[0] for line in expected] == pytest.approx(
        expect.published_table()["expected"].tolist()
    )
    inks = [to_hex(c.lines[0].get_color()) for c in ax.containers]
    short = style.ALARM_COLOUR.lower()
    assert [ink == short for ink in inks] == [False, False, True, True, False, True]


def test_balance_figure_has_each_gpu_in_both_precisions():
    specs = expect.datasheet_specs()
    figure = figures.balance(specs, "datasheets")
    balance, density = figure.axes
    points = [line for line in balance.lines if line.get_label() == "fp32"]
    assert [line.get_xdata()[0] for line in points] == [s.balance() for s in specs]
    with_fp64 = [s for s in specs if np.isfinite(s.fp64_tflops)]
    assert len([x for x in density.lines if x.get_label() == "fp64"]) == len(with_fp64) < len(specs)
    assert "bytes per FLOP" in balance.get_xlabel() and "GFLOP/s per mm²" in density.get_xlabel()


def test_generations_figure_has_every_matching_row(save):
    from test_plots_expect import two_gpus

    measured = expect.compare(*two_gpus(save))
    figure = figures.generations(measured, "two dates")
    assert heading(figure) == "NVIDIA H200 over NVIDIA A100-SXM4-40GB\ntwo dates"
    assert [len(bars(ax)) for ax in figure.axes] == [6, 6]
    for ax in figure.axes:
        lines = sorted(line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1
                       and len(line.get_xdata()) == 2)  # fmt: skip
        assert lines == pytest.approx([2.5, 4800 / 1555])
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "expected, measured ceilings: 2.50" in labels and "expected, datasheets: 3.09" in labels


@pytest.mark.parametrize("ends", [(0.999, 1.001), (0.97, 1.3), (0.5, 2.2), (0.9, 30), (0.001, 5)])
def test_ratio_axes_have_a_few_plain_ticks_and_contain_everything(ends):
    figure = style.new_figure(3, 3)
    ax = figure.subplots()
    ratio_axis(ax, ends)
    low, high = ax.get_ylim()
    assert low < ends[0] and high > ends[1]
    ticks = [t for t in ax.get_yticks() if low <= t <= high]
    assert 1 in ticks and 1 <= len(ticks) <= 12


def test_numbers_as_people_read_them():
    assert [milliseconds(v) for v in (0.0137, 0.115, 2.0, 234.4, 5600.0, np.nan)] == [
        "13.7 µs", "0.115 ms", "2.00 ms", "234 ms", "5.60 s", "–",
    ]  # fmt: skip
    assert [times(v) for v in (1.184, 12.34, 250.0)] == ["1.18×", "12.3×", "250×"]


def test_saved_files(paper, tmp_path):
    figure = figures.speedup(paper.where(**MAIN))
    svg, png = tmp_path / "new" / "a.svg", tmp_path / "a.png"
    style.save(figure, svg, "what it is")
    style.save(figure, png)
    assert png.read_bytes().startswith(b"\x89PNG")
    root = ElementTree.parse(svg).getroot()
    assert root.tag.endswith("svg") and "what it is" in svg.read_text(encoding="utf-8")
    again = tmp_path / "b.svg"
    style.save(figures.speedup(paper.where(**MAIN)), again, "what it is")
    assert again.read_bytes() == svg.read_bytes()  # same data, same file


def test_inline_svg_stands_alone(paper):
    text = style.inline_svg(figures.floor(paper.where(**MAIN)), "f1", 'a "label" & more')
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img" and root.get("aria-label") == 'a "label" & more'
    assert root.get("width") is None and root.get("viewBox")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert ids and all(i.startswith("f1-") for i in ids) and len(ids) == len(set(ids))
    for used in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
        assert used in ids
