"""The inventory of the source documents, docs/reproduction.md."""

from __future__ import annotations

import pytest
import synthetic

from plots import published, reproduction
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
    first = document["microbenchmarks"][0]["rows"][0]
    first.update(synthetic.micro_row(first["at"], 33.0, first["quantity"], first["unit"]))
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


def test_the_report_shows_them_beside_the_apps(memory_file, paper_file, tmp_path):
    out = tmp_path / "report.html"
    assert main(["report", str(memory_file), str(paper_file), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "What explains them: microbenchmarks" in text and "Little" in text
    assert "32 LDG per iteration (sass)" in text
