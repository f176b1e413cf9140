"""The order of the report's parts and the frame around them.

Works with the results of one or several GPUs. Nothing in the page refers to anything outside it.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from plots import __version__
from plots.advice.advise import Advice, advise
from plots.data.load import Results, main_cache, main_launch, slug
from plots.data.strategies import NAMES, STRATEGIES
from plots.errors import PlotsError
from plots.figures import mode_name
from plots.figures.common import origin
from plots.figures.roofline import roofline
from plots.judge.gains import part_of
from plots.papers import specifications
from plots.processes import no_search_for_garbage
from plots.prose import fold, paragraph, table
from plots.report import answer, tables, warnings
from plots.report.chapters import parts
from plots.report.cross_matrix import matrices
from plots.report.embedded import Embedded
from plots.report.verdicts import Verdict, overall, verdicts
from plots.units import amount

_TITLE = "Amasia: which way of moving data pays"


def _advice(found: Sequence[Advice]) -> Markup:
    """A line per size and mode of an app."""
    lines = [
        (
            a.size_label,
            ". ".join([Verdict(a.app, a).text, *a.remarks]),
            mode_name(a.cache, a.launch),
        )
        for a in found
    ]
    return fold(f"Every size and mode: {len(lines)}", table(("size", "verdict", "mode"), lines))


def _quotes(main: Results, app: str, found: Sequence[Verdict]) -> Markup:
    """What the paper reports of a strategy beside what was measured here at the main size."""
    sizes = {v.advice.size for v in found}
    measured = main.comparisons[main.comparisons["size"].isin(sizes)]
    lines = []
    for quote in specifications.strategy_quotes().itertuples():
        if quote.app != app:
            continue
        of = measured[(measured["strategy"] == quote.strategy) & ~measured["control"]]
        ours = {c.role: part_of(c).text() for c in of.itertuples()}
        ends = dict.fromkeys((f"{quote.low:.2f}", f"{quote.high:.2f}"))
        cells = [ours.get(role, "–") for role in ("iso", "best")]
        lines.append([quote.strategy, " to ".join(ends), *cells, quote.remark])
    if not lines:
        return Markup("")
    columns = ("strategy", ">paper, A100", "iso here", "best here", "remark")
    return fold("What Svedin et al. (2021) report on an A100", table(columns, lines))


def _ceilings(results: Results) -> Markup:
    lines = [
        (c.name, amount(c.value), c.unit, amount(c.minimum), amount(c.maximum), c.n, c.method)
        for c in results.ceilings.drop_duplicates("name", keep="last").itertuples(index=False)
    ]
    columns = ("ceiling", ">median", "unit", ">least", ">most", ">samples", "how")
    return fold(f"Measured ceilings: {len(lines)}", table(columns, lines)) if lines else Markup("")


def _state(results: Results, data: Embedded) -> Markup:
    """What to know before believing a number."""
    kinds = warnings.warnings(results)
    items = [
        fold(
            f"{kind.text}: {len(kind.each)}",
            Markup("<ul>\n{}\n</ul>").format(
                Markup("\n").join(Markup("<li>{}</li>").format(text) for text in kind.each)
            ),
        )
        for kind in kinds
    ]
    absent = tables.absent(results, data)
    return fold(
        f"{answer.noise(results)}; {warnings.summary(kinds)}.",
        Markup("\n").join(
            [
                *items,
                fold("A/A controls", tables.controls(results, data)),
                fold("Rows without a time", absent)
                if absent
                else paragraph("Every variant ran, was verified and has a time."),
            ]
        ),
    )


def _gpu(results: Results, gpu: str, anchor: str, data: Embedded) -> dict[str, Any]:
    """All that the report says about one GPU, for the template."""
    mine = results.where(gpu=gpu)
    cache, launch = main_cache(mine.groups), main_launch(mine.groups)
    main = mine.where(cache=cache, launch=launch)
    advice = advise(mine)
    # A user's kernel has names of its own, and a chapter.
    own = mine.rows[(mine.rows["role"] == "best") & ~mine.rows["strategy"].isin(NAMES)]
    found = [v for v in verdicts(mine, advice) if v.advice.app not in set(own["app"])]
    there = set(mine.groups["app"]) | set(() if mine.cross is None else mine.cross.groups["app"])
    apps = []
    for app in sorted(there):
        of_app = [v for v in found if v.advice.app == app]
        cross = None if mine.cross is None else mine.cross.where(app=app)
        parts_of = [
            tables.rows_of_app(mine, app),
            _advice([a for a in advice if a.app == app]),
            matrices(cross),
            _quotes(main, app, of_app),
        ]
        body = Markup("\n").join(parts_of)
        place = f"{anchor}-{slug(app)[:40]}"
        apps.append({"name": app, "anchor": place, "verdicts": of_app, "body": body})
    spec = specifications.spec_of_driver(gpu)
    sheet = (
        f"{spec.architecture}, {spec.sms} SMs; data sheet: {spec.bandwidth_gb_s:g} GB/s, "
        f"{spec.fp32_tflops:g} TFLOP/s fp32"
        if spec is not None
        else "no data sheet of this GPU is among the specifications"
    )
    label = f"Every variant under the ceilings of {gpu}"
    rest = [
        fold(
            "Roofline",
            data.picture(f"{anchor}-roofline", label, lambda: roofline(main)) + _ceilings(mine),
        ),
        fold("Every row", tables.rows(mine, data)),
    ]
    return {
        "name": gpu,
        "anchor": anchor,
        "overall": overall(mine, advice),
        "mode": mode_name(cache, launch),
        "origin": f"{origin(mine.groups)}; {sheet}",
        "lines": answer.lines(mine, main, found),
        "state": _state(mine, data),
        "apps": apps,
        "rest": Markup("\n").join(rest),
    }


def _anchors(gpus: Sequence[str]) -> dict[str, str]:
    """gpu -> a short name for links, each different."""
    anchors: dict[str, str] = {}
    for gpu in gpus:
        name = slug(gpu)[:40] or "gpu"
        anchors[gpu] = f"{name}-{len(anchors)}" if name in anchors.values() else name
    return anchors


def _template(name: str) -> Markup:
    return Markup((files("plots.report") / "templates" / name).read_text(encoding="utf-8"))


def render(results: Results) -> str:
    """The report as HTML. Raises PlotsError when the results hold no comparison group."""
    with no_search_for_garbage():
        return _render(results)


def _render(results: Results) -> str:
    if results.groups.empty:
        raise PlotsError("the result files hold no comparison group: nothing to report")
    with_groups = set(results.groups["gpu"])
    gpus = [gpu for gpu in results.gpus if gpu in with_groups]
    data = Embedded()
    shown = [_gpu(results, gpu, anchor, data) for gpu, anchor in _anchors(gpus).items()]
    chapters = [(part, body) for part in parts() if (body := part.body(results, data))]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("plots.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    context: dict[str, Any] = {
        "title": _TITLE,
        "version": __version__,
        "origin": origin(results.groups),
        "css": _template("report.css"),
        "script": _template("report.js"),
        "gpus": shown,
        "chapters": chapters,
        "idle": [gpu for gpu in results.gpus if gpu not in with_groups],
        "strategies": STRATEGIES,
        "notes": results.notes,
        "provenance": tables.provenance(results, data),
        "data": data,
    }
    return environment.get_template("report.html.j2").render(context)
