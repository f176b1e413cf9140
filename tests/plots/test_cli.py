"""The command line: what it prints, what it writes, every error and exit status."""

from __future__ import annotations

import json
import subprocess
import sys

import known_effects
import pytest
import synthetic

from plots.cli import main
from plots.commands import COMMANDS
from plots.commands.figure import drawable
from plots.strategies import ROOT


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_expect_two_gpus_by_name(capsys):
    status, out, err = run(capsys, "expect", "V100", "A100")
    assert status == 0 and err == ""
    assert "expected 1.38 = min(FLOP 1.38, bandwidth 1.73)" in out
    assert "section 6.1): 1.34" in out


def test_expect_alone_prints_the_paper(capsys):
    status, out, _ = run(capsys, "expect")
    assert status == 0
    for name in ("GTX 745", "Quadro K2200", "H200 SXM", "RTX 5090"):
        assert name in out


def test_expect_two_files(capsys, save, tmp_path):
    size = {"n": 512}
    new = save(synthetic.document([synthetic.group("nw", size, 1.0)]), "new.json")
    old = save(
        synthetic.document([synthetic.group("nw", size, 2.0)], gpu=synthetic.A100), "old.json"
    )
    figure = tmp_path / "pair.png"
    status, out, err = run(capsys, "expect", old, new, "--out", figure)
    assert status == 0 and figure.is_file() and f"wrote {figure}" in err
    assert "12 rows match; 0 only in" in out and "best       tma" in out
    status, out, _ = run(capsys, "expect", "A100", new)
    assert status == 0 and out.startswith("H200 SXM over A100, fp32: expected 3.09")


def test_advise(capsys, paper_file):
    status, out, _ = run(
        capsys, "advise", paper_file, "--app", "hotspot", "--cache", "cold", "--launch", "stream"
    )
    assert status == 0 and "tma ran 1.31×" in out and "graph" not in out


@pytest.mark.parametrize(
    ("name", "suffix"), [*((name, "svg") for name in drawable()), ("samples", "png")]
)
def test_every_figure_can_be_written(
    capsys, paper_file, memory_file, async_copy_file, dsm_file, dpx_file, matched_file, cross_file,
    tmp_path, name, suffix,
):  # fmt: skip
    out = tmp_path / f"x.{suffix}"
    study = tmp_path / "effects.json"
    groups = [*map(known_effects.planted_group, range(3)), *known_effects.dosed_groups()]
    study.write_text(json.dumps(known_effects.recording(groups)), encoding="utf-8")
    files = (
        paper_file, memory_file, async_copy_file, dsm_file, dpx_file, matched_file, cross_file,
        study,
    )  # fmt: skip
    status, _, err = run(capsys, "figure", name, *files, "--out", out)
    assert status == 0 and err.endswith(f"wrote {out}\n")
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


def test_samples_of_a_chosen_size(capsys, paper_file, tmp_path):
    out = tmp_path / "x.svg"
    chosen = ("figure", "samples", paper_file, "--app", "hotspot", "-o", out)
    assert run(capsys, *chosen, "--size", "rows=1024,cols=1024")[0] == 0
    status, _, err = run(capsys, *chosen, "--size", "rows=1025,cols=1024")
    assert status == 2 and 'no size of hotspot "rows=1025,cols=1024"' in err
    assert "rows=1024,cols=1024" in err


def test_figures_of_results_without_schedules_say_so(capsys, paper_file, tmp_path):
    out = tmp_path / "x.svg"
    status, _, err = run(capsys, "figure", "cross", paper_file, "-o", out)
    assert status == 2 and "hold no table of amasia cross" in err and not out.exists()
    status, _, err = run(capsys, "figure", "matched", paper_file, "-o", out)
    assert status == 2 and "no strategy compared with baseline at the same schedule" in err


