"""One self-contained report.html: the order of its parts and the frame around them.

What a figure shows and says is in its own file (plots/figures). Works with the results of one or
several GPUs. Nothing in it refers to anything outside the file.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup

from plots import expect, prose
from plots.advise import Advice, advise, by_mode, from_size_on
from plots.cache import Cache
from plots.drawing import Drawn, draw_all
from plots.errors import PlotsError
from plots.figures import (
    Chapter,
    GpuSubject,
    PairSubject,
    Picture,
    SuiteSubject,
    of_chapter,
)
from plots.figures.common import origin
from plots.figures.registry import mode_name
from plots.gains import gains_of
from plots.load import Results, main_cache, main_launch, main_size, slug
from plots.strategies import STRATEGIES, built_variants
from plots.style import embedded_font
from plots.units import milliseconds

# Of more GPUs than a few, not every pair has its figure: there are n (n - 1) / 2 of them.
MOST_PAIRS = 6


@dataclass(frozen=True)
class Shown:
    """A figure in its place: the keys of its pictures among all drawn ones, the prose around."""

    heading: str
    above: Markup
    pictures: tuple[str, ...]
    below: Markup


@dataclass(frozen=True)
class GpuSection:
    """Everything the report says about one GPU."""

    subject: GpuSubject
    origin: str
    specification: str
    headlines: list[str]
    noise: list[dict[str, Any]]
    noise_summary: str
    warnings: list[str]
    comparisons: list[Shown]
    microbenchmarks: list[Shown]
    samples: list[Shown]
    advice: list[tuple[str, list[Advice], str]]
    absent: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    files: list[dict[str, Any]]
    points: list[dict[str, Any]]


class _Pictures:
    """The pictures of all parts, collected first and then drawn together."""

    def __init__(self) -> None:
        self.wanted: dict[str, Picture] = {}

    def chapter(self, chapter: Chapter, subject: Any) -> list[Shown]:
        """The figures of a chapter that have a picture of the subject."""
        shown = []
        for kind in of_chapter(chapter):
            pictures = kind.pictures(subject) if kind.pictures else []
            if not pictures:
                continue
            names = [f"{subject.anchor}-{picture.name}" for picture in pictures]
            for name, picture in zip(names, pictures, strict=True):
                if name in self.wanted:
                    raise ValueError(f"two pictures are called {name}")
                self.wanted[name] = picture
            above, below = kind.above(subject), kind.below(subject)
            shown.append(Shown(kind.heading, above, tuple(names), below))
        return shown


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
    groups = list(results.groups.itertuples())
    if results.cross is not None:
        groups += results.cross.groups.itertuples()
    for g in groups:
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


def _specification(gpu: str) -> str:
    spec = expect.spec_of_driver(gpu)
    if spec is None:
        return "No datasheet of this GPU is among the suite's specifications."
    return (
        f"{spec.architecture}, {spec.sms} SMs; its datasheet promises {spec.bandwidth_gb_s:g} GB/s "
        f"and {spec.fp32_tflops:g} TFLOP/s in fp32, {spec.balance():.3f} bytes per FLOP."
    )


def row_records(results: Results) -> list[dict[str, Any]]:
    """Every row with its comparison, and what the speed-up of a best row consists of."""
    compared = {
        (c.group, c.variant, c.role, c.schedule): c
        for c in results.comparisons[~results.comparisons["control"]].itertuples()
    }
    products = {(gain.group, gain.strategy): gain.product() for gain in gains_of(results)}
    rows = results.rows.sort_values(["app", "bytes", "cache", "launch", "role"], kind="stable")
    return [
        {
            **row,
            "speedup": compared.get((row["group"], row["variant"], row["role"], row["schedule"])),
            "product": products.get((row["group"], row["strategy"]), "")
            if row["role"] == "best"
            else "",
        }
        for row in rows.to_dict("records")
    ]


def _gpu_section(results: Results, gpu: str, anchor: str, pictures: _Pictures) -> GpuSection:
    mine = results.where(gpu=gpu)
    cache, launch = main_cache(mine.groups), main_launch(mine.groups)
    recorded = {name for provenance in mine.files["provenance"] for name in provenance["sources"]}
    built = tuple(sorted(built_variants() | recorded))
    subject = GpuSubject(gpu, anchor, mine, cache, launch, built)
    groups = subject.main.groups
    main_sizes = {app: main_size(groups, app) for app in sorted(set(groups["app"]))}
    advice = advise(mine)
    headlines = [
        _headline(a)
        for a in advice
        if (a.cache, a.launch) == (cache, launch) and a.size == main_sizes.get(a.app)
    ]
    records = row_records(mine) + (row_records(mine.cross) if mine.cross is not None else [])
    return GpuSection(
        subject=subject,
        origin=origin(mine.groups),
        specification=_specification(gpu),
        headlines=headlines,
        noise=_noise(mine),
        noise_summary=_noise_summary(mine),
        warnings=collect_warnings(mine),
        comparisons=pictures.chapter(Chapter.COMPARISONS, subject),
        microbenchmarks=pictures.chapter(Chapter.MICROBENCHMARKS, subject),
        samples=pictures.chapter(Chapter.SAMPLES, subject),
        advice=[
            (
                f"{block[0].app}, {mode_name(block[0].cache, block[0].launch)}",
                block,
                from_size_on(block),
            )
            for block in by_mode(advice)
        ],
        # What a strategy declines in a table of all schedules is said below that table.
        absent=[
            r
            for r in records
            if r["status"] != "ok" and not (r["role"] == "cross" and r["status"] == "skipped")
        ],
        rows=records,
        files=mine.files.to_dict("records"),
        points=mine.points.to_dict("records"),
    )


def _pairs(results: Results, gpus: Sequence[str], pictures: _Pictures) -> list[dict[str, Any]]:
    """The first pairs of GPUs, newer over older, with their figures or why there is none."""
    pairs = []
    of_gpu = {gpu: results.where(gpu=gpu) for gpu in gpus}
    for new, old in itertools.islice(itertools.combinations(gpus, 2), MOST_PAIRS):
        try:
            measured = expect.compare(of_gpu[new], of_gpu[old])
        except PlotsError as error:
            pairs.append({"new": new, "old": old, "reason": str(error)})
            continue
        dates = origin(results.groups[results.groups["gpu"].isin([new, old])])
        subject = PairSubject(measured, dates, f"pair-{gpus.index(new)}-{gpus.index(old)}")
        shown = pictures.chapter(Chapter.PAIRS, subject)
        pairs.append({"new": new, "old": old, "reason": "", "figures": shown})
    return pairs


def _anchors(gpus: Sequence[str]) -> dict[str, str]:
    """gpu -> a short name for links, each different."""
    anchors: dict[str, str] = {}
    for gpu in gpus:
        name = slug(gpu)[:40] or "gpu"
        anchors[gpu] = f"{name}-{len(anchors)}" if name in anchors.values() else name
    return anchors


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plots", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ms": milliseconds,
        "ratio": prose.ratio,
        "number": prose.number,
        "whole": prose.whole,
        "percent": prose.percent,
    }
    return environment


def render(results: Results, cache: Cache | None = None) -> str:
    """The report as HTML; pictures drawn before are taken from ``cache``. Raises PlotsError when
    the results hold no comparison group."""
    if results.groups.empty:
        hint = "" if results.cross is None else "; of amasia cross: python -m plots figure cross"
        raise PlotsError(f"the result files hold no comparison group: nothing to report{hint}")
    with_groups = set(results.groups["gpu"])
    gpus = [gpu for gpu in results.gpus if gpu in with_groups]
    anchors = _anchors(gpus)
    pictures = _Pictures()
    sections = [_gpu_section(results, gpu, anchors[gpu], pictures) for gpu in gpus]
    pairs = _pairs(results, gpus, pictures)
    hardware = pictures.chapter(Chapter.HARDWARE, SuiteSubject(tuple(results.gpus)))
    drawn: dict[str, Drawn] = draw_all(pictures.wanted, cache or Cache(None))
    published = expect.published_table()
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            runs=prose.runs,
            title="Amasia: which way of moving data pays",
            origin=origin(results.groups),
            font=Markup(embedded_font(picture.svg for picture in drawn.values())),
            drawn=drawn,
            sections=sections,
            idle=[gpu for gpu in results.gpus if gpu not in with_groups],
            strategies=STRATEGIES,
            notes=results.notes,
            example=published[published["new"].eq("A100") & published["old"].eq("V100")].iloc[0],
            hardware=hardware,
            pairs=pairs,
            pairs_left_out=len(gpus) * (len(gpus) - 1) // 2 - len(pairs),
        )
    )
