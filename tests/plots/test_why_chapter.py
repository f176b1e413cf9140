"""The chapter of the report that says why, from the profiles beside the results."""

from __future__ import annotations

import html
import json
import re

import pytest
import synthetic
import synthetic_profiles
from drawn import table_rows

from plots.data.load import load
from plots.data.profiles import load_profiles
from plots.judge.attribution import attributions
from plots.report.page import render


@pytest.fixture
def results(save):
    return save(
        synthetic.document([synthetic.matched_group("nw", {"n": 2048}, 1.0)]), "r/results.json"
    )


def save_profile(save, results):
    def counted(row):
        return synthetic_profiles.counters(busiest_cycles=1.98e6 * row["time_ms"]["median"])

    return save(
        synthetic_profiles.document(json.loads(results.read_text()), counted), "r/profile.json"
    )


def test_it_has_a_line_for_each_resolved_difference(save, results):
    assert 'id="why"' not in render(load([results]))
    profile = save_profile(save, results)
    page = render(load([results]))
    found = attributions(load([results]), load_profiles([profile]))
    rows = table_rows(page, "why")
    assert 'id="why"' in page and len(rows) == len(found) > 5
    assert [row["sentence"] for row in rows] == [a.sentence for a in found]
    # Half of three percent is as small as what counting twice differs by.
    clear = [row for row in rows if abs(row["speed-up"] - 1) > 0.04]
    assert len(clear) > 3 and {row["cause"] for row in clear} == {"memory"}
    explained = sum(row["verdict"] == "explained" for row in rows)
    assert f"{len(found)} resolved differences: {explained} explained" in page


def test_the_answer_has_the_sentence_of_the_counters_before_the_floor(save, results):
    """Of tma, which is the answer, against baseline with tma's schedule."""
    assert "of the difference" not in render(load([results]))
    profile = save_profile(save, results)
    page = render(load([results]))
    (beside,) = re.findall(r'<tr class="answer">.*?<p>[^.]*\. (.*?)</p>', page, re.DOTALL)
    (sentence,) = (
        a.sentence
        for a in attributions(load([results]), load_profiles([profile]))
        if (a.strategy, a.role, a.schedule, a.against_schedule)
        == ("tma", "matched", *2 * ("tall",))
    )
    assert html.unescape(beside).startswith(f"{sentence} The bound is ")


def test_beside_an_answer_that_all_are_slower_nothing_is_said_to_be_faster(save):
    """tma gains by movement and loses overall."""
    group = synthetic.matched_group(
        "nw", {"n": 2048}, 1.0, divided={"tma": ("tall", 0.7, 1.35, 1.0)}
    )
    results = save(synthetic.document([group]), "r/results.json")
    save_profile(save, results)
    page = render(load([results]))
    assert "the tuned baseline wins: every other strategy is slower" in page
    (beside,) = re.findall(r'<tr class="answer">.*?<p>[^.]*\. (.*?)</p>', page, re.DOTALL)
    assert "slower than baseline" in beside and "faster" not in beside
