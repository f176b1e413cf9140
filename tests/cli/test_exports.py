"""What `amasia export` writes is read by those it is for: Google Benchmark's own compare.py, and
pandas, which puts CSV files of many GPUs below each other. Also what the documents show of it."""

from __future__ import annotations

import json
import os
import pathlib
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable

import pandas
import pytest
from programs import ROOT, Run, program

COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
RECORDED = {
    name: [f"results/0.1.0/{gpu}/{file}.json" for file in ("paper-nw", "launch")]
    for name, gpu in (("h200", "h200"), ("h100", "h100-80gb-hbm3"))
}
Compare = Callable[..., list[dict]]
ORIGIN = ["gpu", "driver", "toolkit", "commit"]

needs_compare = pytest.mark.skipif(
    not COMPARE.exists(), reason="needs compare.py (apt-get install libbenchmark-tools)"
)


@pytest.fixture(scope="module")
def exports(amasia: Run, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Recorded files in every form, each named by its GPU, its number in the list and the form."""
    folder = tmp_path_factory.mktemp("exports")
    for gpu, files in RECORDED.items():
        for number, file in enumerate(files):
            stem = folder / f"{gpu}-{number}"
            done = amasia(
                *("export", ROOT / file, "--csv", f"{stem}.csv"),
                *("--csv-samples", f"{stem}-samples.csv", "--csv-points", f"{stem}-points.csv"),
                *("--google-benchmark", f"{stem}.json"),
            )
            assert done.returncode == 0, done.stderr
    return folder


# --- CSV ------------------------------------------------------------------------------------------


def below_each_other(exports: pathlib.Path, kind: str) -> pandas.DataFrame:
    tables = [pandas.read_csv(exports / f"{gpu}-{n}{kind}.csv") for gpu in RECORDED for n in (0, 1)]
    for table in tables:
        assert list(table.columns) == list(tables[0].columns)
        assert list(table.columns[:4]) == ORIGIN
    # The heading of a table without rows has no types.
    return pandas.concat([table for table in tables if len(table)])


def test_tables_of_two_gpus_are_one_table(exports: pathlib.Path) -> None:
    for kind in ("", "-samples", "-points"):
        table = below_each_other(exports, kind)
        assert set(table.gpu) == {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}
        assert table[ORIGIN].notna().all(axis=None)
        assert table.commit.str.fullmatch("[0-9a-f]{40}(-dirty)?").all()

    samples = below_each_other(exports, "-samples")
    case = samples[(samples.variant == "nw/tma") & (samples.role == "best")]
    by_gpu = case.groupby(["gpu", "size"]).time_ms.median().unstack("gpu").dropna()
    assert len(by_gpu) > 0 and (by_gpu["NVIDIA H200"] > 0).all()

    points = below_each_other(exports, "-points")
    launches = points[points.microbenchmark == "launch/launches"].dropna(subset="value")
    assert launches.groupby("gpu").value.count().gt(0).sum() == 2


def test_a_summary_has_the_rows_of_the_file(exports: pathlib.Path) -> None:
    """Grouped by GPU, the medians are those of the result files."""
    summary = below_each_other(exports, "")
    for gpu, files in RECORDED.items():
        document = json.loads((ROOT / files[0]).read_text())
        name = document["provenance"]["device"]["name"]
        medians = sorted(
            row["time_ms"]["median"]
            for group in document["groups"]
            for row in group["rows"]
            if row["time_ms"]
        )
        mine = summary[summary.gpu == name].time_ms.dropna()
        assert sorted(mine) == pytest.approx(medians), gpu


def test_a_form_with_nothing_in_it_says_so(amasia: Run, tmp_path: pathlib.Path) -> None:
    def notes(file: str, *forms: str) -> str:
        done = amasia("export", ROOT / file, *forms, cwd=tmp_path)
        assert done.returncode == 0
        return "".join(line for line in done.stderr.splitlines(True) if "there is nothing" in line)

    points, variants = "results/h200/launch.json", "results/h200/cross-nw.json"
    assert notes(points, "--google-benchmark", "out.json", "--csv-points", "-") == ""
    assert notes(points, "--csv", "-", "--csv-samples", "samples.csv") == (
        "note: the file holds no variant: there is nothing in what is printed\n"
        "note: the file holds no sample of a variant: there is nothing in samples.csv\n"
    )
    assert notes(variants, "--csv-points", "points.csv") == (
        "note: the file holds no point of a microbenchmark: there is nothing in points.csv\n"
    )
    empty = json.loads((ROOT / points).read_text())
    assert "digest" not in empty  # of a version without: nothing says that this was the file
    del empty["microbenchmarks"]
    (tmp_path / "empty.json").write_text(json.dumps(empty))
    assert notes(tmp_path / "empty.json", "--google-benchmark", "out.json") == (
        "note: the file holds nothing with a valid time: there is nothing in out.json\n"
    )
    assert json.loads((tmp_path / "out.json").read_text())["benchmarks"] == []


# --- compare.py -----------------------------------------------------------------------------------


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture, tmp_path: pathlib.Path):
    """Runs compare.py, the file itself, in this process: to import SciPy takes seconds. In a folder
    of its own; returns what it makes of it."""

    def run(*arguments: str, script: dict | None = None) -> list[dict]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("AMASIA_STUB", json.dumps(script or {}))
        monkeypatch.syspath_prepend(str(COMPARE.parent))
        options = ["--no-color", "--dump_to_json", "compared.json"]
        monkeypatch.setattr(sys, "argv", [str(COMPARE), *options, *map(str, arguments)])
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # a geometric mean with a zero in it
            runpy.run_path(str(COMPARE), run_name="__main__")
        printed = capfd.readouterr().out
        report = json.loads(pathlib.Path("compared.json").read_text())
        assert all(entry["name"] in printed for entry in report)
        return report

    return run


def benchmarks(path: pathlib.Path) -> list[dict]:
    return json.loads(path.read_text())["benchmarks"]


@needs_compare
def test_compare_reads_exports_of_two_gpus(exports: pathlib.Path, compare: Compare) -> None:
    old, new = exports / "h200-0.json", exports / "h100-0.json"
    common = {e["name"] for e in benchmarks(old)} & {e["name"] for e in benchmarks(new)}
    report = compare("benchmarks", old, new)
    assert {entry["name"] for entry in report} == common | {"OVERALL_GEOMEAN"}
    singles = [e for e in report if e["run_type"] == "iteration" and e["name"] in common]
    assert singles and all(entry["utest"] for entry in singles)
    overall = report[-1]["measurements"][0]
    assert overall["real_time"] > 0 and overall["real_time_other"] > 0


@needs_compare
def test_compare_holds_strategies_against_each_other(
    exports: pathlib.Path, compare: Compare
) -> None:
    export = exports / "h200-0.json"
    report = compare("filters", export, "nw/baseline/best", "nw/tma/best")
    medians = {
        entry["name"].split("]")[1]: entry["measurements"][0]
        for entry in report
        if entry["aggregate_name"] == "median"
    }
    by_name = {e["name"]: e["real_time"] for e in benchmarks(export)}
    assert medians
    for rest, found in medians.items():
        assert found["real_time"] == by_name[f"nw/baseline/best{rest}"]
        assert found["real_time_other"] == by_name[f"nw/tma/best{rest}"]


@needs_compare
def test_compare_runs_the_program_and_reads_both(tmp_path: pathlib.Path, compare: Compare) -> None:
    """The program, a file of it, and an export: each against the other, all names in common."""
    points = {str(i): {"time_ns": [50.0 + i]} for i in range(3)}  # the fourth has no time
    old = {"rows": {"stub/tma": {"ms": 2.0, "noise": 0.01}}, "points": points}
    new = {"rows": {"stub/tma": {"ms": 3.0, "noise": 0.01}}, "points": points}
    selected = ("stub/tma", "stub/baseline", "stub/points", "--preset", "smoke")
    run = ("run", *selected, "--roles", "iso,best", "--max-rounds", "15", "--out", "run.json")
    subprocess.run(
        [program("amasia-stub"), *run, "--google-benchmark", "old.json"],
        **{"cwd": tmp_path, "check": True, "capture_output": True, "timeout": 120},
        env={**os.environ, "AMASIA_STUB": json.dumps(old)},
    )
    live = program("amasia-stub-gbench")

    against_live = compare("benchmarks", "old.json", live, *selected, script=new)
    names = {e["name"] for e in benchmarks(tmp_path / "old.json") if "/repeat:1/" not in e["name"]}
    assert {entry["name"] for entry in against_live} == names | {"OVERALL_GEOMEAN"}
    by_name = {entry["name"]: entry for entry in against_live}
    slower = by_name["stub/tma/best/n=1000/cold/stream_median"]["measurements"][0]
    assert slower["time"] == pytest.approx(0.5, abs=0.02) and slower["cpu"] == slower["time"]
    assert by_name["stub/tma/best/n=1000/cold/stream"]["utest"]["time_pvalue"] < 0.001
    assert by_name["stub/baseline/best/n=1000/cold/stream_median"]["measurements"][0]["time"] == 0
    assert "stub/points/index=3_mean" in by_name and "stub/points/index=3" not in by_name

    itself = compare("benchmarks", live, live, *selected, script=new)
    assert {entry["name"] for entry in itself} == names | {"OVERALL_GEOMEAN"}
    assert all(m["time"] == 0 for entry in itself for m in entry["measurements"])

    flags = ("--benchmark_out=new.json", "--benchmark_display_aggregates_only=true")
    subprocess.run(
        [live, *selected, *flags],
        **{"cwd": tmp_path, "check": True, "capture_output": True, "timeout": 120},
        env={**os.environ, "AMASIA_STUB": json.dumps(new)},
    )
    of_files = compare("benchmarks", "new.json", "old.json")
    back = next(e for e in of_files if e["name"].endswith("tma/best/n=1000/cold/stream_median"))
    assert back["measurements"][0]["time"] == pytest.approx(-1 / 3, abs=0.02)


# --- What the documents show ----------------------------------------------------------------------


def commands_of(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@needs_compare
def test_the_commands_of_the_page_work(tmp_path: pathlib.Path, compare: Compare) -> None:
    """In the order of the page, with the stub as the device."""
    build = tmp_path / "build" / "sm90"
    build.mkdir(parents=True)
    (build / "amasia").symlink_to(program("amasia"))
    (build / "amasia-gbench").symlink_to(program("amasia-stub-gbench"))
    (tmp_path / "results").symlink_to(ROOT / "results")
    commands = commands_of("google-benchmark.md")
    assert sum("compare.py" in line for line in commands) >= 3 and len(commands) >= 8
    for line in commands:
        if line.startswith(f"python3 {COMPARE} "):
            assert compare(*shlex.split(line)[2:]), line
            continue
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}{done.stderr}"
        assert done.stdout or "export" in line, line


def test_tables_are_put_together_as_the_page_says(
    exports: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    text = (ROOT / "docs" / "results.md").read_text()
    example = next(
        block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "concat" in block
    )
    (tmp_path / "samples").mkdir()
    for gpu in RECORDED:
        shutil.copy(exports / f"{gpu}-0-samples.csv", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    printed = capsys.readouterr().out
    assert "NVIDIA H200" in printed and "NVIDIA H100 80GB HBM3" in printed
