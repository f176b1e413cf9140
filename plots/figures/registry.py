"""What a figure tells the command line and the report about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from plots.data.load import Results
from plots.data.selection import Selection
from plots.papers.expect import Measured


class Chapter(Enum):
    """Where in the report a figure stands; the report keeps the chapters in order."""

    APPS = "apps"  # of one app on one GPU: AppSubject
    COMPARISONS = "comparisons"  # of one GPU, over its apps, each under a heading: GpuSubject
    MICROBENCHMARKS = "microbenchmarks"  # of one GPU, in one sequence: GpuSubject
    PAIRS = "pairs"  # of two GPUs: PairSubject
    HARDWARE = "hardware"  # what sources promise, once a report: SuiteSubject

    @property
    def place(self) -> int:
        """Its number in the order of the report."""
        return list(Chapter).index(self)


_LAUNCHES = {"stream": "stream launches", "graph": "graph launches"}


def mode_name(cache: str, launch: str) -> str:
    """ "cold cache, stream launches"."""
    return f"{cache} cache, {_LAUNCHES[launch]}"


@dataclass(frozen=True)
class GpuSubject:
    """A GPU of the report: all its results, and the cache and launch mode that a single picture
    shows. ``built`` are the variants that exist, recorded or not."""

    gpu: str
    anchor: str
    results: Results
    cache: str
    launch: str
    built: tuple[str, ...]

    @cached_property
    def main(self) -> Results:
        """The results in the mode that a single picture shows."""
        return self.results.where(cache=self.cache, launch=self.launch)

    @property
    def mode(self) -> str:
        return mode_name(self.cache, self.launch)

    def has_points(self, microbenchmark: str) -> bool:
        """Whether this microbenchmark was run on the GPU."""
        return bool((self.results.points["microbenchmark"] == microbenchmark).any())


@dataclass(frozen=True)
class AppSubject:
    """One app on one GPU of the report."""

    gpu: GpuSubject
    app: str
    anchor: str

    @cached_property
    def results(self) -> Results:
        """All results of the app on the GPU, in every mode."""
        return self.gpu.results.where(app=self.app)

    @cached_property
    def main(self) -> Results:
        """Those in the mode that a single picture shows."""
        return self.gpu.main.where(app=self.app)


@dataclass(frozen=True)
class PairSubject:
    """Two GPUs of the report with matching rows; ``dates`` says when they were measured,
    ``verdict`` in sentences what the step is worth (plots/papers/generations.py)."""

    measured: Measured
    dates: str
    anchor: str
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class SuiteSubject:
    """The report as a whole: the names of its GPUs."""

    gpus: tuple[str, ...]
    anchor: str = "suite"


@dataclass(frozen=True)
class Picture:
    """A drawing to make: ``draw(*arguments)``, called perhaps in another process.

    ``name`` makes the ids in the picture unique in a report, ``label`` describes it to those who
    do not see it; with ``fold`` it is hidden under that line until asked for.
    """

    name: str
    label: str
    draw: Callable[..., Figure]
    arguments: tuple[Any, ...]
    fold: str = ""
    microbenchmark: str = ""  # that it shows, in the chapter of microbenchmarks


def _no_prose(_: Any) -> Markup:
    return Markup("")


@dataclass(frozen=True)
class FigureKind:
    """A figure: ``of_selection`` draws it for ``python -m plots figure NAME`` (None: only the
    report and other commands do).

    In the report it stands in ``chapter`` (None: nowhere) by ascending ``order``, as ``heading``,
    ``above``, its pictures, ``below``. ``pictures``, ``above`` and ``below`` are called with the
    subject of the chapter; a figure without pictures is left out, prose too. A figure that a page
    says better in tables has ``markup`` instead of pictures, left out where it is empty. Numbers in
    the prose come from the subject.
    """

    name: str
    summary: str
    of_selection: Callable[[Selection], Figure] | None
    chapter: Chapter | None = None
    order: int = 0
    heading: str = ""
    pictures: Callable[[Any], Sequence[Picture]] | None = None
    above: Callable[[Any], Markup] = _no_prose
    below: Callable[[Any], Markup] = _no_prose
    markup: Callable[[Any], Markup] | None = None
    at_main_sizes: bool = False  # what ``of_selection`` shows where no size is chosen

    def __post_init__(self) -> None:
        shown = (self.pictures is not None) + (self.markup is not None)
        if shown != (self.chapter is not None):
            raise ValueError(f"figure {self.name}: expected a chapter and its pictures, or neither")


_kinds: dict[str, FigureKind] = {}
FIGURES: Mapping[str, FigureKind] = MappingProxyType(_kinds)


def register(kind: FigureKind) -> FigureKind:
    """Makes a figure known. Raises ValueError when its name is taken."""
    if kind.name in _kinds:
        raise ValueError(f"two figures are called {kind.name}")
    _kinds[kind.name] = kind
    return kind


def of_chapter(chapter: Chapter) -> list[FigureKind]:
    """The figures of a chapter in order."""
    found = [kind for kind in _kinds.values() if kind.chapter is chapter]
    return sorted(found, key=lambda kind: (kind.order, kind.name))


def microbenchmark_figure(
    name: str,
    summary: str,
    draw: Callable[[Results], Figure],
    microbenchmark: str,
    order: int,
    above: Callable[[GpuSubject], Markup],
) -> FigureKind:
    """Registers a figure of one microbenchmark, shown where that was run."""

    def pictures(subject: GpuSubject) -> list[Picture]:
        if not subject.has_points(microbenchmark):
            return []
        label = f"{microbenchmark} on {subject.gpu}"
        # By the figure's name too, because several may be of one microbenchmark.
        unique = f"{name}-of-{microbenchmark.replace('/', '-')}"
        arguments = (subject.results,)
        return [Picture(unique, label, draw, arguments, microbenchmark=microbenchmark)]

    return register(
        FigureKind(
            name,
            summary,
            lambda selection: draw(selection.of_gpu()),
            Chapter.MICROBENCHMARKS,
            order,
            pictures=pictures,
            above=above,
        )
    )
