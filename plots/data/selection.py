"""Which part of which result files a command works on."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from plots.data.load import Results, load, main_cache, main_launch
from plots.errors import PlotsError, nearest
from plots.folders import Note

# Of notes of a kind that are more than a few one line is printed. The report lists all of them.
_OF_MANY = {
    "repeated": "{} groups are in more than one file or session. The one with more variants "
    "counts; if equal, for the same code the one with more rounds, else the later one.",
    "foreign": "{} JSON files are no result files and were left out: tuning tables and the like.",
}
_FEW = 3


def tell(notes: Sequence[str]) -> None:
    """Tells notes about files on stderr, those of a kind that are more than a few in one line."""
    of_kind: dict[str, list[str]] = {kind: [] for kind in _OF_MANY}
    for note in (note for note in notes if isinstance(note, Note) and note.kind in of_kind):
        of_kind[note.kind].append(note.of)
    many = [kind for kind in _OF_MANY if len(of_kind[kind]) > _FEW]
    lines = [note for note in notes if not (isinstance(note, Note) and note.kind in many)]
    for line in (*lines, *(_OF_MANY[kind].format(len(set(of_kind[kind]))) for kind in many)):
        print(line, file=sys.stderr)


def load_aloud(paths: Sequence[str]) -> Results:
    """The results, with what was left out told on stderr."""
    results = load(paths)
    tell(results.notes)
    return results


def among(value: str | None, valid: Sequence[str], what: str) -> None:
    """Raises PlotsError with near names when ``value`` is none of the valid ones."""
    if value is not None and value not in valid:
        raise PlotsError(f'no {what} "{value}" in the result files; {nearest(value, valid)}')


def gpu_named(part: str | None, gpus: Sequence[str]) -> str | None:
    """The GPU that is called so, or the only one whose name has this part, case aside; None for
    None. Raises PlotsError."""
    if part is None or part in gpus:
        return part
    found = [gpu for gpu in gpus if part.casefold() in gpu.casefold()]
    if len(found) > 1:
        raise PlotsError(f'"{part}" is part of several GPUs: {", ".join(found)}')
    if not found:
        among(part, gpus, "GPU")
    return found[0]


@dataclass(frozen=True)
class Selection:
    """Result files, and the GPU, app and modes chosen of them; None leaves open. ``asked``
    holds those that the drawing code has used."""

    paths: tuple[str, ...]
    gpu: str | None = None
    app: str | None = None
    cache: str | None = None
    launch: str | None = None
    asked: set[str] = field(default_factory=set, compare=False, repr=False)

    def ignored(self) -> list[str]:
        """The choices that were made and that nobody has asked for."""
        made = [n for n in ("gpu", "app", "cache", "launch") if getattr(self, n)]
        return [name for name in made if name not in self.asked]

    @cached_property
    def results(self) -> Results:
        """All of the files."""
        return load_aloud(self.paths)

    @cached_property
    def _groups(self) -> Results:
        results = self.results
        self.asked.update(("gpu", "app"))
        if results.groups.empty:
            raise PlotsError("the result files hold no comparison group")
        results = results.where(gpu=gpu_named(self.gpu, results.gpus) or results.gpus[0])
        among(self.app, sorted(set(results.groups["app"])), "app")
        return results.where(app=self.app)

    def all_modes(self) -> Results:
        """The comparison groups chosen, of one GPU. Raises PlotsError when none is."""
        self.asked.update(("cache", "launch"))
        results = self._groups.where(cache=self.cache, launch=self.launch)
        if results.groups.empty:
            raise PlotsError("no comparison group matches the selection")
        return results

    def one_mode(self) -> Results:
        """The same in one cache and launch mode: of a mode left open, the one that single pictures
        show."""
        of_gpu = self._groups
        return replace_selection(
            self,
            cache=self.cache or main_cache(of_gpu.groups),
            launch=self.launch or main_launch(of_gpu.groups),
        ).all_modes()

    def of_gpu(self) -> Results:
        """All of one GPU: microbenchmarks belong to no group."""
        self.asked.add("gpu")
        results = self.results
        with_points = [g for g in results.gpus if (results.points["gpu"] == g).any()]
        return results.where(
            gpu=gpu_named(self.gpu, results.gpus) or (with_points or results.gpus)[0]
        )


def replace_selection(selection: Selection, **changes: str | None) -> Selection:
    """A selection with other choices, of files that are loaded already."""
    other = replace(selection, **changes)
    other.__dict__["results"] = selection.results
    return other
