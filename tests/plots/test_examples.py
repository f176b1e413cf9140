"""Kernels outside the suite: advice that is asked once, the page that holds it against outcomes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
from whole_record import whole_record

from plots.advice import examples, twin_traits
from plots.data.documents import read_document
from plots.data.load import load
from plots.data.strategies import ROOT
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The advice alone, without what was measured."""
    for name in EXAMPLES:
        (tmp_path / name).mkdir()
        shutil.copy(examples.RECORDED / name / "advice.json", tmp_path / name)
    return tmp_path


# --- Hits and misses ------------------------------------------------------------------------------


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
    assert case(tma=0.9).best == "baseline" and case(tma=1.1, dsm=1.2).best == "dsm"


def test_where_a_gain_lies() -> None:
    advised = examples.Advised("tma", 1.1, 1.05, 1.15, "faster")
    assert examples.inside(gain("tma", 1, 1.10), advised) == "inside"
    assert examples.inside(gain("tma", 1, 1.155), advised) == "inside"  # intervals overlap
    assert examples.inside(gain("tma", 1, 1.17), advised) == "above"
    assert examples.inside(gain("tma", 1, 1.03), advised) == "below"
    assert examples.inside(gain("tma", 1, 1.03), examples.Advised("dsm", reason="none")) == "–"
    assert examples.inside(gain("tma", 1, 1.03), None) == "–"


def advice_of(**claims: str) -> examples.Advice:
    said = tuple(examples.Advised(name, 1.1, 1.06, 1.16, claim) for name, claim in claims.items())
    return examples.Advice("2026", "GPU", {}, "tma", said)


def undecided(strategy: str) -> Gain:
    whole = gain(strategy, 1.001, 1.001)
    part = Part(1.001, 0.99, 1.01, "not resolved")
    return replace(whole, by_movement=part, total=part)


def test_a_hit_hides_no_false_claim() -> None:
    """What is 2 % slower is a hit, and was still not faster."""
    advice = advice_of(tma="faster", overlap="faster", drop_off="slower", dsm="not resolved")
    slower = examples.Case("GPU", "a", "stream", (gain("tma", 0.98, 0.98), undecided("overlap")))
    faster = examples.Case(
        "GPU", "b", "stream",
        (gain("tma", 1.2, 1.2), gain("drop_off", 1.1, 1.1), gain("dsm", 1.1, 1.1)),
    )  # fmt: skip
    judged = [(slower, advice), (faster, advice)]
    assert slower.hit("tma")
    assert examples.claims_of(judged, "faster") == examples.Claims("faster", 1, 1, 1)
    assert examples.claims_of(judged, "slower") == examples.Claims("slower", 0, 0, 1)
    assert (
        'of 3 advised as "faster" 1 were measured so, 1 not resolved, 1 the other way; of 1 '
        'advised as "slower" 0 were measured so, 0 not resolved, 1 the other way.'
    ) in examples._sums("GPU", judged)
    rows = examples._case_table(slower, advice)
    assert "| faster: the other way |" in next(r for r in rows if r.startswith("| tma"))
    assert "| faster: not resolved |" in next(r for r in rows if r.startswith("| overlap"))
    rows = examples._case_table(faster, advice)
    assert "| faster: so |" in rows[2] and "| – |" in next(r for r in rows if "| dsm" in r)


def test_the_page_names_hits_and_misses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {
        "softmax": [gain("tma", 1.08, 1.10), gain("dsm", 1.3, 1.3)],
        "transpose": [gain("tma", 1.01, 1.02), gain("overlap", 0.99, 0.95)],
        "convolution_1d": [],
    }
    outcomes = {name: examples.Outcome(tuple(of), {"g": 0.93}) for name, of in measured.items()}
    monkeypatch.setattr(examples, "outcome", lambda name, _: outcomes[name])
    text = examples.page(folder)
    assert "On GPU the strategy named first was a hit in 1 of 2 cases" in text
    assert "whoever had named baseline each time would have had 1." in text
    assert text.count("Baseline at its best reaches 93 % of the floor.") == 2
    assert "**miss**: tma was named first, dsm is 20.4 % faster." in text
    assert "**hit**: tma, which was named first, is the fastest." in text
    assert "| dsm | 1.30× [1.29, 1.31] (a) | – | – | 1.30× [1.29, 1.31] |" in text
    assert text.count("Not measured yet.") == 1


def test_result_files_become_cases(folder: Path) -> None:
    sizes = [{"rows": 32768, "cols": 4096}, {"rows": 8192, "cols": 16384}]
    groups = [synthetic.matched_group("softmax", size, 1.0, seed=i) for i, size in enumerate(sizes)]
    other = synthetic.matched_group("nw", {"n": 64}, 1.0)  # of another app: not looked at
    document = synthetic.document([*groups, other])
    (folder / "softmax" / "h200.json").write_text(synthetic.sealed(document), encoding="utf-8")
    measured = examples.outcome("softmax", folder)
    assert {g.app for g in measured.gains} == {"softmax"}
    cases = examples.cases_of(measured)
    for c, group in zip(cases, groups[::-1], strict=True):  # by the text of the size
        assert dict(group["key"]["size"]) in sizes and 0 < c.floor < 2
        best = next(r for r in group["rows"] if r["role"] == "best" and r["repeat"] == 0)
        assert best["variant"] == "softmax/baseline"
        assert c.floor == pytest.approx(best["floor_fraction"])
    assert [len(c.gains) for c in cases] == [len(cases[0].gains)] * 2 and cases[0].gains
    text = examples.page(folder)
    for c in cases:
        assert f"### softmax on {c.gpu}, {c.size_label}, {c.launch}" in text
        for g in c.gains:
            assert f"| {g.strategy} | {g.by_movement.text()} ({g.schedule})" in text
    assert text.count("Not measured yet.") == 2


def test_results_of_examples_are_no_part_of_the_suites() -> None:
    """`plots ... results` looks at the suite's apps alone; an example's folder can be named."""
    assert examples.result_files("softmax")
    assert not set(whole_record().groups["app"]) & set(EXAMPLES)
    assert set(load([examples.RECORDED / "softmax"]).groups["app"]) == {"softmax"}


def test_what_advice_was_worth_is_said_as_the_page_has_it():
    """Wherever its accuracy stands: for real kernels, with what always naming baseline scores."""
    text, said = examples.page(), examples.real_kernels()
    worth = examples.worth_of()
    assert worth and text.index("## Asked again") > 0
    blind = text[: text.index("## Asked again")]
    for of in worth:
        assert (
            f"On {of.gpu} the strategy named first was a hit in {of.hits} of {of.cases} cases; "
            f"whoever had named baseline each time would have had {of.of_baseline}.\n"
            f"Of the gains by movement {of.inside} of {of.gains} lie where"
        ) in blind
        assert of.text() in said
