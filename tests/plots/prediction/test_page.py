"""docs/prediction.md: of the recorded results, with every goal beside what was reached."""

from __future__ import annotations

import dataclasses
import re

import pandas as pd
import pytest
import synthetic
from prediction_record import GPU, recorded
from test_evaluation import OTHER, second_gpu

from plots.cli import main
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError
from plots.prediction import evaluation as ev
from plots.prediction import page
from plots.report import documents, readme
from plots.report.embedded import Embedded


@pytest.fixture(scope="module")
def text():
    return page.render(recorded()[0])


def test_the_page_of_the_repository_is_of_the_recorded_results(text):
    there = (ROOT / "docs" / "prediction.md").read_text(encoding="utf-8")
    assert there == text, f"stale: {page.COMMAND}"


def test_the_advice_stands_on_a_line_of_its_own(text):
    (line,) = re.findall(r"^advice within 5 % of the best: (\d+) of (\d+) \((\d+) %\)$", text, re.M)
    within, cases, share = map(int, line)
    assert share == round(100 * within / cases) and 0 < within <= cases
    results, _ = recorded()
    advice = ev.quality(ev.evaluate(results, ev.home_of(results)).advice)
    assert (advice.within, advice.cases) == (within, cases)


def test_goals_stand_beside_what_was_reached(text):
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith("| times, median")]
    assert len(lines) == 1
    for goal in ("≤ 5 %", "≤ 15 %", "≥ 90 %", "≤ 2 %"):
        assert goal in text
    reached = re.findall(r"\| ([\d.]+) % \| ([≤≥]) (\d+) % \| (met|missed) \|", text)
    assert len(reached) == 5
    for value, sign, goal, word in reached:
        met = float(value) <= float(goal) if sign == "≤" else float(value) >= float(goal)
        # A figure that rounds to its goal may be on either side of it.
        assert (word == "met") == met or float(value) == float(goal)


def test_a_share_is_told_from_a_goal_that_it_misses():
    assert page._beside(0.0504, 0.05) == "5.04 %" and page._beside(0.05004, 0.05) == "5.004 %"
    assert page._beside(0.05, 0.05) == "5.0 %" and page._beside(0.056, 0.05) == "5.6 %"


def test_tables_are_whole(text):
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.M)
    assert len(blocks) >= 10
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1, block
    assert "nan" not in text.lower().replace("nano", "")


def test_one_gpu_says_what_is_missing_and_two_are_compared(text, monkeypatch):
    assert "## Another GPU" in text
    monkeypatch.setattr(page, "_twins", lambda *_: [])  # which take most of the time
    results, _ = recorded()
    without_cross = dataclasses.replace(results, cross=None)
    two = page.render(second_gpu(without_cross, without=("launch/flags",)))
    assert f"### {OTHER} from {GPU}" in two
    assert "bound by bytes" in two and "if it were as fast as the other GPU 0.0 %" in two
    assert "Not recorded of it" in two and "launch/flags: a word through L2" in two
    gpus = {g for g in results.rows["gpu"]}
    alone = text if len(gpus) == 1 else page.render(results.where(gpu=GPU))
    assert "Not recorded: there is no second GPU." in alone
    # What it will be is written down before it is known, and not afterwards.
    assert "### H100 SXM, by its data sheet" in alone and "0.70 of the bandwidth" in alone
    assert "by its data sheet" not in two


def test_what_is_furthest_off_on_another_gpu_is_named_and_why():
    _, machine = recorded()
    slow = dataclasses.replace(machine, launch_graph_us=2 * machine.launch_graph_us)
    rows = pd.DataFrame(
        {"measured": [1.0, 1.0], "predicted": [1.1, 1.5], "bound": ["bytes", "launch"]}
    )
    found = ev.Transfer("b", "a", rows, 0, (), slow, machine)
    said = page._worst_bound(found)
    assert "bound by launch, predicted to take 1.50 of" in said and "An empty launch takes" in said
    same = page._worst_bound(dataclasses.replace(found, machine=machine))
    assert "An empty launch" not in same
    other = rows.assign(bound=["launch", "bytes"])
    assert "bound by bytes" in page._worst_bound(dataclasses.replace(found, rows=other))


def test_files_without_microbenchmarks_say_which_are_missing(paper, save):
    with pytest.raises(PlotsError, match="needs microbenchmarks that are not recorded of NVIDIA"):
        page.render(paper)
    with pytest.raises(PlotsError, match="nothing to predict"):
        page.render(load([save(synthetic.document([]), "empty.json")]))


def test_the_command_writes_the_page(tmp_path, capsys, paper_file, monkeypatch):
    out = tmp_path / "prediction.md"
    with monkeypatch.context() as patch:
        patch.setattr(page, "render", lambda results: f"of {len(results.files)} file\n")
        assert main(["predict", str(paper_file), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == "of 1 file\n"
    capsys.readouterr()
    assert main(["predict", str(paper_file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "not recorded of NVIDIA H200" in captured.err


def test_the_report_has_it_as_a_chapter_in_which_equations_scroll(text):
    body = documents.chapter("prediction")(recorded()[0], Embedded())
    assert "advice within 5 % of the best" in body and "From docs/prediction.md" in body
    assert '<pre tabindex="0"><code>step    = instructions' in body
    css = (ROOT / "plots" / "templates" / "report.css").read_text(encoding="utf-8")
    assert "pre { overflow-x: auto" in css


def test_readme_says_it_in_figures():
    results, _ = recorded()
    said = page.sentence(results)
    assert re.search(r"advice within 5 % of the best: \d+ of \d+ \(\d+ %\)", said)
    between = (ROOT / "README.md").read_text(encoding="utf-8")
    between = between.split(readme.BEGIN)[1].split(readme.END)[0]
    assert " ".join(said.split()) in " ".join(between.split())
