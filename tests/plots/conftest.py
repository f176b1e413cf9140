"""Fixtures of the tests of the analysis: result files with planted times, loaded once."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import planted
import pytest

from plots.data.load import Results, load
from plots.tree import ROOT


@pytest.fixture(scope="session")
def paper_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result file like that of a real study, odd rows included."""
    path = tmp_path_factory.mktemp("results") / "paper.json"
    path.write_text(planted.sealed(planted.paper_like()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def record() -> Results:
    """Everything in results/."""
    return load([ROOT / "results"])


@pytest.fixture(scope="session")
def paper(paper_file: Path) -> Results:
    return load([paper_file])


@pytest.fixture(scope="session")
def write_page() -> Callable[..., Path]:
    """Writes a page of two GPUs, an app on each, a cross matrix, microbenchmarks, and what else is
    named, into a folder. Its files are named from there, so that it is the same wherever that is.
    """

    from plots.report.page import render

    def write(folder: Path, **others: Any) -> Path:
        nw = {"n": 2048}
        older = planted.group("nw", nw, 2.0)
        documents = {
            "matched": planted.document([planted.matched_group("nw", nw, 1.0)]),
            "cross": planted.document([planted.cross_group("nw", nw)]),
            "older": planted.document([older], gpu=planted.A100, ceiling_scale=0.4),
            **others,
        }
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(planted.sealed(document), encoding="utf-8")
        recorded = ROOT / "results" / "0.1.0" / "h200" / "memory.json.gz"  # which never changes
        (folder / recorded.name).write_bytes(recorded.read_bytes())
        path = folder / "report.html"
        with contextlib.chdir(folder):
            results = load([Path(f"{name}.json") for name in documents] + [Path(recorded.name)])
            path.write_text(render(results), encoding="utf-8")
        return path

    return write


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Writes a document as if it had been measured so, or a text as it is; returns the path."""

    def write(document: Any, name: str = "result.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else planted.sealed(document)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command printed that must end with this status."""
    from plots.cli import main  # here, since what draws takes its time

    def call(status: int, *words: object) -> Any:
        found = main([str(word) for word in words])
        printed = capsys.readouterr()
        assert found == status, printed.err
        return printed

    return call


@pytest.fixture
def load_groups(save: Callable[..., Path]) -> Callable[..., Results]:
    """Loads a document of these groups."""

    def make(*groups: dict[str, Any], **options: Any) -> Results:
        return load([save(planted.document(list(groups), **options))])

    return make


@pytest.fixture
def two_gpus(save: Callable[..., Path]) -> Callable[..., tuple[Results, Results]]:
    """Results of an H200 and of an A100 that takes ``factor`` times as long."""

    def make(factor: float = 2.0, **old_options: Any) -> tuple[Results, Results]:
        size = {"n": 512}
        new = planted.document([planted.group("nw", size, 1.0, seed=1)])
        group = planted.group("nw", size, factor, seed=2, **old_options)
        old = planted.document([group], gpu=planted.A100, ceiling_scale=0.4)
        return load([save(new, "new.json")]), load([save(old, "old.json")])

    return make


@pytest.fixture
def memory_file(save: Callable[..., Path]) -> Path:
    """Microbenchmarks only."""
    return save(planted.memory_like(), "memory.json")


@pytest.fixture
def cross_file(save: Callable[..., Path]) -> Path:
    return save(planted.cross_like(), "cross.json")


@pytest.fixture
def matched_file(save: Callable[..., Path]) -> Path:
    """A result file whose speed-ups are divided into schedule and movement."""
    groups = [planted.matched_group("nw", {"n": n}, 1.0, seed=n) for n in (2048, 4096)]
    return save(planted.document(groups), "matched.json")
