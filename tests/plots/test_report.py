"""The report is one file, complete, and honest about what is missing."""

from __future__ import annotations

import base64
import html
import html.parser
import io
import json
import re
import time

import pytest
import synthetic
from fontTools.ttLib import TTFont

from plots import report
from plots.cache import Cache
from plots.errors import PlotsError
from plots.figures.samples import MOST_PICTURES
from plots.load import load
from plots.report import render, row_records


class Page(html.parser.HTMLParser):
    """Checks that elements close in order, and collects text, ids, links and foreign references."""

    VOID = frozenset(("meta", "br", "img", "link", "input", "hr"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.anchors: list[str] = []
        self.foreign: list[str] = []
        self.text: list[str] = []
        self.count: dict[str, int] = {}
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in self.VOID:
            self.stack.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href"):
                if value.startswith("#"):
                    self.anchors.append(value[1:])
                elif not value.startswith("data:"):
                    self.foreign.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


@pytest.fixture(scope="module")
def paper_report(paper_file) -> str:
    return render(load([paper_file]))


@pytest.fixture(scope="module")
def page(paper_report) -> Page:
    return Page(paper_report)


def test_it_is_self_contained(page):
    assert page.foreign == []
    assert "script" not in page.count
    assert len(page.ids) == len(set(page.ids))
    assert set(page.anchors) <= set(page.ids)


def test_it_has_every_figure(page):
    # Four modes of speed-up, heat map, styles, floor, roofline, launch, expectation, balance; the
    # samples.
    assert page.count["figure"] == 4 + 7 + MOST_PICTURES
    assert "4 more groups" in page.words
    assert "The same, hot cache, graph launches" in page.words


def test_it_says_whose_data_these_are(page):
    assert "Data: NVIDIA H200, 2026-11-21." in page.words
    assert "promises 4800 GB/s and 67 TFLOP/s" in page.words
    assert "amasia study paper" in page.words and "0123456789abcdef" in page.words


def test_noise_stands_above_the_results(page):
    words = page.words
    assert words.index("Noise of the machine") < words.index("Strategies and sizes")
    assert "no control differs from itself" in words and "40 controls" in words


def test_it_lists_every_row_and_those_without_a_time(page):
    rows = sum(len(g["rows"]) for g in synthetic.paper_like()["groups"])
    assert f"{rows} rows" in page.words
    for reason in (
        "output differs from the reference: 7 of 1000 elements",
        "an illegal memory access was encountered",
        "needs sm_90, this GPU is sm_80",
    ):
        assert reason in page.words
    assert "3 samples were throttled; cool the GPU" in page.words


def test_the_papers_numbers_stand_beside_ours(page):
    assert "min(1.38, 1.73) = 1.38, and their mean over Rodinia was 1.34" in page.words
    assert "1.12 to 1.23" in page.words and "1.04 to 1.11" in page.words


def test_two_gpus_are_compared(save):
    size = {"n": 512}
    a100 = synthetic.device("NVIDIA A100-SXM4-40GB", 80)
    save(
        synthetic.document([synthetic.group("nw", size, 2.0)], gpu=a100, ceiling_scale=0.4),
        "r/a.json",
    )
    folder = save(synthetic.document([synthetic.group("nw", size, 1.0)]), "r/b.json").parent
    page = Page(render(load([folder])))
    assert "NVIDIA H200 over NVIDIA A100-SXM4-40GB" in page.words
    assert "let one expect 2.50 = min(FLOP 2.50, bandwidth 2.50)" in page.words
    assert "12 rows match" in page.words
    assert len(page.ids) == len(set(page.ids))


def test_odd_results_make_a_report(save):
    """No control, no ceilings, one row; a disturbed control; a dirty tree; text from outside."""
    bare = synthetic.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1)}, control=False)
    bare["floor"] = None
    bare["rows"] = bare["rows"][:1]
    bare["warnings"] = ["<script>alert(1)</script>"]
    bare["launch_blocked"] = False
    document = synthetic.document([bare])
    document["ceilings"] = []
    document["provenance"].update(dirty=True)
    page = Page(render(load([save(document)])))
    assert "No A/A control was measured" in page.words and "script" not in page.count
    assert "uncommitted changes" in page.words and "too many launches to queue" in page.words
    assert "hold no floors" in page.words and "hold no comparisons" in page.words

    disturbed = synthetic.group("nw", {"n": 64}, 1.0)
    for role in ("iso", "best"):
        synthetic.set_ratio(disturbed, "nw/baseline", role, 1.05, 0.01, repeat=1)
    words = Page(render(load([save(synthetic.document([disturbed]))]))).words
    assert "2 of 2 controls differ from themselves" in words


