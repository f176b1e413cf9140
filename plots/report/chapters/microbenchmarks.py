"""Figures of the microbenchmarks, and their points."""

from collections.abc import Mapping
from functools import cache, partial

from markupsafe import Markup

from plots.advice.drawn_twins import drawn
from plots.data.load import Results, slug
from plots.figures import of_microbenchmarks
from plots.prose import fold, paragraph
from plots.report.chapters import Part, register
from plots.report.embedded import Column, Embedded

_COLUMNS = (
    Column("microbenchmark", listed=True),
    Column("point"),
    Column("quantity"),
    Column("median", "number"),
    Column("unit"),
    Column("from", "number"),
    Column("to", "number"),
    Column("n", "whole", help="samples"),
    Column("status", listed=True),
    Column("remark", "prose"),
    Column("gpu"),
)


@cache
def _drawn() -> frozenset[frozenset[tuple[str, str]]]:
    return frozenset(frozenset(traits.items()) for traits in drawn())


def _is_drawn(at: Mapping[str, str]) -> bool:
    """Whether a point is of a random twin: six thousand, which nobody reads one by one."""
    return frozenset((k, v) for k, v in at.items() if k != "strategy") in _drawn()


def _of_gpu(results: Results, gpu: str, data: Embedded) -> Markup:
    points = [
        {
            "gpu": r.gpu, "microbenchmark": r.microbenchmark,
            "point": " ".join(f"{k}={v}" for k, v in r.at.items()), "quantity": r.quantity,
            "median": r.median, "unit": r.unit, "from": r.low, "to": r.high, "n": r.n,
            "status": r.status, "remark": "; ".join(t for t in (r.reason, r.remark) if t),
        }
        for r in results.points.itertuples()
        if not _is_drawn(r.at)
    ]  # fmt: skip
    figures = [
        Markup("<div>{}{}</div>\n").format(
            data.picture(
                f"{slug(gpu)}-{kind.name}",
                f"{kind.summary} ({kind.microbenchmark}) on {gpu}",
                partial(kind.draw_points, results),
            ),
            fold(f"How to read it ({kind.microbenchmark})", paragraph(*kind.reading(results))),
        )
        for kind in of_microbenchmarks(results)
    ]
    apart = " (random twins apart)" if len(points) < len(results.points) else ""
    shown = data.listed("points", "Points", _COLUMNS, points, gpu)
    return Markup('<div data-gpu="{}">\n<div class="figures">{}</div>\n{}</div>\n').format(
        gpu, Markup("").join(figures), fold(f"Every point, {gpu}: {len(points)}{apart}", shown)
    )


def _body(results: Results, data: Embedded) -> Markup:
    there = set(results.points["gpu"])
    gpus = [gpu for gpu in results.gpus if gpu in there]
    return Markup("").join(_of_gpu(results.where(gpu=gpu), gpu, data) for gpu in gpus)


register(Part("microbenchmarks", "What explains them: microbenchmarks", _body, order=40))
