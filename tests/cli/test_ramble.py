"""sites/ramble/ without Ramble, which no package registry has: its regular expressions on what the
program really prints, read as Ramble reads a log, line by line from the begin of each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs import ROOT, Run, runner

APPLICATION = ROOT / "sites/ramble/applications/amasia/application.py"


class Words(dict):
    """Ramble's words, each of which only records how it was called."""

    def __init__(self) -> None:
        super().__init__(
            __builtins__=__builtins__,
            ExecutableApplication=object,
            OUTPUT_CAPTURE=SimpleNamespace(ALL="stdout and stderr"),
        )
        self.calls: dict[str, list[tuple[tuple, dict]]] = {}
        for word in (
            *("tags", "software_spec", "required_package", "executable", "workload"),
            *("workload_variable", "figure_of_merit_context", "figure_of_merit"),
            "success_criteria",
        ):
            self.calls[word] = []
            self[word] = lambda *a, word=word, **o: self.calls[word].append((a, o))


@pytest.fixture(scope="module")
def words() -> Words:
    text = APPLICATION.read_text(encoding="utf-8").replace("from ramble.appkit import *\n", "")
    found = Words()
    exec(compile(text, str(APPLICATION), "exec"), found)
    return found


@pytest.fixture
def log(tmp_path: Path, words: Words) -> Any:
    """What a workload's command prints, on both streams."""

    def run(workload: str, script: dict) -> list[str]:
        command = next(a[1] for a, _ in words.calls["executable"] if a[0] == workload)
        command = command.replace("{experiment_run_dir}", str(tmp_path)).replace(
            "{patterns}", "stub"
        )
        done = runner("amasia-stub")(*command.split()[1:], AMASIA_STUB=json.dumps(script))
        return (done.stderr + done.stdout).splitlines()

    return run


def figures(words: Words, lines: list[str]) -> dict[tuple[str, str], str]:
    """By context and name."""
    (context,) = words.calls["figure_of_merit_context"]
    found, inside = {}, ""
    for line in lines:
        if match := re.match(context[1]["regex"], line):
            inside = context[1]["output_format"].format(**match.groupdict())
        for (name,), fom in words.calls["figure_of_merit"]:
            if match := re.match(fom["fom_regex"], line):
                row = dict(re.match(words["line"](*words["ROW"]), line).groupdict())
                key = inside, name.format(**{**row, **match.groupdict()})
                assert key not in found, f"{key} is found twice"
                found[key] = match[fom["group_name"]]
    return found


def test_figures_of_merit_carry_interval_and_claim(words: Words, log: Any) -> None:
    rows = {"stub/tma": {"ms": 0.5, "noise": 0.001}, "stub/dsm": {"wrong": True}}
    rows["stub/overlap"] = {"skipped": "not here, says the script"}  # quoted in the CSV
    lines = log("quick", {"rows": rows})
    found = figures(words, lines)
    case = "stub n=1000 cold stream"
    of_tma = {
        name.removeprefix("stub/tma iso iso "): value
        for (inside, name), value in found.items()
        if inside == case and name.startswith("stub/tma iso")
    }
    assert of_tma["time"] == "0.5" and of_tma["claim"] == "faster" and of_tma["result"] == "ok"
    low, high = float(of_tma["time low"]), float(of_tma["time high"])
    assert 0.499 < low < 0.5 < high < 0.501
    assert float(of_tma["speed-up low"]) < float(of_tma["speed-up"]) == 2
    assert found[case, "stub/dsm iso iso result"] == "failed"
    assert found[case, "stub/overlap iso iso result"] == "skipped"
    assert not [name for _, name in found if name.startswith("stub/dsm") and "time" in name]
    assert {inside for inside, _ in found} == {
        f"stub n={n} cold {launch}" for n in (1000, 2000) for launch in ("stream", "graph")
    }


@pytest.mark.parametrize("workload", ["quick", "paper", "verify"])
def test_success_is_that_no_result_is_wrong(words: Words, log: Any, workload: str) -> None:
    (criterion,) = words.calls["success_criteria"]
    good = [line for line in log(workload, {}) if re.match(criterion[1]["match"], line)]
    assert len(good) == 1
    wrong = {"rows": {"stub/dsm": {"wrong": True}}}
    assert not [x for x in log(workload, wrong) if re.match(criterion[1]["match"], x)]


def test_every_command_of_the_manifest_is_one(amasia: Run, words: Words) -> None:
    for (_, command), _ in words.calls["executable"]:
        plain = command.replace("{patterns}", "").split()[1:]
        known = [word for word in plain if "{" not in word]
        if "--out" in known:
            known.remove("--out")
        done = amasia(*known, "--dry-run")
        assert done.returncode == 0, done.stderr
