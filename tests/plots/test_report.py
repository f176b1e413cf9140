"""The report is one file, complete, and honest about what is missing."""

import html
import html.parser
import json
import math
import re
import time

import numpy as np
import planted
import pytest
import test_twin
from drawn import carried_by, table_rows

from plots.advice import real_kernels, twin
from plots.data.load import load
from plots.data.profiles import load_profiles
from plots.judge.attribution import attributions
from plots.prose import shade
from plots.report import warnings
from plots.report.embedded import CLOCK_STEP_MS, Column, Embedded, _steps_of
from plots.report.page import render
from plots.report.verdicts import overall, verdicts


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
        self.data = carried_by(text)
        self.html = text
        self.count: dict[str, int] = {}
        self.feed(self.html)
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
        if not self.stack or self.stack[-1] not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


@pytest.fixture(scope="module")
def page(paper) -> Page:
    return Page(render(paper))


def test_it_is_self_contained(page):
    assert page.foreign == []
    assert page.count["script"] == 2  # its data and what shows them
    assert not re.search(r"https?://(?!www.w3.org/)", re.sub(r"<p>.*?</p>", "", page.html))
    assert len(page.ids) == len(set(page.ids))
    assert set(page.anchors) <= set(page.ids)
    # Every figure has its place, and every place its figure.
    places = re.findall(r'<figure data-figure="([^"]+)" role="img" aria-label="[^"]+"', page.html)
    assert sorted(places) == sorted(page.data["figures"])
    # The roofline; what is expected of GPUs, and their balance.
    assert len(places) == page.count["figure"] == 3
    for svg in page.data["figures"].values():
        html.parser.HTMLParser().feed(svg)
        assert svg.startswith("<svg ") and "<script" not in svg


def heat(page, label):
    """The cells of a row of the heat table: (class, text) each."""
    (line,) = re.findall(rf'<th scope="row"><a[^>]*>{label}</a>.*?</tr>', page.html, re.DOTALL)
    cells = re.findall(r'<td class="([^"]*)">(.*?)</td>', line, re.DOTALL)
    return [(shown, " ".join(re.sub(r"<[^>]+>", " ", text).split())) for shown, text in cells]


def test_the_heat_table_says_more_than_by_colour_and_frames_the_winner(page):
    cells = dict(zip(planted.STRATEGIES, heat(page, "hotspot"), strict=True))
    assert cells["tma"] == (f"s{shade(1.31)} won", "1.31× ▲")
    assert cells["drop_off"] == (f"s{shade(1.08)}", "1.08× ▲")
    assert cells["register_bypass"] == ("s0", "1.00× ≈")
    assert cells["baseline"][1].endswith(" ms")
    assert all(sum(sign in text for sign in "▲▼≈") == ("×" in text) for _, text in cells.values())


def test_the_first_screen_has_a_sentence_per_gpu_a_verdict_per_app_and_three_doors(page, paper):
    words = page.words
    assert overall(paper).removeprefix("NVIDIA H200") in words
    for verdict in verdicts(paper):
        assert verdict.text in words
    doors = re.findall(r'<p class="doors">(.*?)</p>', page.html, re.DOTALL)
    assert re.findall(r'href="#([^"]*)"', doors[0]) == ["generations", "choose", "papers"][:2]


def test_samples_in_steps_of_the_clock_are_kept_exactly():
    ticks = np.array([31250, 31251, 30999, 40000])
    times = (ticks * CLOCK_STEP_MS).astype(np.float32).astype(float)  # as a driver gives them
    origin, step, parts = _steps_of(times, float(np.median(times)))
    assert step == CLOCK_STEP_MS
    assert (origin + parts * step).astype(np.float32).tolist() == times.tolist()
    for others in (times * 1.0001, times * 1000):  # of another clock; far above its step
        origin, step, parts = _steps_of(others, float(np.median(others)))
        assert step == pytest.approx(1e-6 * np.median(others), rel=1e-5)
        assert origin + parts * step == pytest.approx(others, rel=1e-6)


def test_two_gpus_are_compared(save):
    slow, fast = (planted.group("nw", {"n": 512}, ms) for ms in (2.0, 1.0))
    save(planted.document([slow], gpu=planted.A100, ceiling_scale=0.4), "r/a.json")
    folder = save(planted.document([fast]), "r/b.json").parent
    page = Page(render(load([folder])))
    assert "NVIDIA H200 over NVIDIA A100-SXM4-40GB" in page.words
    assert "geometric means of 1 cases" in page.words
    assert "of the 2.50 expected from the measured ceilings" in page.words
    assert page.count["button"] > 2 and re.findall(r'data-shows="([^"]*)"', page.html) == [
        "NVIDIA H200", "NVIDIA A100-SXM4-40GB",
    ]  # fmt: skip
    assert len(page.ids) == len(set(page.ids))


