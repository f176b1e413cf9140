"""Files of programs with uncommitted changes: every page that they reach says so."""

from __future__ import annotations

import synthetic

from plots.data.load import load
from plots.judge import between_runs, occupancy
from plots.report import readme


def test_every_page_says_so(tmp_path):
    document = synthetic.paper_like()
    texts = {}
    for dirty in (False, True):
        document["provenance"]["dirty"] = dirty
        path = tmp_path / "paper.json"
        path.write_text(synthetic.sealed(document), encoding="utf-8")
        results = load([path])
        page = tmp_path / "README.md"
        page.write_text(f"{readme.BEGIN}\n{readme.END}\n", encoding="utf-8")
        readme.write(results, page)
        texts[dirty] = {
            "between": between_runs.page(results),
            "occupancy": occupancy.page(results),
            "README": page.read_text(encoding="utf-8"),
        }
    flat = {dirty: {n: " ".join(t.split()) for n, t in of.items()} for dirty, of in texts.items()}
    assert [n for n, t in flat[False].items() if "uncommitted" in t] == []
    assert [n for n, t in flat[True].items() if "1 of the 1 result files" not in t] == []
