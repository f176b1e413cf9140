"""The expectation analysis: golden numbers of Svedin et al. 2021, and any two result files."""

from __future__ import annotations

import re

import numpy as np
import pytest
import synthetic

from plots.cli import main
from plots.data.load import load
from plots.errors import PlotsError
from plots.papers import expect, specifications


def test_a100_over_v100_is_the_papers():
    e = specifications.expect_specs(
        specifications.find_spec("A100"), specifications.find_spec("V100")
    )
    assert round(e.flop_ratio, 2) == 1.38
    assert round(e.bandwidth_ratio, 2) == 1.73
    assert str(e) == "1.38 = min(FLOP 1.38, bandwidth 1.73)"
    assert e.limited_by == "FLOP"
    assert specifications.quoted_mean("A100", "V100")[0] == 1.34


def test_fp64_gains_the_same_there():
    specs = specifications.find_spec("A100"), specifications.find_spec("V100")
    assert round(specifications.expect_specs(*specs, "fp64").flop_ratio, 2) == 1.38


def test_quoted_means_beside_expectations():
    table = expect.published_table().set_index(["new", "old"])
    golden = {
        ("P100", "K80"): (2.58, 3.04, 2.58, 3.95),
        ("RTX 2060 SUPER", "GTX 1050 Ti"): (3.36, 4.00, 3.36, 3.36),
        ("A100", "V100"): (1.38, 1.73, 1.38, 1.34),
        ("K80", "GTX 745"): (5.19, 8.35, 5.19, 4.28),
        ("V100", "RTX 2060 SUPER"): (1.97, 2.00, 1.97, 2.00),
        ("A100", "RTX 2060 SUPER"): (2.71, 3.47, 2.71, 2.66),
    }
    assert set(table.index) == set(golden)
    for pair, numbers in golden.items():
        row = table.loc[pair]
        found = row[["flop_ratio", "bandwidth_ratio", "expected", "measured_mean"]]
        assert [round(v, 2) for v in found] == list(numbers), pair
    assert table.loc[("K80", "GTX 745"), "std_dev"] == 1.83


def test_every_pair_of_the_eight_gpus_works():
    specs = specifications.paper_specs()
    assert len(specs) == 8
    for new in specs:
        for old in specs:
            there, back = (
                specifications.expect_specs(new, old),
                specifications.expect_specs(old, new),
            )
            assert there.expected == min(there.flop_ratio, there.bandwidth_ratio)
            assert there.flop_ratio * back.flop_ratio == pytest.approx(1)


def test_balance_and_density_are_those_of_figure_1():
    specs = {s.name: s for s in specifications.paper_specs()}
    # Section 6: "often between 0.03 and 0.07" in fp32, 2.0 in fp64 for the RTX 2060; the P100 has
    # a slightly higher compute density than the V100.
    assert round(specs["GTX 745"].balance(), 3) == 0.036
    assert round(specs["P100"].balance(), 3) == 0.069
    assert round(specs["RTX 2060 SUPER"].balance("fp64"), 2) == 2.0
    assert round(specs["V100"].balance("fp64"), 2) == 0.13
    assert 1 < specs["P100"].density() / specs["V100"].density() < 1.01
    assert round(specs["A100"].density(), 1) == 23.6


def test_datasheets_are_plausible_and_cited():
    names = set()
    for spec in specifications.datasheet_specs():
        assert spec.name not in names
        names.add(spec.name)
        assert "NVIDIA" in spec.source and ("datasheet" in spec.source or "paper" in spec.source)
        assert 0.005 < spec.balance() < 0.2, spec.name
        assert np.isnan(spec.fp64_tflops) or spec.fp64_tflops < spec.fp32_tflops
    order = ("Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper",
             "Blackwell")  # fmt: skip
    found = {spec.architecture: [] for spec in specifications.datasheet_specs()}
    assert tuple(found) == order
    for spec in specifications.datasheet_specs():
        found[spec.architecture].append(spec.name)
    # A data-centre and a consumer GPU of each, where there were both.
    consumer = {a for a, names in found.items() if any(n.startswith(("GTX", "RTX")) for n in names)}
    assert consumer == set(order) - {"Volta", "Hopper"}
    assert all(any(not n.startswith(("GTX", "RTX")) for n in names) for names in found.values())
    h200 = specifications.spec_of_driver("NVIDIA H200")
    assert (h200.name, h200.bandwidth_gb_s, h200.fp32_tflops, h200.sms) == (
        "H200 SXM",
        4800,
        67,
        132,
    )
    assert specifications.spec_of_driver("NVIDIA Nonesuch") is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a100", "A100"),
        ("RTX 2060", "RTX 2060 SUPER"),
        ("NVIDIA H200", "H200 SXM"),
        ("H200", "H200 SXM"),
        ("rtx 4090", "RTX 4090"),
    ],
)
def test_names_of_gpus(name, found):
    assert specifications.find_spec(name).name == found


