"""The inventory of the source documents, docs/reproduction.md, and the figures of memory."""

from __future__ import annotations

import pytest
import synthetic

from plots import figures, published, reproduction
from plots.cli import main
from plots.errors import PlotsError
from plots.load import load
from plots.strategies import ROOT


def test_the_inventory_is_whole_and_every_id_is_mapped_or_says_why():
    items = published.inventory()
    assert len(items) == 98 and len({i.id for i in items}) == 98
    for item in items:
        assert item.by or item.remark, item.id
        assert item.method in ("same", "nothing") or item.method.startswith("other: "), item.id
    assert {c.id for c in published.comparisons()} <= {i.id for i in items}


def test_the_repositorys_page_is_that_of_the_recorded_results():
    page = ROOT / "docs" / "reproduction.md"
    files = published.recorded([ROOT / "results"])
    relative = [
        published.Recorded(str((ROOT / f.path).relative_to(ROOT)), f.document) for f in files
    ]
    expected = reproduction.render(relative, page.parent.relative_to(ROOT))
    assert page.read_text(encoding="utf-8") == expected, (
        "stale: python -m plots reproduction results -o docs/reproduction.md"
    )


def entry(files, name):
    return next(e for e in reproduction.entries(files) if e.item.id == name)


def test_statuses_pretend_nothing(memory_file):
    files = published.recorded([memory_file])
    l1 = entry(files, "000-04")
    assert l1.status == "reproduced" and len(l1.lines) == 3
    assert l1.lines[0].own.value == 41 and l1.lines[0].published == 40.7
    assert l1.lines[0].ratio() == pytest.approx(41 / 40.7)
    ratio = entry(files, "000-08")
    assert ratio.lines[0].own.value == pytest.approx(282 / 41) and ratio.lines[1].own is None
    memory = entry(files, "000-07")
    assert memory.status == "not applicable" and "sm_90" in memory.why
    assert entry(files, "001-19").status == "not yet measured"
    peers = entry(files, "002-13")  # ran, and had nothing to measure on one GPU
    assert peers.status == "not applicable" and "sm_90" in peers.why and not peers.link
    assert entry(files, "000-02").status == "nothing to measure"
    assert entry([], "000-04").status == "not yet measured"
    for e in reproduction.entries([]):
        assert e.status in ("not yet measured", "not yet built", "nothing to measure"), e.item.id
        assert all(line.own is None for line in e.lines)


def test_the_page_has_a_row_for_every_id_and_links_to_the_data(memory_file, tmp_path):
    text = reproduction.render(published.recorded([memory_file]), tmp_path)
    for item in published.inventory():
        assert f"| {item.id} |" in text
    assert "[memory.json](memory.json)" in text and "## NVIDIA H200" in text