def test_every_row_failed(save):
    group = synthetic.group("nw", {"n": 64}, 1.0)
    group["rows"] = [
        synthetic.untimed_row(f"nw/{s}", "iso", "crashed", "the GPU fell off the bus")
        for s in synthetic.STRATEGIES
    ]
    words = Page(render(load([save(synthetic.document([group]))]))).words
    assert words.count("the GPU fell off the bus") >= 6


def test_no_groups_is_an_error(save):
    with pytest.raises(PlotsError, match="no comparison group"):
        render(load([save(json.dumps(synthetic.document([])))]))


def test_the_same_results_make_the_same_page(save, tmp_path):
    path = save(synthetic.document([synthetic.group("nw", {"n": 64}, 1.0)]))
    cache = Cache(tmp_path / "cache")
    first = render(load([path]), cache)
    assert render(load([path]), cache) == first and cache.hits == first.count("<figure>") > 0
    assert render(load([path])) == first


def test_a_name_of_any_length_takes_no_longer(save):
    group = synthetic.group("nw", {"n": "9" * 20_000}, 1.0)
    gpu = synthetic.device("NVIDIA " + "H200 " * 4_000)
    start = time.process_time()
    text = render(load([save(synthetic.document([group], gpu=gpu))]))
    assert time.process_time() - start < 30
    assert len(text) < 5_000_000


def test_of_many_gpus_not_every_pair_has_its_figure(save, monkeypatch):
    monkeypatch.setattr(report, "MOST_PAIRS", 1)  # few GPUs, because each has its own pictures
    for i in range(3):
        gpu = synthetic.device(f"NVIDIA X{i}", 80 + i)
        group = synthetic.group("nw", {"n": 4}, 1.0, speedups={"baseline": (1, 1), "tma": (2, 2)})
        folder = save(synthetic.document([group], gpu=gpu), f"r/{i}.json").parent
    page = Page(render(load([folder])))
    assert page.words.count("rows match") == 1
    assert "2 more pairs: python -m plots expect OLD NEW" in page.words


def test_the_font_of_the_figures_comes_along(paper_report):
    (font,) = re.findall(r"url\(data:font/woff;base64,([^)]*)\)", paper_report)
    with TTFont(io.BytesIO(base64.b64decode(font))) as subset:
        known = set(subset.getBestCmap())
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)", paper_report))
    assert {ord(c) for c in html.unescape(shown)} <= known | {0x0A}


def test_schedule_and_movement_in_the_report(matched_file, cross_file, save):
    skipped = synthetic.matched_group("lud", {"n": 64}, 1.0)
    text = render(load([matched_file, cross_file, save(synthetic.document([skipped]), "lud.json")]))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids)) and page.foreign == []
    words = page.words
    assert "1.56× [1.55, 1.57] = 1.20 schedule × 1.30 [1.29, 1.31] movement" in words
    assert "which is 1.20 schedule × 1.30 [1.29, 1.31] movement" in words  # the answer
    assert words.index("Schedule and movement") < words.index("Every strategy with every schedule")
    for role, schedule in (("matched", "tall"), ("cross", "tall")):
        assert re.search(
            f"<td>{role}</td>.*<td>{schedule}</td><td>stages=3, producers=1</td>", text
        )
    assert words.count("(A/A)") >= 3  # the controls of the table, too
    # Declined cells stand below their table; a matched row that was skipped, among the absent.
    absent = words.split("Rows without a time")[1].split("Every row")[0]
    assert "matched wide" in absent and "schedule wide: too wide" in absent
    assert "cross" not in absent
    assert "dsm declines: its tiles are too small to share" in words
    rows = sum(
        len(g["rows"])
        for file in (matched_file, cross_file)
        for g in json.loads(file.read_text(encoding="utf-8"))["groups"]
    )
    assert f"{rows + len(skipped['rows'])} rows" in words


def test_each_row_stands_beside_its_own_comparison(matched_file):
    """A strategy may have several matched rows, the baseline too."""
    records = row_records(load([matched_file]))
    found = {
        (r["variant"], r["role"], r["schedule"]): r["speedup"].ratio
        for r in records
        if r["speedup"] is not None and r["size"] == "n=2048" and r["repeat"] == 0
    }
    assert found["nw/baseline", "matched", "tall"] == pytest.approx(1.2)
    assert found["nw/baseline", "matched", "split"] == pytest.approx(0.9)
    assert found["nw/tma", "matched", "wide"] == pytest.approx(1.25)
    assert found["nw/tma", "best", "tall"] == pytest.approx(1.56)
