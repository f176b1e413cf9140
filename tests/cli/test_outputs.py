"""Where results go: mounts, links, long names, a place that is gone when
the work is done; and commands that are suggested. On the stub device."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess

import pandas
import pytest
from programs import Run, program, read_result
from test_stub import SLOW, THREE, Stub, finished_groups, wait_until

from tests.process import ROOT, run

MOUNTS = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
needs_mounts = pytest.mark.skipif(MOUNTS.returncode != 0, reason="nothing may be mounted here")


@pytest.fixture
def stub(tmp_path: pathlib.Path) -> Stub:
    return Stub(tmp_path)


def with_a_mount(stub: Stub, options: str, *arguments: str) -> subprocess.CompletedProcess:
    """The stub where `real.json` is mounted on `run.json`, as into a container."""
    (stub.folder / "real.json").touch()
    stub.out.touch()
    mount = f'mount --bind real.json run.json{options} && exec "$@"'
    command = ("unshare", "--mount", "sh", "-c", mount, "sh", program("amasia-stub"), *arguments)
    return run(*command, cwd=stub.folder, **stub.environment())


RUN = ("run", "stub", "--roles", "iso", "--size", "n=1000")


@needs_mounts
def test_a_file_with_a_mount_on_it_is_rewritten_in_place(stub: Stub) -> None:
    result = with_a_mount(stub, "", *RUN, "--out", "run.json")
    assert result.returncode == 0, result.stderr
    assert len(read_result(stub.folder / "real.json")["groups"]) == 1
    assert stub.out.read_text() == "" and not stub.journal.exists()
    # Shorter than what is there.
    real = str(stub.folder / "real.json")
    result = with_a_mount(stub, "", "export", real, "--csv", "run.json")
    assert result.returncode == 2, "it is the file that is read"
    (stub.folder / "copy.json").write_bytes((stub.folder / "real.json").read_bytes())
    assert with_a_mount(stub, "", "export", "copy.json", "--csv", "run.json").returncode == 0
    assert (stub.folder / "real.json").read_text().startswith("gpu,")


@needs_mounts
def test_a_mount_that_cannot_be_written_is_found_before_measuring(stub: Stub) -> None:
    read_only = " && mount -o remount,bind,ro run.json"
    result = with_a_mount(stub, read_only, *RUN, "--out", "run.json")
    assert result.returncode == 2, result.stderr
    assert result.stderr == "amasia: run.json: cannot be written: Read-only file system\n"
    assert stub.opened() == []


@pytest.mark.parametrize(
    ("name", "why"), [("x" * 300, "File name too long"), ("/proc/no/table", "No such file or dir")]
)
def test_what_cannot_be_written_is_found_before_measuring(stub: Stub, name: str, why: str) -> None:
    result = stub.run(*RUN, "--out", name, status=2)
    assert why in result.stderr and len(result.stderr.splitlines()) == 1
    assert stub.opened() == []


def test_what_cannot_be_written_at_the_end_is_in_the_journal_that_is_named(stub: Stub) -> None:
    stub.out = stub.folder / "my run.json"
    stub.journal = stub.folder / "my run.json.journal"
    arguments = [*RUN[:4], *THREE, "--out", str(stub.out)]
    with stub.start(*arguments, script=SLOW, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: finished_groups(stub.journal) >= 1)
        stub.out.mkdir()
        _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    last = said.splitlines()[-1]
    assert f"{stub.out}: cannot be replaced: " in last and f"is in {stub.journal}: amasia" in last
    words = shlex.split(last.partition(f"{stub.journal}: ")[2])
    assert words[:5] == ["amasia", "merge", str(stub.journal), "--out", "FILE"]
    rescued = stub.folder / "rescued.json"
    stub.run(*words[1:4], str(rescued))
    assert len(read_result(rescued)["groups"]) == 3


def test_the_null_device_takes_any_number_and_a_dash_is_no_result_file(stub: Stub) -> None:
    null = stub.folder / "null"
    null.symlink_to("/dev/null")
    stub.measure()
    stub.run("export", str(stub.out), "--csv", str(null), "--markdown", str(null))
    result = stub.run(*RUN, "--out", "-", status=2)
    assert "amasia export FILE --csv - prints" in result.stderr


def test_results_to_stdout_are_alone_there(stub: Stub) -> None:
    (stub.folder / "stdout").symlink_to("/proc/self/fd/1")
    result = stub.run(*RUN, "--out", "stdout", "--overwrite")
    assert len(json.loads(result.stdout)["groups"]) == 1


# What is read.


def test_foreign_files_in_a_folder_of_records_are_passed_over(stub: Stub) -> None:
    records = stub.folder / "records"
    records.mkdir()
    stub.measure()
    whole = stub.out.read_bytes()
    (records / "run.json").write_bytes(b"\xef\xbb\xbf" + whole)
    (records / "._run.json").write_bytes(b"\0\5\26\7")
    (records / ".#run.json").symlink_to("user@machine.123")
    (records / "folder.json").mkdir()
    (records / "empty.json").touch()
    os.mkfifo(records / "pipe.json")
    stub.measure("--overwrite", "--records", str(records))
    for name in ("pipe.json", "empty.json", "._run.json", ".#run.json", "folder.json"):
        refused = stub.run("merge", str(records / name), "--out", "merged.json", status=2)
        assert len(refused.stderr.splitlines()) == 1
        assert name in refused.stderr
    stub.run("export", str(records / "run.json"), "--csv", "-")


@pytest.mark.parametrize("locale", ["POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "none-such"])
def test_a_locale_changes_no_number(
    stub: Stub, locales: str, locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.measure()
    plain = stub.run("export", str(stub.out), "--csv", "-").stdout
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    done = stub.run("export", str(stub.out), "--csv", "-", LC_ALL=locale, LOCPATH=locales)
    assert done.stdout == plain and "." in plain


# --- Exports --------------------------------------------------------------------------------------


RECORDED = {
    name: [f"results/0.1.0/{gpu}/{file}.json.gz" for file in ("paper-nw", "launch")]
    for name, gpu in (("h200", "h200"), ("h100", "h100-80gb-hbm3"))
}
ORIGIN = ["gpu", "driver", "toolkit", "commit"]


@pytest.fixture(scope="module")
def exports(amasia: Run, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Recorded files in every form, each named by its GPU, its number in the list and the form."""
    folder = tmp_path_factory.mktemp("exports")
    for gpu, files in RECORDED.items():
        for number, file in enumerate(files):
            stem = folder / f"{gpu}-{number}"
            amasia(
                *("export", ROOT / file, "--csv", f"{stem}.csv"),
                *("--csv-points", f"{stem}-points.csv"),
                status=0,
            )
    return folder


