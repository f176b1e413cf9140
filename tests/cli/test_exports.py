"""pandas reads the CSV that `amasia export` writes, and concatenates tables of several GPUs."""

from __future__ import annotations

import pathlib

import pandas
import pytest
from programs import ROOT, Run, read_result

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
