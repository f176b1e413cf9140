"""The generated part of README.md: one picture and the verdicts, from the recorded results."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from plots.advice import real_kernels
from plots.advice.twin import accuracy, is_random, twins_and_unseen
from plots.data.load import Results, main_cache, main_launch
from plots.data.strategies import built_variants
from plots.errors import PlotsError
from plots.figures import style
from plots.figures.common import modes, origin
from plots.folders import Note
from plots.prose import plain, wrapped
from plots.report.heatmap import heatmap
from plots.report.verdicts import overall, verdicts
from plots.tree import PACKAGE

BEGIN = "<!-- generated:results -->"
END = "<!-- /generated:results -->"
PICTURE = Path("docs") / "overview.png"
# The picture is out of date when one of these changes, too.
_NOT_SHOWN = ("file", "schedule", "against_schedule", "movement", "identity")  # columns
_DRAWN_BY = ("figures/style.py", "figures/common.py", "report/heatmap.py")


def _of_each_gpu(results: Results) -> list[Results]:
    """The results of every GPU with comparison groups: first what the current code measured, else
    in the order of ``Results.gpus``."""
    if results.groups.empty:
        raise PlotsError("the result files hold no comparison group: nothing for README")
    with_groups = set(results.groups["gpu"])
    found = [results.where(gpu=gpu) for gpu in results.gpus if gpu in with_groups]
    return sorted(found, key=lambda of_gpu: not (of_gpu.groups["version"] == "").any())


def _in_main_mode(of_gpu: Results) -> Results:
    """The picture's part: cold, in a stream (or what there is)."""
    return of_gpu.where(cache=main_cache(of_gpu.groups), launch=main_launch(of_gpu.groups))


def _picture_digest(selected: Results) -> str:
    """SHA-256 of what the picture shows and of the code that draws it.

    Compared instead of the picture's bytes, which change with the version of matplotlib.
    """
    digest = hashlib.sha256()
    for frame in (selected.comparisons, selected.rows, selected.groups):
        shown = [name for name in frame.columns if name not in _NOT_SHOWN]
        digest.update(frame[shown].to_csv(index=False).encode())
    for name in _DRAWN_BY:
        digest.update((PACKAGE / name).read_bytes())
    return digest.hexdigest()


def _not_shown(of_gpu: Results, notes: Sequence[str]) -> list[str]:
    """A line per app without a verdict: nothing recorded, or refused on loading (``notes``)."""
    lines = []
    apps = {variant.split("/")[0] for variant in built_variants()}
    for app in sorted(apps - set(of_gpu.groups["app"])):
        refused = [n for n in notes if isinstance(n, Note) and (n.kind, n.of) == ("invalid", app)]
        why = f"no valid results ({len(refused)} groups refused)" if refused else "not recorded"
        lines.append(f"- {app}: {why}")
    return lines


def _of_gpu(of_gpu: Results, notes: Sequence[str]) -> list[str]:
    """The overall sentences of a GPU, then a line per app."""
    lines = [f"- {plain(verdict.line)}" for verdict in verdicts(of_gpu)]
    return ["", wrapped(plain(overall(of_gpu))), "", *lines, *_not_shown(of_gpu, notes)]


def _of_advice(results: Results) -> str:
    """How often advice for a kernel outside the suite was right: random kernels, then real ones;
    "" where neither was measured."""
    twins, unseen = twins_and_unseen(results.files["path"].tolist())
    said = []
    for gpu in results.gpus:
        mine = [twin for twin in twins if twin.gpu == gpu]
        if any(map(is_random, mine)):
            known = accuracy(mine, unseen)
            said.append(
                f"{known.within} of {known.asked} random kernels on {plain(gpu)} (always baseline: "
                f"{known.of_baseline})"
            )
    if not said:
        return ""
    text = f"`advise` names a strategy within 5 % of the best for {' and for '.join(said)}."
    if real := real_kernels.worth_of(real_kernels.all_cases()):
        hits, cases, base, inside, gains = (
            sum(getattr(of, name) for of in real)
            for name in ("hits", "cases", "of_baseline", "inside", "gains")
        )
        text += (
            f" Of real kernels it did so in {hits} of {cases} cases (always baseline: {base}); "
            f"{inside} of {gains} gains lay inside their 90 % interval."
        )
    return text


def generated(results: Results) -> str:
    """The text between the markers, markers not included."""
    every = _of_each_gpu(results)
    main = _in_main_mode(every[0])
    measured = plain(f"{origin(main.groups)}; {modes(main.groups)}")
    lines = ["", f"![Speed-up of each strategy over baseline, {measured}]({PICTURE.as_posix()})"]
    lines += ["", f"{modes(main.groups).capitalize()}; the other modes are in the report."]
    for of_gpu in every:
        lines += _of_gpu(of_gpu, results.notes)
    dirty = int(results.files["dirty"].sum())
    if dirty:
        dirty_files = f"{dirty} of the {len(results.files)} result files"
        lines += ["", f"{dirty_files} are of programs with uncommitted changes."]
    if of_advice := _of_advice(results):
        lines += ["", wrapped(of_advice)]
    return "\n".join([*lines, ""])


def text_with(results: Results, readme: Path) -> str:
    """The text of ``readme`` with its generated part made anew."""
    try:
        text = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise PlotsError(f"{readme}: expected README's text ({error.strerror})") from None
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise PlotsError(f"{readme}: expected one line {BEGIN} and, below it, one line {END}")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    return f"{before}{generated(results)}\n{after}"


def picture_mark(results: Results) -> str:
    """What the file of the picture holds when it is up to date."""
    return f"amasia-overview {_picture_digest(_in_main_mode(_of_each_gpu(results)[0]))}"


def write(results: Results, readme: Path) -> list[Path]:
    """Writes the generated part of ``readme`` and the picture beside it; returns the files."""
    text, picture = text_with(results, readme), readme.parent / PICTURE
    drawn = _in_main_mode(_of_each_gpu(results)[0])
    style.save(heatmap(drawn), picture, picture_mark(results))
    readme.write_text(text, encoding="utf-8")
    return [readme, picture]