def test_the_command_writes_the_page(memory_file, tmp_path, capsys):
    out = tmp_path / "page.md"
    assert main(["reproduction", str(memory_file), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("# What of the source documents")
    assert main(["reproduction", str(memory_file)]) == 0
    assert "000-04" in capsys.readouterr().out


def test_points_and_findings_are_loaded_once_each_the_latest(save):
    old = save(synthetic.memory_like(date="2026-11-20T10:00:00Z"), "old.json")
    document = synthetic.memory_like()
    document["microbenchmarks"][0]["rows"][0]["value"]["median"] = 33.0
    results = load([old, save(document, "new.json")])
    points = results.points
    assert len(points) == sum(len(m["rows"]) for m in document["microbenchmarks"])
    assert 33.0 in set(points["median"])
    assert (points["proof"] == "32 LDG per iteration (sass)").all()
    assert len(results.findings) == 2
    assert results.where(gpu="another").points.empty


def test_a_file_that_breaks_the_schema_is_refused(save):
    document = synthetic.memory_like()
    del document["microbenchmarks"][0]["rows"][0]["unit"]
    with pytest.raises(PlotsError, match="unit"):
        load([save(document)])


def test_the_latency_ladder_shows_every_operator_and_the_capacity(memory_file):
    (ax,) = figures.latency(load([memory_file])).axes
    assert ax.get_legend_handles_labels()[1] == ["ld.ca (every level)", "ld.cg (L2 only)"]
    assert ax.get_xlabel() == "footprint" and "L1 ends" in [t.get_text() for t in ax.texts]
    assert ax.get_xscale() == "log"


def test_bandwidth_against_bytes_in_flight_has_both_levels(memory_file):
    memory, l2 = figures.in_flight(load([memory_file])).axes
    assert len(memory.containers) == len(l2.containers) == 3
    assert "95 % at 27 KiB" in [t.get_text() for t in memory.texts] and not l2.texts


def test_the_asynchronous_copies_have_four_panels(async_copy_file):
    roof, barrier, pipeline, low = figures.async_copy(load([async_copy_file])).axes
    assert len(roof.lines) == 2 * 6 + 1 and roof.get_yscale() == "log"
    assert [t.get_text() for t in pipeline.get_legend().texts] == ["0.25 op/byte", "16 op/byte"]
    # Of the tiles 512 B to 32 KiB: a tenth slower at the first, level at 16 KiB.
    first = barrier.lines[0].get_ydata()
    assert first[0] == pytest.approx(0.9) and first[5] == pytest.approx(1.0)
    plain = low.lines[0].get_ydata()
    assert plain[0] == pytest.approx(100 * (1 / 0.7 - 1)) and low.lines[1].get_ydata()[0] == 0


def test_widths_of_wgmma_have_rates_and_cycles(memory_file):
    rates, cycles = figures.wgmma_n(load([memory_file])).axes
    assert len(rates.containers) == 6 and len(cycles.containers) == 4
    assert "n / 2: the units are busy" in cycles.get_legend_handles_labels()[1]


def test_energy_has_a_bar_per_load_the_dearest_at_the_bottom(memory_file):
    (ax,) = figures.tensor_energy(load([memory_file])).axes
    bars = ax.patches
    assert len(bars) == 4
    widths = [bar.get_width() for bar in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(700 / 820)
    assert " 700 W, 820 TFLOP/s" in [t.get_text() for t in ax.texts]


def test_the_ring_has_a_surface_per_cluster_size_and_a_curve_per_width(dsm_file):
    *surfaces, words, quads = figures.dsm_ring(load([dsm_file])).axes
    assert [s.get_title(loc="left") for s in surfaces] == [
        f"clusters of {n}, TB/s"
        for n in (2, 4, 8)  # 1 has no neighbour
    ]
    # 64, 256, 1024 threads x 1, 4 accesses; op=push is another curve and is left out.
    assert [t.get_text() for t in surfaces[0].texts] == [
        "0.06", "0.26", "0.26", "1.02", "1.02", "4.10",
    ]  # fmt: skip
    assert words.get_xlim()[1] < quads.get_xlim()[1]
    pairs = words.lines[0]
    assert list(pairs.get_xdata()) == [256, 1024, 1024, 4096, 4096, 16384]


@pytest.mark.parametrize(
    "draw",
    [
        figures.latency,
        figures.in_flight,
        figures.async_copy,
        figures.dsm_ring,
        figures.wgmma_n,
        figures.tensor_energy,
    ],
)
def test_without_data_they_say_so(paper, draw):
    with pytest.raises(PlotsError, match="nothing to draw"):
        draw(paper)


def test_the_command_line_draws_them(memory_file, tmp_path):
    for name in ("latency", "in_flight", "wgmma_n", "tensor_energy"):
        out = tmp_path / f"{name}.svg"
        assert main(["figure", name, str(memory_file), "-o", str(out)]) == 0 and out.exists()


def test_the_report_shows_them_beside_the_apps(memory_file, paper_file, tmp_path):
    out = tmp_path / "report.html"
    assert main(["report", str(memory_file), str(paper_file), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "What explains them: microbenchmarks" in text and "Little" in text
    assert "32 LDG per iteration (sass)" in text
