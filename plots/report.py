"""One self-contained report.html: figures with the prose that explains them, every row, provenance.

Works with the results of one or several GPUs. Nothing in it refers to anything outside the file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from plots import expect, figures
from plots.advise import Advice, advise, by_mode, from_size_on
from plots.errors import PlotsError
from plots.figures.common import milliseconds, origin, times
from plots.load import Results, main_cache, main_launch, main_size, slug
from plots.strategies import BY_NAME, STRATEGIES, built_variants
from plots.style import inline_svg

# More sample figures than this make the file slow to open; the rest can be drawn one by one.
MAX_SAMPLE_FIGURES = 16

_LAUNCHES = {"stream": "stream launches", "graph": "graph launches"}


_LATENCY = (
    "Each plateau is a level. The first ends where L1 does: shared memory takes the rest of the "
    "same array. On the next, ld.ca and ld.cg agree, because both are answered by the L2, and so "
    "does ld.cv: it passes L1, not the L2. Where an L2 is built of two halves that each keep a "
    "copy of what their SMs read, it begins to end at half its size, and rises once more where "
    "not even one copy fits. From there on it is device memory; the last slow rise is the reach "
    "of the TLB."
)
_IN_FLIGHT = (
    "The left part is Little's law: bytes in flight over latency. It bends where the bandwidth is"
    " reached, and what a kernel has in flight per SM should lie right of the bend. More words "
    "per thread bend later, because a thread waits for all of its words before it asks again: the"
    " bytes in flight are then a maximum, not a mean. In the L2 a block returns to the same "
    "addresses in every pass, so how many of its words lie in the far half depends on the "
    "geometry, and the curves scatter near their top."
)
_PERSISTENCE = (
    "Between the lowest curve, where nothing disturbs the region, and the one behind the stream "
    "without a window lies what a window can save. A window keeps a line in one half of an L2 of "
    "two, so that it lies above the lowest curve from the start: undisturbed, a half also keeps "
    "copies of what its own SMs read from the other, for as long as the region fits twice, which "
    "is where the lowest curve bends. The window's curve bends where the region no longer fits "
    "into the set-aside. Lines that persist by chance as often as there is room for them (the "
    "share that fits) are no better than all lines in turn: on an H200 the two agree within 2 %."
)
_ASYNC_COPY = (
    "Panel a: left of the ridge every line is the memory's, right of it the arithmetic's. With all "
    "blocks that fit, other blocks hide the latency and plain copies already lie on the roof; what "
    "is left is the corner, where a block that waits does not compute: there the ways that overlap "
    "gain about a tenth, and some of it stays, because they have a barrier less per tile. With one "
    "block per SM (hollow) plain copies leave the roof: nobody has a load under way while all "
    "compute. Waiting at once (register_bypass) gains nothing anywhere: it saves registers, not "
    "time. Panels b and c: the smaller the tile, the more of the time is bookkeeping. The "
    "arrive/wait barriers feel it most, two waits and two arrivals of every warp for each tile; "
    "the pipeline, with one block barrier, hardly minds. Panel d is the same as the gap between "
    "filled and hollow in panel a."
)
_WGMMA_N = (
    "What the widths of the units allow, to hold the curves against. Right: a wgmma occupies the "
    "tensor cores for n / 2 cycles, and shared memory gives 128 bytes a cycle: 16 cycles for A and "
    "n / 4 for B. With both in shared memory the next one can therefore start after the larger of "
    "n / 2 and 16 + n / 4 cycles, which cross at n = 64; with A in registers only B is read, but "
    "none starts sooner than 14 cycles after another (H200). A sum can be read later than the next "
    "one can start: several must be under way, or the tensor cores idle. Left: the same as a rate. "
    "More warpgroups help only where a single one does not keep several under way, never against "
    "shared memory. An SM's registers hold four of them; at n = 256 three, or two where A is in "
    "registers as well. Where the curves bend at the top, the power limit lowers the clock. A "
    "sparse product reads twice the k of B: "
    "16 + n / 2 cycles, so that from shared memory it never reaches twice the rate."
)
_TENSOR_ENERGY = (
    "One over operations per joule, from the samples of power and rate written beside each bar. "
    "Zeros toggle few bits: wgmma draws a third of the watts at a somewhat higher rate, while "
    "random data bring most types to the board's power limit, where the clock gives way. A sparse "
    "product counts the zeros that it skips. "
    "Power is that of the board, at rest included, which a slower instruction bears for longer."
)
_DSM_RING = (
    "A load from another SM takes about 200 cycles, so up to the bend at 4 KiB per SM the bandwidth"
    " is what is under way over that: more threads, more loads of a thread or wider ones are the "
    "same. 16 KiB reach the most, in pairs 16 to 17 bytes per clock and SM. Clusters of four and "
    "more carry a quarter less: each SM a sixth less, because more of them share the paths, and "
    "SMs stay empty that do not make up a whole cluster. Past 32 KiB more is less: requests queue "
    "up in front of each other, which pairs hardly feel and larger clusters pay with a quarter."
)


_DPX_BLOCKS = (
    "Blocks are handed to SMs whole. If one block of 1024 threads fills the pipe that does these "
    "instructions, the throughput must grow in proportion up to one block per SM; one block more "
    "has to share an SM, the others wait for that one, and what is done per cycle falls by up to "
    "half, then climbs again: the teeth that Luo et al. report at multiples of the number of SMs. "
    "They infer a unit in each SM. The plain form, an ordinary mixture of integer instructions, "
    "has the same teeth on an H200: the figure shows how blocks are handed out, not where the unit "
    "is."
)


@dataclass(frozen=True)
class Picture:
    """A figure ready to stand in HTML; ``reason`` instead of ``svg`` when it could not be drawn."""

    label: str
    svg: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Mode:
    """A cache and launch mode with its speed-up figure."""

    label: str
    picture: Picture


@dataclass(frozen=True)
class GpuSection:
    """Everything the report says about one GPU."""

    gpu: str
    anchor: str
    origin: str
    specification: str
    headlines: list[str]
    noise: list[dict[str, Any]]
    noise_summary: str
    main_mode: tuple[str, str]
    warnings: list[str]
    ceilings: list[dict[str, Any]]
    main: Mode
    others: list[Mode]
    heatmap: Picture
    floor: Picture
    roofline: Picture
    launch: Picture
    launch_ceilings: str
    advice: list[tuple[str, list[Advice], str]]
    quotes: list[dict[str, Any]]
    samples: list[tuple[str, Picture]]
    samples_left_out: int
    absent: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    files: list[dict[str, Any]] = field(default_factory=list)
    microbenchmarks: list[tuple[str, Picture]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)


def _picture(name: str, label: str, draw: Callable[[], Figure]) -> Picture:
    try:
        return Picture(label, inline_svg(draw(), name, label))
    except PlotsError as error:
        return Picture(label, reason=str(error))


def mode_name(cache: str, launch: str) -> str:
    """ "cold cache, stream launches"."""
    return f"{cache} cache, {_LAUNCHES[launch]}"


def _headline(advice: Advice) -> str:
    return f"{advice.app}, {advice.size_label}: {advice.sentence()}"


def _noise(results: Results) -> list[dict[str, Any]]:
    controls = results.comparisons[results.comparisons["control"]]
    return controls.sort_values(["app", "bytes", "cache", "launch", "role"]).to_dict("records")


def _noise_summary(results: Results) -> str:
    controls = results.comparisons[results.comparisons["control"]]
    if controls.empty:
        return ""
    wrong = int(controls["resolved"].sum())
    return (
        f"All intervals together reach from {controls['low'].min():.4f} to "
        f"{controls['high'].max():.4f}; "
        + (
            f"{wrong} of {len(controls)} controls differ from themselves, which only a disturbed "
            "machine explains."
            if wrong
            else "no control differs from itself."
        )
    )


def collect_warnings(results: Results) -> list[str]:
    """Everything that a reader must know before believing a number, as sentences."""
    found = []
    for f in results.files.itertuples():
        if f.dirty:
            found.append(f"{f.path} was made from sources with uncommitted changes.")
    for g in results.groups.itertuples():
        where = f"{g.app}, {g.size_label}, {mode_name(g.cache, g.launch)}"
        found += [f"{where}: {text}" for text in g.warnings]
        if not g.launch_blocked:
            found.append(
                f"{where}: too many launches to queue behind the blocking kernel; gaps between "
                "launches are part of the time."
            )
    uncontrolled = set(results.groups["group"]) - set(
        results.comparisons.loc[results.comparisons["control"], "group"]
    )
    if uncontrolled:
        found.append(
            f"{len(uncontrolled)} of {len(results.groups)} groups have no A/A control: their "
            "differences may be noise of the machine."
        )
    for row in results.rows[results.rows["fallback"] != ""].drop_duplicates("variant").itertuples():
        found.append(f"{row.variant} fell back: {row.fallback}")
    spilled = results.rows[results.rows["local_bytes"] > 0].drop_duplicates(["variant", "config"])
    for row in spilled.itertuples():
        found.append(
            f"{row.variant} ({row.config}) keeps {row.local_bytes:.0f} B a thread in local memory."
        )
    return found


def _quotes(results: Results, apps: set[str]) -> list[dict[str, Any]]:
    """What the paper reports of a strategy beside what was measured here at the main size."""
    records = []
    for quote in expect.strategy_quotes().itertuples():
        if quote.app not in apps:
            continue
        found = results.comparisons
        found = found[(found["app"] == quote.app) & (found["strategy"] == quote.strategy)]
        found = found[found["size"] == main_size(results.groups, quote.app)]
        ours = {c.role: c for c in found[~found["control"]].itertuples()}
        ends = dict.fromkeys((f"{quote.low:.2f}", f"{quote.high:.2f}"))
        records.append(
            {
                "app": quote.app,
                "strategy": quote.strategy,
                "paper": " to ".join(ends),
                "remark": quote.remark,
                "iso": ours.get("iso"),
                "best": ours.get("best"),
            }
        )
    return records


def _specification(gpu: str) -> str:
    spec = expect.spec_of_driver(gpu)
    if spec is None:
        return "No datasheet of this GPU is among the suite's specifications."
    return (
        f"{spec.architecture}, {spec.sms} SMs; its datasheet promises {spec.bandwidth_gb_s:g} GB/s "
        f"and {spec.fp32_tflops:g} TFLOP/s in fp32, {spec.balance():.3f} bytes per FLOP."
    )


def _launch_ceilings(results: Results) -> str:
    values = results.ceilings.drop_duplicates("name", keep="last").set_index("name")["value"]
    if not {"launch_stream_us", "launch_graph_us"} <= set(values.index):
        return ""
    return (
        f"An empty launch cost {values['launch_stream_us']:.2f} µs in a stream and "
        f"{values['launch_graph_us']:.2f} µs in a graph."
    )


def _microbenchmarks(mine: Results, anchor: str) -> list[tuple[str, Picture]]:
    """The figures of what was measured, each with the paragraph that explains it."""
    drawn = []
    for name, draw, text in (
        ("memory/latency", figures.latency, _LATENCY),
        ("memory/in_flight", figures.in_flight, _IN_FLIGHT),
        ("memory/persistence", figures.persistence, _PERSISTENCE),
        ("async_copy/intensity", figures.async_copy, _ASYNC_COPY),
        ("tensor_core/wgmma_n", figures.wgmma_n, _WGMMA_N),
        ("tensor_core/energy", figures.tensor_energy, _TENSOR_ENERGY),
        ("dsm/ring_copy", figures.dsm_ring, _DSM_RING),
        ("dpx/blocks", figures.dpx_blocks, _DPX_BLOCKS),
    ):
        if (mine.points["microbenchmark"] == name).any():
            label = f"{name} on {mine.points.iloc[0]['gpu']}"
            picture = _picture(f"{anchor}-{name.replace('/', '-')}", label, lambda d=draw: d(mine))
            drawn.append((text, picture))
    return drawn


def _gpu_section(results: Results, gpu: str) -> GpuSection:
    mine = results.where(gpu=gpu)
    anchor = slug(gpu)
    if mine.groups.empty:
        raise PlotsError(f"the result files of {gpu} hold no comparison group")
    cache, launch = main_cache(mine.groups), main_launch(mine.groups)
    main = mine.where(cache=cache, launch=launch)
    built = built_variants() | {
        name for provenance in mine.files["provenance"] for name in provenance["sources"]
    }
    modes = [
        (c, m)
        for c, m in itertools.product(("cold", "hot"), ("stream", "graph"))
        if (c, m) != (cache, launch) and len(mine.where(cache=c, launch=m).groups)
    ]

    def speedup(c: str, m: str) -> Mode:
        label = mode_name(c, m)
        return Mode(
            label,
            _picture(
                f"{anchor}-speedup-{c}-{m}",
                f"Speed-up of each strategy over baseline on {gpu}, {label}",
                lambda: figures.speedup(mine.where(cache=c, launch=m)),
            ),
        )

    main_sizes = {app: main_size(main.groups, app) for app in sorted(set(main.groups["app"]))}
    advice = advise(mine)
    headlines = [
        _headline(a)
        for a in advice
        if (a.cache, a.launch) == (cache, launch) and a.size == main_sizes.get(a.app)
    ]
    ranked = mine.groups.assign(
        rank=[
            (g.cache != cache) + (g.launch != launch) + 2 * (g.size != main_sizes.get(g.app))
            for g in mine.groups.itertuples()
        ]
    ).sort_values(["rank", "app", "bytes"], kind="stable")
    timed = set(mine.rows.loc[mine.rows["median"].notna(), "group"])
    drawable = ranked[ranked["group"].isin(timed)]
    samples = [
        (
            f"{g.app}, {g.size_label}, {mode_name(g.cache, g.launch)}",
            _picture(
                f"{anchor}-samples-{i}",
                f"All samples of {g.app}, {g.size_label} on {gpu}",
                lambda group=g.group: figures.samples(mine, group),
            ),
        )
        for i, g in enumerate(drawable.head(MAX_SAMPLE_FIGURES).itertuples())
    ]
    rows = mine.rows.sort_values(["app", "bytes", "cache", "launch", "role"], kind="stable")
    compared = {
        (c.group, c.variant, c.role): c
        for c in mine.comparisons[~mine.comparisons["control"]].itertuples()
    }
    records = [
        {**row, "speedup": compared.get((row["group"], row["variant"], row["role"]))}
        for row in rows.to_dict("records")
    ]
    return GpuSection(
        gpu=gpu,
        anchor=anchor,
        origin=origin(mine.groups),
        specification=_specification(gpu),
        headlines=headlines,
        noise=_noise(mine),
        noise_summary=_noise_summary(mine),
        main_mode=(cache, launch),
        warnings=collect_warnings(mine),
        ceilings=mine.ceilings.drop_duplicates("name", keep="last").to_dict("records"),
        main=speedup(cache, launch),
        others=[speedup(c, m) for c, m in modes],
        heatmap=_picture(
            f"{anchor}-heatmap",
            f"Apps by strategies, speed-up over baseline on {gpu}",
            lambda: figures.heatmap(main, built),
        ),
        floor=_picture(
            f"{anchor}-floor", f"Time against the floor on {gpu}", lambda: figures.floor(main)
        ),
        roofline=_picture(
            f"{anchor}-roofline",
            f"Every variant under the ceilings of {gpu}",
            lambda: figures.roofline(main),
        ),
        launch=_picture(
            f"{anchor}-launch",
            f"Stream against graph launches on {gpu}",
            lambda: figures.launch(mine.where(cache=cache)),
        ),
        launch_ceilings=_launch_ceilings(mine),
        advice=[
            (
                f"{block[0].app}, {mode_name(block[0].cache, block[0].launch)}",
                block,
                from_size_on(block),
            )
            for block in by_mode(advice)
        ],
        quotes=_quotes(main, set(main.groups["app"])),
        samples=samples,
        samples_left_out=len(drawable) - len(samples),
        absent=[r for r in records if r["status"] != "ok"],
        rows=records,
        files=mine.files.to_dict("records"),
        microbenchmarks=_microbenchmarks(mine, anchor),
        points=mine.points.to_dict("records"),
    )


def _pairs(results: Results) -> list[dict[str, Any]]:
    """Every pair of GPUs in the results, newer over older, that has matching rows."""
    pairs = []
    for new, old in itertools.combinations(results.gpus, 2):
        try:
            measured = expect.compare(results.where(gpu=new), results.where(gpu=old))
        except PlotsError as error:
            pairs.append({"new": new, "old": old, "reason": str(error)})
            continue
        name = f"pair-{slug(new)}-{slug(old)}"
        label = f"{new} over {old}"
        dates = origin(results.groups[results.groups["gpu"].isin([new, old])])
        pairs.append(
            {
                "new": new,
                "old": old,
                "measured": measured,
                "means": mean_table(measured),
                "picture": _picture(
                    name, label, lambda m=measured, d=dates: figures.generations(m, d)
                ),
            }
        )
    return pairs


def mean_table(measured: expect.Measured) -> list[dict[str, Any]]:
    """Geometric means of the measured speed-ups by role and strategy, with the number of rows."""
    keys = measured.rows[["role", "strategy"]].drop_duplicates()
    records = []
    for key in keys.itertuples(index=False):
        mean, n = measured.mean(role=key.role, strategy=key.strategy)
        records.append({"role": key.role, "strategy": key.strategy, "mean": mean, "n": n})
    return records


def _number(value: Any, digits: int = 3) -> str:
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return "–"
    return f"{value:.{digits}g}" if abs(value) < 1e5 else f"{value:,.0f}"


def _whole(value: Any) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:,.0f}"


def _percent(value: Any) -> str:
    return "–" if value is None or pd.isna(value) else f"{100 * value:.0f} %"


def render(results: Results) -> str:
    """The report as HTML. Raises PlotsError when the results hold no comparison group."""
    if results.groups.empty:
        raise PlotsError("the result files hold no comparison group: nothing to report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plots", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ms": milliseconds,
        "times": times,
        "number": _number,
        "whole": _whole,
        "percent": _percent,
    }
    here = [expect.spec_of_driver(gpu) for gpu in results.gpus]
    specs = [*expect.paper_specs(), *(s for s in here if s is not None)]
    groups = set(results.groups["gpu"])
    published = expect.published_table()
    return environment.get_template("report.html.j2").render(
        title="Amasia: which way of moving data pays",
        origin=origin(results.groups),
        sections=[_gpu_section(results, gpu) for gpu in results.gpus if gpu in groups],
        idle=[gpu for gpu in results.gpus if gpu not in groups],
        strategies=STRATEGIES,
        known=BY_NAME,
        notes=results.notes,
        example=published[published["new"].eq("A100") & published["old"].eq("V100")].iloc[0],
        expectation=_picture(
            "expectation",
            "Expected and measured speed-up between the GPUs of Svedin et al. 2021",
            lambda: figures.expectation(published, "Svedin et al. 2021, Table 1 and section 6.1"),
        ),
        balance=_picture(
            "balance",
            "Machine balance and compute density",
            lambda: figures.balance(specs, "Svedin et al. 2021, Table 1; datasheets of the vendor"),
        ),
        pairs=_pairs(results),
    )
