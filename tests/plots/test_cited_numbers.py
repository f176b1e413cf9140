"""Numbers that documents cite from the record are those of the record."""

from __future__ import annotations

import pytest

from plots.data.load import load
from plots.data.strategies import ROOT

_RECORD = ROOT / "results" / "h200"
_ONE, _ALL = {"grid": "one block"}, {"grid": "device"}
_BOX = {"operation": "load", "way": "flat", "level": "memory"}
_FULL = {"how": "seen", "shared": "all of a block"}

# page, microbenchmark, coordinates of the point, how the value is printed
_CITED = [
    *(
        ("dependent-launch", "launch/launches", {"launch": launch, "way": way, **grid}, "{:.2f} µs")
        for launch in ("stream", "graph")
        for way in ("plain", "programmatic")
        for grid in (_ONE, _ALL)
    ),
    ("choosing-a-strategy", "tma/latency", {**_BOX, "box": "1024"}, "to {:.0f} cycles"),
    ("choosing-a-strategy", "dsm/handover", {"way": "st_async", "cluster": "8"}, "{:.0f} cycles"),
    ("choosing-a-strategy", "dsm/handover", {"way": "cluster_barrier", "cluster": "8"}, "{:.0f}"),
    ("choosing-a-strategy", "dsm/handover", {"way": "shared_flag", "cluster": "4"}, "{:.0f}"),
    ("choosing-a-strategy", "dsm/active_clusters", {**_FULL, "cluster": "2"}, "{:.0f} blocks"),
    ("choosing-a-strategy", "dsm/active_clusters", {**_FULL, "cluster": "8"}, "{:.0f} in clusters"),
    ("choosing-a-strategy", "dsm/active_clusters", {**_FULL, "cluster": "16"}, "{:.0f} in cluster"),
    ("choosing-a-strategy", "dsm/latency", {"pairs": "all", "statistic": "least"}, "{:.0f} to"),
    ("choosing-a-strategy", "dsm/latency", {"statistic": "greatest"}, "{:.0f} cycles"),
    (
        "choosing-a-strategy",
        "tma/issue",
        {"loader": "registers", "what": "registers_held"},
        "{:,.0f}",
    ),
    (
        "choosing-a-strategy",
        "tma/issue",
        {"loader": "bulk", "what": "registers_held"},
        "{:.0f} reg",
    ),
]


@pytest.fixture(scope="module")
def points():
    if not _RECORD.is_dir():
        pytest.skip("nothing is recorded here")
    found = load([_RECORD / f"{name}.json.gz" for name in ("launch", "tma", "dsm")]).points
    return found[found["status"] == "ok"]


@pytest.mark.parametrize(("page", "microbenchmark", "at", "form"), _CITED)
def test_a_cited_number_is_that_of_the_record(points, page, microbenchmark, at, form):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    of_it = points[points["microbenchmark"] == microbenchmark]
    values = of_it[[at.items() <= of.items() for of in of_it["at"]]]["median"]
    assert len(values), "the record has no such point"
    # Of several distances one is cited.
    printed = {form.format(value) for value in values}
    assert any(number in text for number in printed), printed