def test_unknown_and_ambiguous_names():
    with pytest.raises(PlotsError, match=r'no GPU "RTX 4091"; nearest: RTX 4090'):
        specifications.find_spec("RTX 4091")
    with pytest.raises(PlotsError, match="ambiguous: GTX 745, GTX 1050 Ti"):
        specifications.find_spec("GTX")


def test_two_result_files(two_gpus):
    new, old = two_gpus()
    m = expect.compare(new, old)
    assert (m.new_gpu, m.old_gpu) == ("NVIDIA H200", "NVIDIA A100-SXM4-40GB")
    assert len(m.rows) == 12 and m.only_new == 0 and m.only_old == 0
    mean, n = m.mean()
    assert n == 12 and mean == pytest.approx(2.0, rel=0.005)
    assert m.rows["resolved"].all()
    assert ((m.rows["low"] < m.rows["ratio"]) & (m.rows["ratio"] < m.rows["high"])).all()
    assert m.rows["floor_ratio"].tolist() == pytest.approx([2.5] * 12)  # of the ceilings
    assert m.mean(role="iso", strategy="tma")[1] == 1
    assert np.isnan(m.mean(strategy="absent")[0])
    # Datasheets: H200 SXM over A100 40GB SXM.
    assert m.datasheet.flop_ratio == pytest.approx(67 / 19.5)
    assert m.datasheet.expected == pytest.approx(4800 / 1555)
    # Measured ceilings: everything 2.5 times better, latencies too.
    assert m.measured_ceilings.expected == pytest.approx(2.5)
    assert m.ceilings["ratio"].tolist() == pytest.approx([2.5] * 6)


@pytest.mark.parametrize(("rounds", "resolved"), [(9, True), (7, True), (6, False)])
def test_rows_that_all_differ_need_no_more_rounds_than_one(save, rounds, resolved):
    """Six rounds on each side tell nothing apart at 95 %, seven do; twelve rows that all differ
    need not a round more (with Bonferroni they would need eleven)."""
    for speedups, count in (({"baseline": (1, 1)}, 1), (None, 12)):
        sides = []
        for name, factor in (("new", 1.0), ("old", 2.0)):
            group = synthetic.group("nw", {"n": 512}, factor, speedups=speedups, rounds=rounds)
            if count == 1:
                group["rows"] = group["rows"][:1]
            gpu = synthetic.A100 if name == "old" else None
            sides.append(load([save(synthetic.document([group], gpu=gpu), f"{name}.json")]))
        rows = expect.compare(*sides).rows
        assert rows["resolved"].tolist() == [resolved] * count
        assert rows["too_few_rounds"].tolist() == [not resolved] * count
        assert set(rows["knows"]) == {"one run each"}


def test_only_matching_rows_count(two_gpus):
    fewer = {k: v for k, v in synthetic.TYPICAL.items() if k not in ("tma", "dsm")}
    new, old = two_gpus(speedups=fewer)
    m = expect.compare(new, old)
    assert len(m.rows) == 8 and m.only_new == 4 and m.only_old == 0
    assert set(m.rows["strategy"]) == set(fewer)


def test_rows_that_never_match(save):
    new = load([save(synthetic.document([synthetic.group("nw", {"n": 1}, 1.0)]), "a.json")])
    old = load([save(synthetic.document([synthetic.group("nw", {"n": 2}, 1.0)]), "b.json")])
    with pytest.raises(PlotsError, match="no row of one matches"):
        expect.compare(new, old)


def test_several_gpus_on_one_side(save):
    group = synthetic.group("nw", {"n": 1}, 1.0)
    save(synthetic.document([group], gpu=synthetic.A100), "r/a.json")
    both = load([save(synthetic.document([group]), "r/b.json").parent])
    with pytest.raises(PlotsError, match="one GPU on each side"):
        expect.compare(both, both)


def test_published_data_cite_their_source():
    for path in (specifications.TABLE1, specifications.QUOTED):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert re.match(r"# .*Svedin et al\..*arXiv 2106\.04979", first), path


