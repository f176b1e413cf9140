"""What makes the report of a large record take long is done once: files are read and checked once
(those of twins are read again by their chapter), and figures are drawn once."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from matplotlib.figure import Figure
from plots.data.cache import Cache

from plots import parallel
from plots.commands.report import page_of
from plots.data import content_digest, documents, recomputed
from plots.figures import drawing, style
from plots.report.embedded import carried_by


@pytest.fixture
def counted(monkeypatch):
    """Counts calls by the name of the function and what names the call; all in this process."""
    calls: Counter[tuple[str, str]] = Counter()
    kept = []  # so that no id is given to another one
    monkeypatch.setattr(parallel, "cores", lambda: 1)

    def count(where, name, of):
        function = getattr(where, name)

        def counting(*arguments, **options):
            calls[name, of(*arguments)] += 1
            kept.append(arguments)
            return function(*arguments, **options)

        monkeypatch.setattr(where, name, counting)

    count(json, "loads", lambda text, *_: str(hash(text)))
    count(documents, "content_digest", lambda document: str(document["digest"]))
    count(recomputed, "check", lambda document: str(document["digest"]))
    count(drawing, "_draw", lambda name: name)
    count(style, "inline_svg", lambda figure, *_: str(id(figure)))
    count(Figure, "draw", lambda figure, *_: str(id(figure)))
    return calls


def of(calls, name):
    return [count for (function, _), count in calls.items() if function == name]


def test_files_are_read_and_figures_drawn_once(
    paper_file, memory_file, async_copy_file, dsm_file, tmp_path, monkeypatch, counted
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = [paper_file, memory_file, async_copy_file, dsm_file]
    texts = {str(hash(path.read_text(encoding="utf-8"))) for path in files}
    page = page_of([str(path) for path in files], Cache(tmp_path / "pages"), quiet=True)

    read = {text: n for (name, text), n in counted.items() if name == "loads" and text in texts}
    assert set(read) == texts and set(read.values()) == {1}
    assert of(counted, "content_digest") == of(counted, "check") == [1] * len(files)

    figures = carried_by(page)["figures"]
    assert len(figures) > 5
    asked = [count for count in of(counted, "_draw") if count]
    assert len(asked) >= len(figures) and set(asked) == {1}
    # A second pass would lay it out again, which takes half of the time of a figure.
    assert of(counted, "draw") == of(counted, "inline_svg") and set(of(counted, "draw")) == {1}


def test_what_is_counted_would_show_it(counted):
    """Else the test above could not fail."""
    for _ in range(2):
        json.loads("[1]")
    figure = style.new_figure(1, 1)
    figure.draw_without_rendering()
    assert counted["loads", str(hash("[1]"))] == 2 and of(counted, "draw") == [1]


def test_records_that_a_file_repeats_are_hashed_once(monkeypatch):
    evidence = {"registers": 32, "instructions": {"LDG": 3}}
    document = {"rows": [{"evidence": [dict(evidence)], "n": n} for n in range(5)]}
    alone = content_digest.content_digest(document)
    added = []
    plain = content_digest._add
    monkeypatch.setattr(
        content_digest,
        "_add",
        lambda parts, value, known: (added.append(value), plain(parts, value, known))[1],
    )
    assert content_digest.content_digest(document) == alone
    assert sum(value == [evidence] for value in added) == 1
    # True is no 1, though Python says that they are equal.
    for value in (True, 1):
        document["rows"][4]["evidence"] = [{"registers": value}]
        document["rows"][3]["evidence"] = [{"registers": 1}]
        changed = content_digest.content_digest(document)
        assert changed != alone
        alone = changed