def test_a_file_of_amasia_cross_alone(capsys, cross_file, tmp_path):
    assert run(capsys, "figure", "cross", cross_file, "-o", tmp_path / "x.svg")[0] == 0
    status, _, err = run(capsys, "report", cross_file, "-o", tmp_path / "x.html")
    assert status == 2 and err.endswith("of amasia cross: python -m plots figure cross\n")
    assert run(capsys, "figure", "cross", cross_file, "--app", "gemm")[0] == 2


def test_report(capsys, save, tmp_path):
    folder = save(synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)]), "r/a.json").parent
    out = tmp_path / "new" / "report.html"
    status, printed, err = run(capsys, "report", folder, "--out", out)
    assert status == 0 and printed == "" and err == f"wrote {out}\n"
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["figure", "speedups", "{paper}"], 'no figure "speedups"; nearest: speedup'),
        (
            ["figure", "speedup", "{paper}", "--width", "1"],
            "expected 3 to 40 inches as --width, not 1",
        ),
        (
            ["figure", "zzz", "{paper}"],
            'no figure "zzz"; known: speedup, cross, matched, styles, roofline',
        ),
        (
            ["figure", "floor", "{paper}", "--app", "hotspt"],
            'no app "hotspt" in the result files; n',
        ),
        (["figure", "floor", "{paper}", "--gpu", "H100"], 'no GPU "H100"'),
        (["figure", "floor", "{paper}", "-o", "x.gif"], "expected a file name that ends in .svg"),
        (["figure", "floor", "{paper}", "-o", "{paper}/x.svg"], "cannot be written"),
        (["report", "{empty}"], "no result files under"),
        (["report", "{broken}"], "truncated"),
        (["report", "{version}"], "result schema version 9 is newer than this program"),
        (["report", "{paper}", "--out", "{paper}/r.html"], "cannot be written"),
        (["report", "{groupless}"], "hold no comparison group"),
        (["advise", "{groupless}"], "hold no comparison group"),
        (["readme", "{paper}", "--readme", "{empty}/README.md"], "expected README's text"),
        (["readme", "{paper}", "--readme", "{broken}"], "expected one line <!-- generated:results"),
        (["expect", "A100"], "expect needs two GPUs"),
        (["expect", "V100", "A101"], 'no GPU and no file "A101"; nearest: '),
        (["expect", "{absent}.json", "{paper}"], "found nothing"),
        (["reprot", "{paper}"], 'no command "reprot"; nearest: report'),
        (["advise", "--cache", "warm"], "invalid choice: 'warm'"),
        (["report", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_are_one_line_and_status_2(capsys, paper_file, tmp_path, save, arguments, line):
    empty = tmp_path / "empty"
    empty.mkdir()
    places = {
        "paper": paper_file,
        "empty": empty,
        "absent": tmp_path / "absent",
        "broken": save('{"schema": "amasia-res', "broken.json"),
        "version": save({"schema": "amasia-result", "version": 9}, "version.json"),
        "groupless": save(synthetic.document([]), "groupless.json"),
    }
    status, out, err = run(capsys, *(a.format(**places) for a in arguments))
    assert status == 2 and out == ""
    assert err.startswith("plots: ") and line in err and err.count("\n") == 1


def test_what_was_left_out_goes_to_stderr(capsys, save):
    save({"schema": "amasia-tuning"}, "r/tuning.json")
    folder = save(synthetic.document([synthetic.group("nw", {"n": 4}, 1.0)]), "r/a.json").parent
    status, out, err = run(capsys, "advise", folder)
    assert status == 0 and "tuning.json is no result file" in err and "tuning" not in out


def test_it_runs_as_a_module_from_the_repository():
    done = subprocess.run(
        [sys.executable, "-m", "plots", "expect", "V100", "A100"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "1.38" in done.stdout
    shown = subprocess.run(
        [sys.executable, "-m", "plots", "--help"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert shown.returncode == 0 and all(command in shown.stdout for command in COMMANDS)