def below_each_other(exports: pathlib.Path, kind: str) -> pandas.DataFrame:
    tables = [pandas.read_csv(exports / f"{gpu}-{n}{kind}.csv") for gpu in RECORDED for n in (0, 1)]
    for table in tables:
        assert list(table.columns) == list(tables[0].columns)
        assert list(table.columns[:4]) == ORIGIN
    # The heading of a table without rows has no types.
    return pandas.concat([table for table in tables if len(table)])


def test_tables_of_two_gpus_are_one_table(exports: pathlib.Path) -> None:
    for kind in ("", "-points"):
        table = below_each_other(exports, kind)
        assert set(table.gpu) == {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}
        assert table[ORIGIN].notna().all(axis=None)
        assert table.commit.str.fullmatch("[0-9a-f]{40}(-dirty)?").all()

    # The medians are those of the result files.
    for files in RECORDED.values():
        document = read_result(ROOT / files[0])
        groups = [row for group in document["groups"] for row in group["rows"]]
        medians = sorted(row["time_ms"]["median"] for row in groups if row["time_ms"])
        of_gpu = below_each_other(exports, "").query("gpu == @gpu", local_dict={
            "gpu": document["provenance"]["device"]["name"]})  # fmt: skip
        assert sorted(of_gpu.time_ms.dropna()) == pytest.approx(medians)

    points = below_each_other(exports, "-points")
    launches = points[points.microbenchmark == "launch/launches"].dropna(subset="value")
    assert launches.groupby("gpu").value.count().gt(0).sum() == 2


def test_a_form_with_nothing_in_it_says_so(amasia: Run, tmp_path: pathlib.Path) -> None:
    def notes(file: str, *forms: str) -> str:
        done = amasia("export", ROOT / file, *forms, cwd=tmp_path, status=0)
        return "".join(line for line in done.stderr.splitlines(True) if "there is nothing" in line)

    points, variants = "results/h200/launch.json.gz", "results/h200/cross-nw.json.gz"
    assert notes(points, "--csv-points", "-") == ""
    assert notes(points, "--csv", "-") == (
        "note: the file holds no variant: there is nothing in what is printed\n"
    )
    assert notes(variants, "--csv-points", "points.csv") == (
        "note: the file holds no point of a microbenchmark: there is nothing in points.csv\n"
    )
