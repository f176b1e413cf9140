"""The order of the report's parts and the frame around them.

What a figure shows and says is in its own file (plots/figures). Works with the results of one or
several GPUs. Nothing in the page refers to anything outside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from plots import __version__
from plots.advice.advise import Advice, advise, by_mode, from_size_on
from plots.data.load import Results, main_cache, main_launch, slug
from plots.data.strategies import STRATEGIES, built_variants
from plots.errors import PlotsError
from plots.figures import (
    AppSubject,
    Chapter,
    GpuSubject,
    PairSubject,
    Picture,
    SuiteSubject,
    of_chapter,
)
from plots.figures.common import origin
from plots.figures.drawing import draw_all
from plots.figures.registry import mode_name
from plots.figures.style import embedded_font
from plots.papers import expect, specifications
from plots.papers.generations import Step, pairs_of, steps
from plots.parallel import beside, no_search_for_garbage
from plots.report import answer, navigation, tables, warnings
from plots.report.chapters import BEHIND_MICROBENCHMARKS, Part, parts
from plots.report.embedded import Embedded
from plots.report.navigation import Entry, Line, Menu

# Where the font comes, which is made while the page is written.
_PLACE_OF_FONT = "/* font */"

# Of more GPUs than a few, not every pair has its figure: there are n (n - 1) / 2 of them.
MOST_PAIRS = 6


@dataclass(frozen=True)
class Shown:
    """A figure in its place: the keys of its pictures among all drawn ones, the prose around, or
    its markup."""

    heading: str
    anchor: str  # of the heading
    above: Markup
    pictures: tuple[str, ...]
    below: Markup


@dataclass(frozen=True)
class Microbenchmark:
    """A microbenchmark on one GPU: its figures, where it has any, and all its points."""

    name: str
    anchor: str
    figures: list[Shown]
    count: int
    points: Markup


@dataclass(frozen=True)
class AppSection:
    """Everything the report says about one app on one GPU."""

    subject: AppSubject
    line: answer.Line | None
    advice: list[tuple[str, list[Advice], str]]
    figures: list[Shown]


@dataclass(frozen=True)
class GpuSection:
    """Everything the report says about one GPU."""

    subject: GpuSubject
    origin: str
    specification: str
    lines: list[answer.Line]
    daggers: bool
    noise: str
    warnings: list[warnings.Kind]
    warned: str
    apps: list[AppSection]
    comparisons: list[Shown]
    microbenchmarks: list[Microbenchmark]


@dataclass(frozen=True)
class GpuTables:
    """The long tables of one GPU."""

    controls: Markup
    absent: Markup
    rows: Markup
    points: Markup


def _tables(results: Results, gpus: Sequence[str]) -> tuple[dict[str, GpuTables], Embedded]:
    """Those of each GPU, and what they show. Apart from the sections, because another process can
    do it meanwhile."""
    data = Embedded()
    found = {}
    for gpu in gpus:
        mine = results.where(gpu=gpu)
        found[gpu] = GpuTables(
            controls=tables.controls(mine, data),
            absent=tables.absent(mine, data),
            rows=tables.rows(mine, data),
            points=tables.points(mine, data),
        )
    return found, data


class _Pictures:
    """The pictures of all parts, collected first and then drawn together."""

    def __init__(self) -> None:
        self.wanted: dict[str, Picture] = {}

    def chapter(self, chapter: Chapter, subject: Any) -> list[Shown]:
        """The figures of a chapter that have something to show of the subject."""
        shown = []
        for kind in of_chapter(chapter):
            pictures = kind.pictures(subject) if kind.pictures else []
            markup = kind.markup(subject) if kind.markup else Markup("")
            if not pictures and not markup:
                continue
            names = [f"{subject.anchor}-{picture.name}" for picture in pictures]
            for name, picture in zip(names, pictures, strict=True):
                if name in self.wanted:
                    raise ValueError(f"two pictures are called {name}")
                self.wanted[name] = picture
            below = markup + kind.below(subject)
            anchor = f"{subject.anchor}--{slug(kind.name)}"
            shown.append(Shown(kind.heading, anchor, kind.above(subject), tuple(names), below))
        return shown


def _specification(gpu: str) -> str:
    spec = specifications.spec_of_driver(gpu)
    if spec is None:
        return "No datasheet of this GPU is among the suite's specifications."
    return (
        f"{spec.architecture}, {spec.sms} SMs; its datasheet promises {spec.bandwidth_gb_s:g} GB/s "
        f"and {spec.fp32_tflops:g} TFLOP/s in fp32, {spec.balance():.3f} bytes per FLOP."
    )


# --- The sections --------------------------------------------------------------------------------


def _advice_of(found: Iterable[Advice]) -> list[tuple[str, list[Advice], str]]:
    return [
        (
            ", ".join(filter(None, (mode_name(block[0].cache, block[0].launch), block[0].kind))),
            block,
            from_size_on(block),
        )
        for block in by_mode(list(found))
    ]


def _microbenchmarks(subject: GpuSubject, pictures: _Pictures) -> list[Microbenchmark]:
    """Those that were run on the GPU: first those with a figure, in the order of figures, then the
    others by name."""
    counts = subject.results.points["microbenchmark"].value_counts()
    figures: dict[str, list[Shown]] = {}
    for shown in pictures.chapter(Chapter.MICROBENCHMARKS, subject):
        figures.setdefault(pictures.wanted[shown.pictures[0]].microbenchmark, []).append(shown)
    found, taken = [], set()
    for name in [*figures, *sorted(set(counts.index) - set(figures))]:
        anchor = f"{subject.anchor}--{slug(name)[:60]}"
        if anchor in taken:
            anchor += f"-{len(taken)}"
        taken.add(anchor)
        points = tables.points_of(subject.gpu, name)
        found.append(Microbenchmark(name, anchor, figures.get(name, []), int(counts[name]), points))
    return found


def _gpu_section(results: Results, gpu: str, anchor: str, pictures: _Pictures) -> GpuSection:
    mine = results.where(gpu=gpu)
    cache, launch = main_cache(mine.groups), main_launch(mine.groups)
    recorded = {name for provenance in mine.files["provenance"] for name in provenance["sources"]}
    built = tuple(sorted(built_variants() | recorded))
    subject = GpuSubject(gpu, anchor, mine, cache, launch, built)
    found = advise(mine)
    lines = {line.app: line for line in answer.lines(subject, found)}
    apps = [*lines, *sorted(set(mine.groups["app"]) - set(lines))]
    if mine.cross is not None:
        apps += sorted(set(mine.cross.groups["app"]) - set(apps))
    sections = []
    for app in apps:
        of_app = AppSubject(subject, app, f"{anchor}-{slug(app)[:40]}")
        sections.append(
            AppSection(
                of_app,
                lines.get(app),
                _advice_of(a for a in found if a.app == app),
                pictures.chapter(Chapter.APPS, of_app),
            )
        )
    kinds = warnings.warnings(mine)
    return GpuSection(
        subject=subject,
        origin=origin(mine.groups),
        specification=_specification(gpu),
        lines=list(lines.values()),
        daggers=any("†" in cell.text for line in lines.values() for cell in line.cells),
        noise=answer.noise(mine),
        warnings=kinds,
        warned=warnings.summary(kinds),
        apps=sections,
        comparisons=pictures.chapter(Chapter.COMPARISONS, subject),
        microbenchmarks=_microbenchmarks(subject, pictures),
    )


def _pairs(results: Results, gpus: Sequence[str], pictures: _Pictures) -> list[dict[str, Any]]:
    """The first pairs of GPUs, newer over older, with their figures or why there is none."""
    pairs = []
    shown = list(itertools.islice(itertools.combinations(gpus, 2), MOST_PAIRS))
    for (new, old), pair in zip(shown, pairs_of(results, shown), strict=True):
        (step,) = steps([pair])
        if not isinstance(step, Step):
            pairs.append({"new": new, "old": old, "reason": str(step)})
            continue
        dates = "; ".join(origin(side.groups) for side in pair)
        anchor = f"pair-{gpus.index(new)}-{gpus.index(old)}"
        subject = PairSubject(step.measured, dates, anchor, tuple(step.sentences()))
        figures = pictures.chapter(Chapter.PAIRS, subject)
        pairs.append({"new": new, "old": old, "reason": "", "figures": figures})
    return pairs


def _anchors(gpus: Sequence[str]) -> dict[str, str]:
    """gpu -> a short name for links, each different."""
    anchors: dict[str, str] = {}
    for gpu in gpus:
        name = slug(gpu)[:40] or "gpu"
        anchors[gpu] = f"{name}-{len(anchors)}" if name in anchors.values() else name
    return anchors


def _navigation(
    sections: Sequence[GpuSection], chapters: Sequence[Part], after: Sequence[Part]
) -> list[Entry | Menu]:
    """All that the page has, in the order in which one asks for it. ``chapters`` stand before the
    generations, ``after`` behind the microbenchmarks."""
    several = len(sections) > 1
    answers = [Entry(s.subject.gpu if several else "answer", s.subject.anchor) for s in sections]
    apps = [
        Line(
            s.subject.gpu if several else "",
            s.subject.anchor,
            (
                *(Entry(a.subject.app, a.subject.anchor) for a in s.apps),
                Entry("over all apps", f"{s.subject.anchor}-over-all"),
            ),
        )
        for s in sections
    ]
    matrices = [
        Line(
            s.subject.gpu if several else "",
            "",
            tuple(
                Entry(a.subject.app, shown.anchor)
                for a in s.apps
                for shown in a.figures
                if shown.anchor == f"{a.subject.anchor}--cross"
            ),
        )
        for s in sections
    ]
    measured = [
        line
        for s in sections
        for line in navigation.by_family(
            s.subject.gpu, several, sorted((m.name, m.anchor) for m in s.microbenchmarks)
        )
    ]
    return [
        *answers,
        *navigation.menu("apps", apps),
        *navigation.menu("cross matrices", matrices),
        *(Entry(part.name, part.name) for part in chapters),
        Entry("generations", "generations"),
        *navigation.menu("microbenchmarks", measured),
        *(Entry(part.name, part.name) for part in after),
        Entry("method", "method"),
        Entry("provenance", "provenance"),
    ]


def _environment(data: Embedded) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plots.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["packed"] = data.packed
    return environment


def _written(part: Part, results: Results) -> tuple[Markup, Embedded]:
    """A chapter and the tables that it shows."""
    data = Embedded()
    return part.body(results, data), data


def _template(name: str) -> Markup:
    return Markup((files("plots.report") / "templates" / name).read_text(encoding="utf-8"))


def render(results: Results) -> str:
    """The report as HTML. Raises PlotsError when the results hold no comparison group."""
    with no_search_for_garbage():
        return _render(results)


def _render(results: Results) -> str:
    if results.groups.empty:
        hint = "" if results.cross is None else "; of amasia cross: python -m plots figure cross"
        raise PlotsError(f"the result files hold no comparison group: nothing to report{hint}")
    with_groups = set(results.groups["gpu"])
    gpus = [gpu for gpu in results.gpus if gpu in with_groups]
    anchors = _anchors(gpus)
    pictures, data = _Pictures(), Embedded()
    all_parts = parts()
    bodies = [partial(_written, part, results) for part in all_parts]
    with beside([partial(_tables, results, gpus), *bodies]) as others:
        sections = [_gpu_section(results, gpu, anchors[gpu], pictures) for gpu in gpus]
        pairs = _pairs(results, gpus, pictures)
        hardware = pictures.chapter(Chapter.HARDWARE, SuiteSubject(tuple(results.gpus)))
        drawn = draw_all(pictures.wanted)
        (of_gpu, long), *written = others()[: 1 + len(bodies)]
    data.add(long)
    chapters = []
    for part, (body, of_part) in zip(all_parts, written, strict=True):
        data.add(of_part)
        if body:
            chapters.append((part, body))
    before = [(part, body) for part, body in chapters if part.order < BEHIND_MICROBENCHMARKS]
    after = chapters[len(before) :]
    for name, picture in drawn.items():
        if picture.svg:
            data.figure(name, picture.svg)
    provenance = tables.provenance(results, data)
    published = expect.published_table()
    font = partial(embedded_font, [picture.svg for picture in drawn.values()])
    with beside([font]) as fonts:
        page = (
            _environment(data)
            .get_template("report.html.j2")
            .render(
                title="Amasia: which way of moving data pays",
                version=__version__,
                origin=origin(results.groups),
                font=_PLACE_OF_FONT,
                css=_template("report.css"),
                script=_template("report.js"),
                drawn=drawn,
                sections=sections,
                tables=of_gpu,
                navigation=_navigation(
                    sections, [part for part, _ in before], [part for part, _ in after]
                ),
                before=before,
                after=after,
                idle=[gpu for gpu in results.gpus if gpu not in with_groups],
                strategies=STRATEGIES,
                notes=results.notes,
                example=published[published["new"].eq("A100") & published["old"].eq("V100")].iloc[
                    0
                ],
                hardware=hardware,
                pairs=pairs,
                pairs_left_out=len(gpus) * (len(gpus) - 1) // 2 - len(pairs),
                provenance=provenance,
                data=data,
            )
        )
        (css,) = fonts()
    return page.replace(_PLACE_OF_FONT, css, 1)
