"""The expectation analysis: golden numbers of Svedin et al. 2021, and any two result files."""

from __future__ import annotations

import numpy as np
import planted
import pytest

from plots.data.load import load
from plots.papers import expect, specifications
from plots.report import a100_over_v100
from plots.tree import ROOT


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
    e = specifications.expect_specs(*map(specifications.find_spec, ("A100", "V100")))
    assert str(e) == "1.38 = min(FLOP 1.38, bandwidth 1.73)" and e.limited_by == "FLOP"


def test_every_ratio_of_a100_over_v100_is_told_with_its_share_of_the_expected():
    quoted = a100_over_v100.quoted()
    assert len(quoted) == 11
    shares = quoted.dropna().set_index("what")["of expected"].round(2).to_dict()
    assert shares == {
        "mean Rodinia speed-up": 0.97,
        "BFS speed-up": 2.00,
        "CFD speed-up": 1.37,
        "SRAD speed-up": 1.09,
    }
    said = " ".join(a100_over_v100.ceilings_of_programs())
    assert "SRAD (1.5) lies between" in said and "BFS (2.76) and CFD (1.89) are above" in said


def test_which_v100_decides_whether_the_mean_falls_short():
    table = a100_over_v100.by_module().set_index("V100").round(2)
    columns = ["memory", "W", "FLOP fp32", "bandwidth", "expected", "mean / expected"]
    assert {name: row.tolist() for name, row in table[columns].iterrows()} == {
        "Table 1": ["16 GB HBM2", 300, 1.38, 1.73, 1.38, 0.97],
        "V100 PCIe": ["16 GB HBM2", 250, 1.39, 1.73, 1.39, 0.96],
        "V100 SXM2": ["16 GB HBM2", 300, 1.24, 1.73, 1.24, 1.08],
    }
    page = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert "promises 1.38 over" in page and "1.39 over the V100 PCIe and 1.24 over the" in page


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
    h200 = specifications.spec_of_driver("NVIDIA H200")
    assert (h200.bandwidth_gb_s, h200.fp32_tflops, h200.sms) == (4800, 67, 132)
    assert specifications.spec_of_driver("NVIDIA Nonesuch") is None


def test_two_result_files(two_gpus):
    new, old = two_gpus()
    m = expect.compare(new, old)
    assert (m.new_gpu, m.old_gpu) == ("NVIDIA H200", "NVIDIA A100-SXM4-40GB")
    assert len(m.rows) == 12
    assert m.rows["ratio"].tolist() == pytest.approx([2.0] * 12, rel=0.005)
    assert m.rows["resolved"].all()
    assert ((m.rows["low"] < m.rows["ratio"]) & (m.rows["ratio"] < m.rows["high"])).all()
    assert m.rows["floor_ratio"].tolist() == pytest.approx([2.5] * 12)  # of the ceilings
    # Datasheets: H200 SXM over A100 40GB SXM.
    assert m.datasheet.flop_ratio == pytest.approx(67 / 19.5)
    assert m.datasheet.expected == pytest.approx(4800 / 1555)
    # Measured ceilings: everything 2.5 times better, latencies too.
    assert m.measured_ceilings.expected == pytest.approx(2.5)
    assert m.ceilings["ratio"].tolist() == pytest.approx([2.5] * 6)


def test_only_matching_rows_count(two_gpus):
    fewer = {k: v for k, v in planted.TYPICAL.items() if k not in ("tma", "dsm")}
    new, old = two_gpus(speedups=fewer)
    m = expect.compare(new, old)
    assert len(m.rows) == 8
    assert set(m.rows["strategy"]) == set(fewer)


def test_matched_and_cross_rows_are_no_pairs(save):
    """Which schedules they have depends on what is best on each GPU."""

    def document(factor, **options):
        size = {"n": 512}
        groups = [planted.matched_group("nw", size, factor), planted.cross_group("nw", size)]
        return planted.document(groups, **options)

    new, old = save(document(1.0), "new.json"), save(document(2.0, gpu=planted.A100), "old.json")
    m = expect.compare(load([new]), load([old]))
    assert set(m.rows["role"]) == {"iso", "best"} and len(m.rows) == 12
