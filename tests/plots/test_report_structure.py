"""The report looks as it did when it was last reviewed: every chapter, on a screen and on a
phone, light and dark.

The reference is numbers, not pictures (page_structure.py). Who changes the look on purpose looks at
the page, records the reference anew with AMASIA_UPDATE_GOLDEN=1, and reads the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import browser
import page_structure
import pytest

pytestmark = pytest.mark.skipif(browser.find() is None, reason=browser.MISSING)

REFERENCE = Path(__file__).with_name("report_structure.json")
LOOKS = {
    f"{width} px, {theme}": (width, arguments)
    for width in (1280, 390)
    for theme, arguments in (("light", ()), ("dark", (page_structure.DARK,)))
}


@pytest.fixture(scope="module")
def page(write_page, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("structure"))


@pytest.fixture(scope="module")
def reference(page):
    if os.environ.get("AMASIA_UPDATE_GOLDEN"):
        prepared = page_structure.prepared(page)
        found = {
            name: page_structure.chapters(prepared, width, *arguments)
            for name, (width, arguments) in LOOKS.items()
        }
        REFERENCE.write_text(page_structure.written(found), encoding="utf-8")
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("look", LOOKS)
def test_every_chapter_looks_as_it_did(page, reference, look):
    width, arguments = LOOKS[look]
    prepared = page_structure.prepared(page)
    assert page_structure.differences(prepared, width, reference[look], *arguments) == []


# CSS that breaks the page, and the chapters of which something must be said; together, because a
# browser takes its time, and apart where they break the same chapter.
FAULTS = {
    "one": {
        "#method { display: none }": "method: gone",
        "#generations figure { display: none }": "generations: ",
        "nav { position: absolute; top: 0 }": "header: ",  # over the title
        ".heat td { background: none !important }": "answer: ",
        "#provenance * { color: var(--page) }": "provenance: ",
    },
    "other": {
        "#method > :not(h2) { display: none }": "method: ",
        ".heat { width: 60% }": "answer: ",
        "#generations > :not(h2) { visibility: hidden }": "generations: ",
    },
}


@pytest.mark.parametrize(
    ("faults", "look"),
    [("one", "1280 px, light"), ("one", "390 px, dark"), ("other", "1280 px, light")],
)
def test_planted_faults_are_seen(page, reference, faults, look):
    width, arguments = LOOKS[look]
    prepared = page_structure.prepared(page, "\n".join(FAULTS[faults]))
    found = page_structure.differences(prepared, width, reference[look], *arguments)
    for css, said in FAULTS[faults].items():
        assert any(line.startswith(said) for line in found), (css, found)
    whole = {"h200-apps", "microbenchmarks", "choose"}  # nothing is said of these
    assert not [line for line in found if line.split(":")[0] in whole]
