"""The recorded twins: synthetic kernels with the traits of real ones, in all strategies."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from plots.advice.examples import real_kernels
from plots.advice.twin import NAME, Answer, Twin, accuracy, answer, twins_and_unseen
from plots.data.load import Results
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.prose import paragraph, view
from plots.report.chapters.registry import Part, register
from plots.report.embedded import Column, Embedded

_COLUMNS = (
    Column("gpu", listed=True),
    Column("traits", help="those in which twins differ"),
    Column("tile B", "whole"),
    Column("op/byte", "number", help="operations per byte that a tile brings"),
    Column("strategy", listed=True),
    Column("place", "whole", help="1 is the fastest"),
    Column("gain", "ratio", help="over baseline with the same traits; baseline's own is the noise"),
    Column("time", "ms"),
    Column("remark", "prose"),
)


def _records(of: Answer, differ: list[str]) -> list[dict[str, object]]:
    traits = of.traits
    tile = int(traits["rows"]) * int(traits["row_bytes"])
    shared = {
        "gpu": of.gpu,
        "traits": " ".join(f"{name}={traits[name]}" for name in differ),
        "tile B": tile,
        "op/byte": int(traits["fma"]) / 2,  # two operations on four bytes
    }
    timed = [
        {
            **shared,
            "strategy": choice.measured.strategy,
            "place": place,
            "gain": [
                *((1.0, *of.noise) if choice.claim == "reference" else (
                    choice.measured.ratio, choice.measured.low, choice.measured.high,
                )),
                choice.claim,
            ],
            "time": choice.measured.time_ms,
            "remark": choice.measured.remark,
        }
        for place, choice in enumerate(of.choices, 1)
    ]  # fmt: skip
    absent = [
        {**shared, "strategy": m.strategy, "place": None, "gain": None, "time": None,
         "remark": m.reason}
        for m in of.absent
    ]  # fmt: skip
    return timed + absent


def _of_gpu(twins: list[Twin], unseen: list[Twin], data: Embedded) -> Markup:
    differ = [n for n in twins[0].traits if len({t.traits.get(n) for t in twins}) > 1]
    first: Counter[str] = Counter()
    for twin in twins:
        try:
            found = answer(twin.traits, [twin])
        except PlotsError:
            continue  # without a baseline there is nothing to say of it
        first[found.first] += 1
        data.table("twins", _COLUMNS, _records(found, differ))
    known = accuracy(twins, unseen)
    chosen = ", ".join(f"{name} {first[name]}" for name in NAMES if first[name])
    return paragraph(
        f"{twins[0].gpu}, {sum(first.values())} twins; to be chosen (baseline where nothing was "
        f"found to be faster): {chosen}.",
        known.worth() if known.gains else "",
        known.sentence(),
        real_kernels(),
    )


def _body(results: Results, data: Embedded) -> Markup:
    if not (results.points["microbenchmark"] == NAME).any():
        return Markup("")
    twins, unseen = twins_and_unseen(results.files["path"].tolist())
    said = [
        _of_gpu([t for t in twins if t.gpu == gpu], unseen, data)
        for gpu in dict.fromkeys(t.gpu for t in twins)
    ]
    about = paragraph(
        "A twin is a synthetic kernel with the traits of a real one, measured in every strategy: "
        "what the suite can say of a kernel that it has never seen (",
        Markup("<code>python -m plots advise --tile 16KiB --intensity 8</code>)."),
    )
    table = view("twins", "Twins", {}, {}, [c.name for c in _COLUMNS])
    return Markup("\n").join([about, *said, table])


register(Part("twin", "Twins: for a kernel that is not in the suite", _body, order=10))