def test_odd_results_make_a_report(save):
    """No control, no ceilings, one row; a disturbed control; a dirty tree; text from outside."""
    bare = planted.group("nw", {"n": 64}, 1.0, speedups={"baseline": (1, 1)}, control=False)
    bare["floor"] = None
    bare["rows"] = bare["rows"][:1]
    bare["warnings"] = ["<script>alert(1)</script>"]
    bare["launch_blocked"] = False
    document = planted.document([bare])
    document["ceilings"] = []
    document["provenance"].update(dirty=True)
    page = Page(render(load([save(document)])))
    assert "No A/A control was measured" in page.words and page.count["script"] == 2
    assert "<script>alert(1)</script>" in page.words  # as text
    assert "uncommitted changes" in page.words and "too many launches to queue" in page.words
    assert "not compared with baseline" in page.words

    disturbed = planted.group("nw", {"n": 64}, 1.0)
    for role in ("iso", "best"):
        planted.set_ratio(disturbed, "nw/baseline", role, 1.05, 0.01, repeat=1)
    words = Page(render(load([save(planted.document([disturbed]))]))).words
    assert "2 controls; 2 of them differ from 1, by 5 % at most" in words


def test_a_name_of_any_length_takes_no_longer(save):
    group = planted.group("nw", {"n": "9" * 20_000}, 1.0)
    gpu = planted.device("NVIDIA " + "H200 " * 4_000)
    start = time.process_time()
    text = render(load([save(planted.document([group], gpu=gpu))]))
    assert time.process_time() - start < 15
    assert len(text) < 1_000_000


def test_schedule_and_movement_in_the_report(matched_file, cross_file, save):
    skipped = planted.matched_group("lud", {"n": 64}, 1.0)
    text = render(load([matched_file, cross_file, save(planted.document([skipped]), "lud.json")]))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids)) and page.foreign == []
    words = page.words
    of_two = "1.20 schedule × 1.30 [1.29, 1.31] movement"
    assert f'title="tma: 1.56× [1.55, 1.57], faster; {of_two}"' in text
    assert "Every strategy with every schedule: " in words
    rows = table_rows(text, "rows")
    assert any(r["consists of"] == of_two for r in rows)
    found = {(r["role"], r["schedule"], r["movement"]) for r in rows}
    assert found >= {(role, "tall", "stages=3, producers=1") for role in ("matched", "cross")}
    assert sum("(A/A)" in r["strategy"] for r in rows) >= 3  # the controls of the table, too
    # Declined cells stand below their table; a matched row that was skipped, among the absent.
    absent = table_rows(text, "absent")
    assert {r["role"] for r in absent} == {"matched"}
    assert {(r["schedule"], "too wide" in r["reason"]) for r in absent} >= {("wide", True)}
    assert "dsm declines: its tiles are too small to share" in words
    files = [json.loads(file.read_text(encoding="utf-8")) for file in (matched_file, cross_file)]
    groups = [skipped, *(group for file in files for group in file["groups"])]
    assert len(rows) == sum(len(group["rows"]) for group in groups)


# --- Chapters below the apps, and what a page carries ---------------------------------------------


def test_twins_are_counted(page, save):
    assert "proxy kernels (twins)" not in page.html
    save(planted.document([planted.group("nw", {"n": 64}, 1.0)]), "r/groups.json")
    made = save(test_twin.document(*test_twin.grid()), "r/twins.json")
    page = " ".join(render(load([made.parent])).split())
    twins = twin.twins_and_unseen([made])[0]
    assert "of 12 proxy kernels (twins), the first choice is: " in page and "overlap" in page
    cases = real_kernels.all_cases()
    real = real_kernels.sentence(cases)
    assert twin.accuracy(twins, []).sentence() in page and real in page
    for case in cases:
        assert f"<td>{case.name}</td><td>{case.gpu}</td><td>{case.size_label}, " in page


def test_what_a_page_carries_is_json_whatever_is_in_it():
    data = Embedded()
    columns = (Column("a"), Column("b", "ratio"))
    infinite = np.float64("inf")
    values = ["</script><script>", math.nan, infinite, np.int64(3), np.bool_(True), "é\ud800"]
    data.table("t", columns, [{"a": v, "b": [math.nan, 1 / 3]} for v in values])
    encoded = data.encoded()
    assert "<" not in encoded and encoded == data.encoded()
    page = f'<script type="text/plain" id="data">{encoded}</script>'
    a, b = carried_by(page)["tables"]["t"]["values"]
    assert a == ["</script><script>", None, None, 3, True, "é\ud800"]
    assert b == [[None, 0.333333]] * len(values)


