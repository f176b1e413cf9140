"""plots/data/frozen.py: the record of an earlier version beside that of the current code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import synthetic

from plots.data import cases, frozen
from plots.data.documents import find_files, read_document
from plots.data.load import load
from plots.data.sessions import Measured, Sessions, SessionValue
from plots.data.strategies import APPS


@pytest.fixture
def results(tmp_path: Path, paper_file: Path) -> Path:
    """A record of GPU a by 0.1.0 and by the current code, of GPU b by 0.1.0 alone."""
    folder = tmp_path / "results"
    for place in ("a", "0.1.0/a", "0.1.0/b"):
        (folder / place).mkdir(parents=True)
        (folder / place / "paper.json").write_bytes(paper_file.read_bytes())
    listed = "".join(f"{'0' * 64}  {gpu}/paper.json\n" for gpu in "ab")
    listed += "a line of something else\n"
    (folder / "0.1.0" / frozen.CHECKSUMS).write_text(listed)
    (folder / "0.1.0" / "a" / "foreign.json").write_text("{")  # not listed
    return folder


def test_the_current_record_of_a_gpu_stands_for_it(results: Path) -> None:
    found, _ = find_files([results])
    assert found == [results / "0.1.0" / "b" / "paper.json", results / "a" / "paper.json"]
    found, _ = find_files([results / "0.1.0"])
    assert [path.parent.name for path in found] == ["a", "b"]
    named = results / "0.1.0" / "a" / "paper.json"
    assert find_files([named])[0] == [named]


def test_only_a_folder_with_checksums_is_a_frozen_record(results: Path) -> None:
    path = results / "0.1.0" / "b" / "paper.json"
    assert frozen.version_of(path) == "0.1.0" and frozen.version_of(results / "a" / "x") == ""
    (results / "0.1.0" / frozen.CHECKSUMS).unlink()
    assert frozen.version_of(path) == ""


def test_gpus_are_compared_as_one_version_recorded_them(results: Path) -> None:
    current = load([results / "a"])
    (gpu,) = current.gpus
    assert set(current.files["version"]) == {""}
    assert current.earlier is not None and set(current.earlier.files["version"]) == {"0.1.0"}
    (side,) = current.of_one_version(gpu)
    assert set(side.files["version"]) == {""}
    earlier = load([results / "0.1.0" / "b"])
    assert set(earlier.files["version"]) == {"0.1.0"}
    (side,) = earlier.of_one_version(gpu)
    assert set(side.rows["version"]) == {"0.1.0"}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are decoded, in their order."""
    paths: list[Path] = []

    def counted(path: Path) -> Any:
        paths.append(path)
        return read_document(path)

    monkeypatch.setattr(cases, "read_document", counted)
    return paths


def test_the_record_is_read_when_it_is_asked_for(results: Path, read: list[Path]) -> None:
    current = load([results / "a"])
    assert read == [results / "a" / "paper.json"]
    assert current.where(app="nw").earlier is not None and len(read) == 3


def test_of_the_record_only_the_app_is_read_to_predict(save: Any, read: list[Path]) -> None:
    of_app = {app: synthetic.document([synthetic.group(app, {"n": 64}, 1.0)]) for app in APPS[:2]}
    frozen_paths = [save(of, f"0.1.0/h200/{app}.json") for app, of in of_app.items()]
    listed = "".join(f"{'0' * 64}  h200/{app}.json\n" for app in of_app)
    (frozen_paths[0].parents[1] / frozen.CHECKSUMS).write_text(listed)
    mine = save(of_app[APPS[0]], f"h200/{APPS[0]}.json")
    load([mine])
    assert read == [mine, frozen_paths[0]]


def _sessions(gpus: int, spread: float, earlier: Sessions | None = None) -> Sessions:
    found = Sessions(earlier and (lambda gpu, app: earlier))
    for row in range(6):
        for gpu in range(gpus):
            value = SessionValue(str(gpu), spread * ((gpu * (row + 1)) % 3))
            found.add(
                Measured("time", "A", "nw", "case", f"{row}", "best", f"{row}", value, "2026")
            )
    return found


def test_until_three_gpus_are_measured_the_earlier_record_says_how_gpus_differ() -> None:
    few = _sessions(2, 0.5)
    assert few.spread_from("time", "A", "nw") == "all apps"
    earlier = _sessions(4, 0.01)
    few = _sessions(2, 0.5, earlier)
    assert few.spread_from("time", "A", "nw") == "the record of an earlier version"
    assert few.borrowed() == [
        "nw on A: how far times move from GPU to GPU is taken from the record of an earlier "
        "version, until the current code is measured on more GPUs."
    ]
    wide, narrow = _sessions(2, 0.5).kind("time", "A", "nw"), few.kind("time", "A", "nw")
    assert narrow == earlier.kind("time", "A", "nw") and narrow != wide
    many = _sessions(3, 0.1, earlier)
    assert many.spread_from("time", "A", "nw") == "" and many.borrowed() == []
    assert many.kind("time", "A", "nw") == _sessions(3, 0.1).kind("time", "A", "nw")
