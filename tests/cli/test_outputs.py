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
from test_stub import Stub, finished_groups, wait_until

from tests.process import ROOT, run

MOUNTS = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
needs_mounts = pytest.mark.skipif(MOUNTS.returncode != 0, reason="nothing may be mounted here")


@pytest.fixture
def stub(tmp_path: pathlib.Path) -> Stub:
    return Stub(tmp_path)


def with_a_mount(stub: Stub, options: str, *arguments: str, status: int = 0) -> str:
    """The stub where `real.json` is mounted on `run.json`, as into a container."""
    (stub.folder / "real.json").touch()
    stub.out.touch()
    mount = f'mount --bind real.json run.json{options} && exec "$@"'
    command = ("unshare", "--mount", "sh", "-c", mount, "sh", program("amasia-stub"), *arguments)
    return run(*command, cwd=stub.folder, status=status, **stub.environment()).stderr


RUN = ("run", "stub", "--roles", "iso", "--size", "n=1000")


@needs_mounts
def test_a_file_with_a_mount_on_it_is_rewritten_in_place(stub: Stub) -> None:
    with_a_mount(stub, "", *RUN, "--out", "run.json")
    assert len(read_result(stub.folder / "real.json")["groups"]) == 1
    assert stub.out.read_text() == "" and not stub.journal.exists()
    real = stub.folder / "real.json"
    with_a_mount(stub, "", "export", str(real), "--csv", "run.json", status=2)  # the file it reads
    # Shorter than what is there.
    (stub.folder / "copy.json").write_bytes(real.read_bytes())
    with_a_mount(stub, "", "export", "copy.json", "--csv", "run.json")
    assert real.read_text().startswith("gpu,")


@needs_mounts
def test_a_mount_that_cannot_be_written_is_found_before_measuring(stub: Stub) -> None:
    read_only = " && mount -o remount,bind,ro run.json"
    said = with_a_mount(stub, read_only, *RUN, "--out", "run.json", status=2)
    assert said == "amasia: run.json: cannot be written: Read-only file system\n"
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
    with stub.slowly(stderr=subprocess.PIPE, text=True) as process:
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
    assert "amasia export FILE --csv - prints" in stub.run(*RUN, "--out", "-", status=2).stderr


def test_results_to_stdout_are_alone_there(stub: Stub) -> None:
    (stub.folder / "stdout").symlink_to("/proc/self/fd/1")
    assert len(json.loads(stub.run(*RUN, "--out", "stdout", "--overwrite").stdout)["groups"]) == 1


# What is read.


def test_foreign_files_in_a_folder_of_records_are_passed_over(stub: Stub) -> None:
    records = stub.folder / "records"
    records.mkdir()
    stub.measure()
    (records / "run.json").write_bytes(b"\xef\xbb\xbf" + stub.out.read_bytes())
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

ORIGIN = ["gpu", "driver", "toolkit", "commit"]


def test_tables_of_two_gpus_are_one_table(amasia: Run, tmp_path: pathlib.Path) -> None:
    tables: dict[str, list[pandas.DataFrame]] = {"rows": [], "points": []}
    folders = [ROOT / "results" / "0.1.0" / gpu for gpu in ("h200", "h100-80gb-hbm3")]
    for file in (folder / f"{of}.json.gz" for folder in folders for of in ("paper-nw", "launch")):
        forms = ("--csv", "rows.csv", "--csv-points", "points.csv")
        amasia("export", file, *forms, cwd=tmp_path, status=0)
        for kind, of_kind in tables.items():
            of_kind.append(pandas.read_csv(tmp_path / f"{kind}.csv"))
    joined = {}
    for kind, of_kind in tables.items():
        assert all(list(table.columns) == list(of_kind[0].columns) for table in of_kind)
        assert list(of_kind[0].columns[:4]) == ORIGIN
        # The heading of a table without rows has no types.
        joined[kind] = table = pandas.concat([table for table in of_kind if len(table)])
        assert set(table.gpu) == {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}
        assert table[ORIGIN].notna().all(axis=None)
        assert table.commit.str.fullmatch("[0-9a-f]{40}(-dirty)?").all()

    # The medians are those of the result files.
    for folder in folders:
        document = read_result(folder / "paper-nw.json.gz")
        groups = [row for group in document["groups"] for row in group["rows"]]
        medians = sorted(row["time_ms"]["median"] for row in groups if row["time_ms"])
        of_gpu = joined["rows"][joined["rows"].gpu == document["provenance"]["device"]["name"]]
        assert sorted(of_gpu.time_ms.dropna()) == pytest.approx(medians)

    points = joined["points"]
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
