"""The chapters below the apps, and what a page carries."""

from __future__ import annotations

import math

import numpy as np
import pytest
import synthetic
import test_twin
from drawn import table_rows
from whole_record import whole_record

from plots.advice import examples, twin
from plots.data.load import load
from plots.papers import reproduction
from plots.report import warnings
from plots.report.embedded import Column, Embedded, decoded, unpacked
from plots.report.page import render


@pytest.fixture
def groups(save):
    return save(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]), "r/groups.json")


def test_twins_are_counted_and_listed(groups, save):
    made = save(test_twin.document(*test_twin.grid()), "r/twins.json")
    page = render(load([groups.parent]))
    twins = twin.recorded_twins([made])
    rows = table_rows(page, "twins")
    assert len(rows) == len(twins) * len(synthetic.STRATEGIES)
    assert "NVIDIA H200, 12 twins; to be chosen" in page and "overlap" in page
    assert twin.accuracy(twins).sentence() in page and examples.real_kernels() in page
    one = next(r for r in rows if r["strategy"] == "tma" and "fma=16" in r["traits"])
    assert one["gain"][0] == pytest.approx(1.2) and one["gain"][3] == "faster"
    assert one["op/byte"] == 8  # 16 multiply-adds are 32 operations on 4 bytes
    assert {r["remark"] for r in rows if r["gain"] is None} == {
        "neighbouring blocks have no data in common"
    }
    assert 'id="twin"' not in render(load([groups]))


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
    a, b = decoded(encoded)["tables"]["t"]["values"]
    assert a == ["</script><script>", None, None, 3, True, "é\ud800"]
    assert b == [[None, 0.333333]] * len(values)


def resembles(row, end):
    return (
        f"{row}: its ratio to gemm/baseline in a round resembles that in the round before (rank "
        f"correlation 0.50 over 51 rounds, by chance below 0.38): the interval {end}"
    )


def test_warnings_are_one_line_for_each_kind_the_gravest_first():
    """Of whichever row and number it is said; whatever nobody judged stands before what only makes
    a number less certain."""
    found = [
        ("local memory is used (spills)", "gemm/tma (iso), 8 B a thread"),
        (resembles("gemm/dsm best", "allows for it"), "gemm"),
        (resembles("gemm/tma best", "allows for it; repeated runs say more"), "gemm"),
        ("nw/tma best differs from itself by 2.26 % in the rounds in which it ran twice", "nw"),
        ("nw/baseline iso differs from itself by 0.1 %: no smaller difference counts here", "nw"),
        ("nw/baseline smells of 3 herrings", "nw"),
        ("lud/tma smells of 12 herrings", "lud"),
        ("2 variants were right before timing and wrong after: one of them may", "lud"),
    ]
    kinds = warnings.by_kind(found)
    assert [(kind.text.split(":")[0], len(kind.each)) for kind in kinds] == [
        ("variants were right before timing and wrong after", 1),
        ("… smells of … herrings", 2),
        ("a row differs from itself", 2),
        ("an interval is wider, because rounds resemble the one before", 2),
        ("local memory is used (spills)", 1),
    ]
    said = [text for kind in kinds for text in kind.each]
    for text, where in found[1:]:
        assert f"{where}: {text}" in said  # nothing is lost
    assert said[-1] == "gemm/tma (iso), 8 B a thread"
    assert warnings.summary(kinds) == (
        "8 warnings of 5 kinds, the gravest: variants were right before timing and wrong after (1)"
    )
    assert warnings.summary([]) == "no warnings"


def test_every_kind_of_warning_of_the_record_is_judged():
    """None stands among those in other words, and there are few lines."""
    results = whole_record()
    for gpu in results.gpus:
        kinds = warnings.warnings(results.where(gpu=gpu))
        assert 0 < len(kinds) < 15 and not [k.text for k in kinds if "…" in k.text]


def test_a_spelling_stands_beside_its_strategy(groups, save):
    path = save(
        synthetic.document([synthetic.spelled_group("nw", {"n": 128}, 1.0)]), "w/words.json"
    )
    page = unpacked(render(load([path])))
    chapter = page.split('id="spellings"')[1].split("</section>")[0]
    for said in ("cuda_barrier", "spelled", "0.4", "0.5", "0.800", "slower"):
        assert said in chapter, said
    assert 'id="spellings"' not in render(load([groups]))
