"""The chapters below the apps, and what a page carries."""

from __future__ import annotations

import math

import numpy as np
import pytest
import synthetic
import test_twin
from drawn import table_rows

from plots.advice import examples, twin
from plots.data.load import load
from plots.papers import reproduction
from plots.report import warnings
from plots.report.embedded import Column, Embedded, carried_by
from plots.report.page import render


@pytest.fixture
def groups(save):
    return save(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]), "r/groups.json")


def test_twins_are_counted(groups, save):
    made = save(test_twin.document(*test_twin.grid()), "r/twins.json")
    page = " ".join(render(load([groups.parent])).split())
    twins = twin.recorded_twins([made])
    assert "of 12 proxy kernels (twins), the first choice is: " in page and "overlap" in page
    assert twin.accuracy(twins, []).sentence() in page and examples.real_kernels() in page
    assert "proxy kernels (twins)" not in render(load([groups]))


def test_published_values_are_those_of_the_page_of_reproduction(groups, memory_file):
    results = load([groups, memory_file])
    page = render(results)
    rows = table_rows(page, "reproduction")
    lines = [
        line
        for gpu in results.gpus
        for entry in reproduction.entries([f for f in results.recorded if f.device.name == gpu])
        for line in entry.lines
    ]
    assert len(rows) == len(lines) > 100
    for row, line in zip(rows, lines, strict=True):
        assert row["verdict"] == line.verdict.value
        ratio = line.ratio
        assert row["here / published"] == (None if ratio is None else pytest.approx(ratio, 1e-5))
    assert {r["verdict"] for r in rows} >= {"agrees", "not recorded"}


def test_what_a_page_carries_is_json_whatever_is_in_it():
    data = Embedded()
    columns = (Column("a"), Column("b", "ratio"))
    infinite = np.float64("inf")
    values = ["</script><script>", math.nan, infinite, np.int64(3), np.bool_(True), "é\ud800"]
    data.table("t", columns, [{"a": v, "b": [math.nan, 1 / 3]} for v in values])
    encoded = data.encoded()
    assert "<" not in encoded and encoded == data.encoded()
    page = f'<script type="text/plain" id="data">{encoded}</script>'
    a, b = carried_by(page)["tables"]["t"]["values"]
    assert a == ["</script><script>", None, None, 3, True, "é\ud800"]
    assert b == [[None, 0.333333]] * len(values)


def test_warnings_are_one_line_for_each_kind_the_gravest_first():
    """Whichever row and number a warning is of; and none is lost."""
    found = [
        ("local memory is used (spills)", "gemm/tma (iso), 8 B a thread"),
        ("nw/tma best differs from itself by 2.26 %", "nw"),
        ("lud/dsm iso differs from itself by 0.1 %", "lud"),
        ("nw/baseline smells of 3 herrings", "nw"),
        ("lud/tma smells of 12 herrings", "lud"),
        ("2 variants were right before timing and wrong after: one of them may", "lud"),
    ]
    kinds = warnings.by_kind(found)
    assert [(kind.text.split(":")[0], len(kind.each)) for kind in kinds] == [
        ("… variants were right before timing and wrong after", 1),
        ("… best differs from itself by … %", 1),
        ("… iso differs from itself by … %", 1),
        ("… smells of … herrings", 2),
        ("local memory is used (spills)", 1),
    ]
    said = [text for kind in kinds for text in kind.each]
    assert all(f"{where}: {text}" in said for text, where in found[1:])
    assert said[-1] == "gemm/tma (iso), 8 B a thread"
    gravest = "6 warnings of 5 kinds, the gravest (1): lud: 2 variants were right before timing"
    assert warnings.summary(kinds).startswith(gravest)
    assert warnings.summary([]) == "no warnings"


def test_an_implementation_with_a_library_is_compared_with_its_strategy(groups, save):
    path = save(
        synthetic.document([synthetic.spelled_group("nw", {"n": 128}, 1.0)]), "w/words.json"
    )
    page = render(load([path]))
    chapter = page.split('id="others"')[1].split("</section>")[0]
    for said in ("cuda_barrier", "implemented with", "0.4", "0.5", "0.800", "slower"):
        assert said in chapter, said
    assert 'id="others"' not in render(load([groups]))