def test_warnings_are_one_line_for_each_kind_the_gravest_first():
    """Whichever row and number a warning is of; and none is lost."""
    found = [
        ("local memory is used (spills)", "gemm/tma (iso), 8 B a thread"),
        ("nw/tma best differs from itself by 2.26 %", "nw"),
        ("lud/dsm iso differs from itself by 0.1 %", "lud"),
        ("nw/baseline smells of 3 herrings", "nw"),
        ("lud/tma smells of 12 herrings", "lud"),
        ("2 variants were right before timing and wrong after: one of them may", "lud"),
    ]
    kinds = warnings.by_kind(found)
    assert [(kind.text.split(":")[0], len(kind.each)) for kind in kinds] == [
        ("… variants were right before timing and wrong after", 1),
        ("… best differs from itself by … %", 1),
        ("… iso differs from itself by … %", 1),
        ("… smells of … herrings", 2),
        ("local memory is used (spills)", 1),
    ]
    said = [text for kind in kinds for text in kind.each]
    assert all(f"{where}: {text}" in said for text, where in found[1:])
    assert said[-1] == "gemm/tma (iso), 8 B a thread"
    gravest = "6 warnings of 5 kinds, the gravest (1): lud: 2 variants were right before timing"
    assert warnings.summary(kinds).startswith(gravest)
    assert warnings.summary([]) == "no warnings"


def test_an_implementation_with_a_library_is_compared_with_its_strategy(page, save):
    path = save(planted.document([planted.spelled_group("nw", {"n": 128}, 1.0)]), "w/words.json")
    chapter = render(load([path])).split('id="others"')[1].split("</section>")[0]
    for said in ("cuda_barrier", "implemented with", "0.4", "0.5", "0.800", "slower"):
        assert said in chapter, said
    assert 'id="others"' not in page.html


# --- Why, from the profiles beside the results ----------------------------------------------------


@pytest.fixture
def results(save):
    return save(planted.document([planted.matched_group("nw", {"n": 2048}, 1.0)]), "r/results.json")


def save_profile(save, results):
    def counted(row):
        return planted.counters(busiest_cycles=1.98e6 * row["time_ms"]["median"])

    return save(planted.profile(json.loads(results.read_text()), counted), "r/profile.json")


def test_it_has_a_line_for_each_resolved_difference(save, results):
    loaded = load([results])
    before = render(loaded)
    assert 'id="why"' not in before and "of the difference" not in before
    profile = save_profile(save, results)
    page = render(loaded)
    found = attributions(loaded, load_profiles([profile]))
    rows = table_rows(page, "why")
    assert 'id="why"' in page and len(rows) == len(found) > 5
    assert [row["sentence"] for row in rows] == [a.sentence for a in found]
    # Half of three percent is as small as what counting twice differs by.
    clear = [row for row in rows if abs(row["speed-up"] - 1) > 0.04]
    assert len(clear) > 3 and {row["cause"] for row in clear} == {"memory"}
    explained = sum(row["verdict"] == "explained" for row in rows)
    assert f"{len(found)} resolved differences: {explained} explained" in page
    # And the answer that of tma against baseline with tma's schedule, before the bound.
    (beside,) = re.findall(r'<tr class="answer">.*?<p>[^.]*\. (.*?)</p>', page, re.DOTALL)
    of_tma = ("tma", "matched", "tall", "tall")
    (sentence,) = (
        a.sentence for a in found if (a.strategy, a.role, a.schedule, a.against_schedule) == of_tma
    )
    assert html.unescape(beside).startswith(f"{sentence} The bound is ")


def test_beside_an_answer_that_all_are_slower_nothing_is_said_to_be_faster(save):
    """tma gains by movement and loses overall."""
    group = planted.matched_group("nw", {"n": 2048}, 1.0, divided={"tma": ("tall", 0.7, 1.35, 1.0)})
    results = save(planted.document([group]), "r/results.json")
    save_profile(save, results)
    page = render(load([results]))
    assert "the tuned baseline wins: every other strategy is slower" in page
    (beside,) = re.findall(r'<tr class="answer">.*?<p>[^.]*\. (.*?)</p>', page, re.DOTALL)
    assert "slower than baseline" in beside and "faster" not in beside
