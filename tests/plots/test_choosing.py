"""The page choosing.md: made of the record, and right about it."""

from __future__ import annotations

import pytest
import synthetic

from plots.advice import choosing
from plots.data.load import load
from plots.errors import PlotsError


def section(page: str, strategy: str) -> str:
    return page.split(f"### {strategy}\n")[1].split("###")[0]


def test_overall_gains_are_named_for_and_against_each_strategy(load_groups):
    page = choosing.render(load_groups(synthetic.matched_group("nw", {"n": 64}, 1.0)))
    # tma: 1.20 by schedule and 1.30 by movement; dsm: 0.90 and 1.35 (synthetic.DIVIDED).
    assert "1 of 1: 1.56 (1.56 to 1.56); movement 1.30" in page
    assert "1 of 1: 1.22 (1.22 to 1.22); movement 1.35" in page
    assert (
        "nw n=64, stream: 1.56 [1.55, 1.57], 1.20 schedule × 1.30 [1.29, 1.31] movement"
    ) in section(page, "tma")
    assert "- Gained most: nowhere" in section(page, "drop_off")
    assert "Needs sm_90." in section(page, "dsm") and "Needs sm_80." in section(page, "overlap")


def test_a_gain_that_the_schedule_eats_is_told(load_groups):
    divided = {"tma": ("tall", 0.7, 1.2, 1.0)}
    page = choosing.render(
        load_groups(synthetic.matched_group("nw", {"n": 64}, 1.0, divided=divided))
    )
    assert "Cases in which it gained by movement and lost overall: 1." in section(page, "tma")


def test_without_a_comparison_there_is_nothing_to_choose_by(save):
    with pytest.raises(PlotsError, match="nothing says what to choose"):
        choosing.render(load([save(synthetic.document([]), "empty.json")]))
