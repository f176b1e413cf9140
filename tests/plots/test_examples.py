"""Kernels outside the suite: advice that was asked once, and what was measured afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import synthetic
from whole_record import whole_record

from plots.advice import examples, twin_traits
from plots.data.documents import read_document
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.judge.gains import Gain, Part

EXAMPLES = examples.names()


@pytest.mark.parametrize("name", EXAMPLES)
def test_advice_was_asked_before_anything_was_measured(name: str) -> None:
    answers = examples.read_advice(examples.RECORDED / name / "advice.json")
    for path in examples.result_files(name):
        provenance = read_document(path).provenance
        advice = examples.advice_for(provenance.device.name, answers)
        assert advice.asked < provenance.date_utc, f"{path} was measured before it was asked"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_advice_is_of_the_traits_that_stand_there(name: str) -> None:
    asked = twin_traits.asked_in_file(ROOT / "examples" / name / "traits.toml")
    for advice in examples.read_advice(examples.RECORDED / name / "advice.json"):
        for trait, value in asked.items():
            if trait == "tile":
                tile = int(advice.traits["rows"]) * int(advice.traits["row_bytes"])
                assert tile == twin_traits.integer(value)
            else:
                assert advice.traits[trait] == value, trait
        assert advice.first in [a.strategy for a in advice.strategies]
        assert len(advice.strategies) == 6


def gain(strategy: str, total: float, movement: float, width: float = 0.01) -> Gain:
    def part(ratio: float) -> Part:
        return Part(ratio, ratio - width, ratio + width, "faster" if ratio > 1 else "slower")

    return Gain(
        "GPU", "g", "softmax", "rows=1", "rows=1", "cold", "stream", strategy, "a", "b",
        part(total), part(total / movement), part(movement), None,
    )  # fmt: skip


def case(**totals: float) -> examples.Case:
    return examples.Case(
        "GPU", "rows=1", "stream", tuple(gain(name, total, total) for name, total in totals.items())
    )


def test_a_hit_costs_at_most_five_percent() -> None:
    assert case(tma=1.20, overlap=1.25).hit("tma")
    assert not case(tma=1.20, overlap=1.27).hit("tma")
    assert case(tma=0.97, overlap=0.90).hit("tma")  # baseline is the best, and near
    assert not case(tma=0.94, overlap=0.90).hit("tma")
    assert case(tma=0.94, overlap=0.90).hit("baseline")
    assert not case(overlap=1.0).hit("tma")  # which was not measured


def test_where_a_gain_lies() -> None:
    advised = examples.Advised("tma", 1.1, 1.05, 1.15, "faster")
    assert examples.inside(gain("tma", 1, 1.10), advised)
    assert examples.inside(gain("tma", 1, 1.155), advised)  # intervals overlap
    assert examples.inside(gain("tma", 1, 1.17), advised) is False
    assert examples.inside(gain("tma", 1, 1.03), advised) is False
    assert examples.inside(gain("tma", 1, 1.03), examples.Advised("dsm", reason="none")) is None
    assert examples.inside(gain("tma", 1, 1.03), None) is None


def test_result_files_become_cases_and_are_judged_by_the_advice(tmp_path: Path) -> None:
    for name in EXAMPLES:  # the advice alone, without what was measured
        (tmp_path / name).mkdir()
        shutil.copy(examples.RECORDED / name / "advice.json", tmp_path / name)
    assert examples.worth_of(tmp_path) == [] and examples.real_kernels(tmp_path) == ""
    sizes = [{"rows": 32768, "cols": 4096}, {"rows": 8192, "cols": 16384}]
    groups = [synthetic.matched_group("softmax", size, 1.0, seed=i) for i, size in enumerate(sizes)]
    other = synthetic.matched_group("nw", {"n": 64}, 1.0)  # of another app: not looked at
    document = synthetic.document([*groups, other])
    (tmp_path / "softmax" / "h200.json").write_text(synthetic.sealed(document), encoding="utf-8")
    cases = examples.cases_of("softmax", tmp_path)
    assert [c.size_label for c in cases] == ["rows=32768 cols=4096", "rows=8192 cols=16384"]
    assert cases[0].gains and len(cases[0].gains) == len(cases[1].gains)
    (worth,) = examples.worth_of(tmp_path)
    answers = examples.read_advice(tmp_path / "softmax" / "advice.json")
    advice = examples.advice_for(worth.gpu, answers)
    judged = [examples.inside(g, advice.of(g.strategy)) for c in cases for g in c.gains]
    assert (worth.gains, worth.inside) == (sum(j is not None for j in judged), judged.count(True))
    # tma is named first and gains 1.56 overall, more than all others (synthetic.DIVIDED).
    assert advice.first == "tma" and (worth.cases, worth.hits, worth.of_baseline) == (2, 2, 0)
    assert worth.text() in examples.real_kernels(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{", '[{"asked": "2026", "gpu": 3}]'])
def test_what_is_no_advice_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "advice.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlotsError, match="no advice is recorded there"):
        examples.read_advice(path)


def test_results_of_examples_are_no_part_of_the_suites() -> None:
    """`plots ... results` looks at the suite's apps alone; an example's folder can be named."""
    assert examples.result_files("softmax")
    assert not set(whole_record().groups["app"]) & set(EXAMPLES)
    assert set(load([examples.RECORDED / "softmax"]).groups["app"]) == {"softmax"}