def test_the_paper_is_shown_with_its_programs_and_contradictions(capsys):
    quoted = expect.quoted_programs()
    assert dict(zip(quoted["program"], quoted["speedup"], strict=True)) == {
        "BFS": 2.76, "CFD": 1.89, "SRAD": 1.5,
    }  # fmt: skip
    assert main(["expect"]) == 0
    printed = capsys.readouterr().out
    assert "BFS" in printed and "2.76" in printed
    for told in ("A100 has 0.0798", "K80 has 0.1755", "3.37 times", "28 more", "up to 1.25"):
        assert told in printed, told
    assert "62.9" not in printed  # another document's


def test_what_the_paper_quotes_of_strategies():
    quotes = specifications.strategy_quotes()
    found = {(q.app, q.strategy): (q.low, q.high) for q in quotes.itertuples()}
    assert found == {
        ("hotspot", "overlap"): (1.12, 1.23),
        ("nw", "register_bypass"): (1.01, 1.08),
        ("lud", "register_bypass"): (1.32, 1.32),
        ("lud", "overlap"): (1.25, 1.27),
        ("pathfinder", "drop_off"): (1.04, 1.11),
    }
    assert quotes["remark"].str.contains("8192x8192").sum() == 1


def test_each_published_table_is_stored_once():
    contents = [
        p.read_text(encoding="utf-8") for p in sorted(specifications.TABLE1.parent.glob("*.csv"))
    ]
    tables = [text for text in contents if re.search(r"897\.?0?,14\.13,7\.066", text)]
    assert len(tables) == 1, "the V100 of Table 1 stands in several files"


def test_work_without_a_floor_has_no_ratio_of_floors(save):
    group = synthetic.group("nw", {"n": 512}, 1.0)
    group["work"].update(operations=0, bytes_read=0, bytes_written=0, dependent_operations=0)
    document = synthetic.document([group])
    new = load([save(document, "new.json")])
    document["provenance"]["device"] = synthetic.A100
    m = expect.compare(new, load([save(document, "old.json")]))
    assert np.isnan(m.rows["floor_ratio"]).all() and (m.rows["ratio"] > 0).all()


def test_matched_and_cross_rows_are_no_pairs(save):
    """Which schedules they have depends on what is best on each GPU."""

    def document(factor, **options):
        size = {"n": 512}
        groups = [synthetic.matched_group("nw", size, factor), synthetic.cross_group("nw", size)]
        return synthetic.document(groups, **options)

    new, old = save(document(1.0), "new.json"), save(document(2.0, gpu=synthetic.A100), "old.json")
    m = expect.compare(load([new]), load([old]))
    assert set(m.rows["role"]) == {"iso", "best"} and len(m.rows) == 12
    assert m.only_new == m.only_old == 0


def run_on(save, name, factor_of, code_of_tma=""):
    """A run on a GPU of that name, each row at its time by ``factor_of(its place)``."""
    group = synthetic.group("nw", {"n": 512}, 1.0, half=1e-4, rounds=41)
    for place, row in enumerate(group["rows"]):
        row.median *= factor_of(place, row)
        if code_of_tma and row["variant"] == "nw/tma":
            row["source_digest"] = (code_of_tma * 32)[:64]
    synthetic.measure(group)
    document = synthetic.document([group])
    document["provenance"]["device"]["uuid_hash"] = name
    return load([save(document, f"{name}.json")])


def test_a_plain_run_again_is_not_resolved_and_changed_code_is(save):
    """Rows of unchanged code tell how far a row moves: also one whose code has changed."""

    def of_new(place, row):
        return (1.01 if place % 2 else 0.99) * (0.8 if row["variant"] == "nw/tma" else 1)

    old = run_on(save, "old", lambda *_: 1, "old")
    rows = expect.compare(run_on(save, "new", of_new, "new"), old).rows
    assert set(rows["knows"]) == {"between runs"}
    assert set(rows.loc[rows["resolved"], "variant"]) == {"nw/tma"}


def test_what_is_to_be_judged_is_not_taken_for_what_differs_between_runs(save):
    old = run_on(save, "old", lambda *_: 1)
    rows = expect.compare(run_on(save, "new", lambda place, _: 0.5 + 1e-3 * (place % 2)), old).rows
    assert set(rows["knows"]) == {"between runs"} and rows["resolved"].all()
    assert (rows["low"] > 1.9).all() and (rows["high"] < 2.1).all()
    # One row of unchanged code that moved by itself.
    one = run_on(save, "one", lambda place, _: 0.5 if place == 2 else 1 + 1e-3 * (place % 2))
    rows = expect.compare(one, old).rows
    assert rows["resolved"].sum() == 1 and rows.loc[rows["resolved"], "ratio"].iloc[0] > 1.9
