"""The generated part of README.md: one picture and one table, from the recorded results."""

from __future__ import annotations

import difflib
import hashlib
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from plots.advice import examples
from plots.advice.advise import advise
from plots.advice.twin import accuracy, by_lot, twins_and_unseen
from plots.data.load import Results, main_cache, main_launch, main_size, strategy_order
from plots.data.sessions import CONFIDENCE
from plots.data.strategies import built_variants
from plots.errors import PlotsError
from plots.figures import style
from plots.figures.common import modes, origin
from plots.figures.speedup import speedup
from plots.folders import Note
from plots.judge.beside import rows_beside
from plots.judge.gains import gains_of
from plots.markdown import plain
from plots.prose import runs
from plots.statistics.claims import UNDECIDED
from plots.tree import PACKAGE
from plots.units import claimed_ratio, milliseconds, times

BEGIN = "<!-- generated:results -->"
END = "<!-- /generated:results -->"
PICTURE = Path("docs") / "overview.png"
# The picture is out of date when one of these changes, too.
_NOT_SHOWN = ("file", "schedule", "against_schedule", "movement", "identity")  # columns
_DRAWN_BY = ("figures/style.py", "figures/common.py", "figures/speedup.py")


def select(results: Results) -> Results:
    """What README shows in full: the first of the GPUs, cold, in a stream (or what there is)."""
    return _of_each_gpu(results)[0]


def _of_each_gpu(results: Results) -> list[Results]:
    """Of every GPU with comparison groups, in the order of ``Results.gpus``, its main modes."""
    if results.groups.empty:
        raise PlotsError("the result files hold no comparison group: nothing for README")
    with_groups = set(results.groups["gpu"])
    sides = [results.where(gpu=gpu) for gpu in results.gpus if gpu in with_groups]
    return [
        mine.where(cache=main_cache(mine.groups), launch=main_launch(mine.groups)) for mine in sides
    ]


def _answers(selected: Results) -> list[str]:
    """A line per app: the answer at its main size."""
    main = {app: main_size(selected.groups, app) for app in set(selected.groups["app"])}
    return [
        "- " + plain(f"{a.app}, {a.size_label}: {a.sentence()}")
        for a in advise(selected)
        if a.size == main[a.app]
    ]


def _elsewhere(others: Sequence[Results]) -> list[str]:
    """The answers of the GPUs that are not shown in full."""
    lines: list[str] = []
    for other in others:
        head = f"On {plain(f'{origin(other.groups)}; {modes(other.groups)}')}:"
        lines += [textwrap.fill(head, 100), "", *_answers(other), ""]
    return lines


def picture_digest(selected: Results) -> str:
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


def _comparison(selected: Results, row: pd.Series) -> pd.Series | None:
    found = selected.comparisons
    found = found[(found["group"] == row["group"]) & (found["variant"] == row["variant"])]
    found = found[(found["role"] == row["role"]) & ~found["control"]]
    return None if found.empty else found.iloc[0]


def _speedup(selected: Results, row: pd.Series) -> str:
    if row["strategy"] == "baseline":
        return "1"
    c = _comparison(selected, row)
    if c is None:
        return "–"
    if c["claim"] in UNDECIDED:
        return f"{times(c['ratio'])}, {c['claim']}"
    return claimed_ratio(c["ratio"], c["low"], c["high"])


def _cells(selected: Results, row: pd.Series) -> list[str]:
    """The time of a row and its speed-up; why there is none where it has none."""
    if row["status"] != "ok":
        return [row["status"], "–"]
    return [milliseconds(row["beside_ms"]), _speedup(selected, row)]


def _line(selected: Results, rows: pd.DataFrame, products: dict[tuple[str, str], str]) -> list[str]:
    """The cells of a strategy behind its name; ``rows`` are its rows."""
    cells = {"best": ["–", "–"], "iso": ["–", "–"]}
    product = fraction = behind = "–"
    for role in ("iso", "best"):
        # A library has one row only; it stands where the fastest geometries stand.
        found = rows[rows["role"].isin((role, "comparator") if role == "best" else (role,))]
        if found.empty:
            continue
        row = found.iloc[0]
        cells[role] = _cells(selected, row)
        if row["status"] != "ok":
            continue
        c = _comparison(selected, row)  # as many as the ratio has; of baseline, the time
        behind = runs(*(row if c is None else c)[["sessions", "gpus"]])
        if row["role"] == "best":
            product = products.get((row["group"], row["strategy"]), "–")
        if role == "best" and pd.notna(row["reached"]):
            fraction = f"{100 * row['reached']:.0f} %"
    # A parameter may be a file name, a library's name anything.
    parts = [plain(product)] if products else []
    return [*cells["best"], *parts, fraction, *cells["iso"], behind]


def _by_gain(selected: Results, rows: pd.DataFrame) -> list[str]:
    """The strategies, baseline first, then by their speed-up at best, the largest first; those
    without one last."""
    gains: dict[str, float] = {}
    for _, row in rows[rows["role"].isin(("best", "comparator"))].iterrows():
        c = _comparison(selected, row)
        gains[row["strategy"]] = -np.inf if c is None or row["status"] != "ok" else c["ratio"]
    names = strategy_order(rows["strategy"])
    return sorted(names, key=lambda name: (name != "baseline", -gains.get(name, -np.inf)))


def table(selected: Results) -> str:
    """Markdown: every strategy of every app at its main size, at best and at iso, by its speed-up
    at best; what that consists of, where it was measured."""
    products = {(gain.group, gain.strategy): gain.product() for gain in gains_of(selected)}
    names = ["app", "strategy", "best", "speed-up at best", *(["of it"] if products else [])]
    names += ["of the floor", "iso", "speed-up at iso", "runs"]
    lines = [
        "| " + " | ".join(names) + " |",
        "|---|---|" + "--:|" * (len(names) - 2),
    ]
    every = rows_beside(selected)
    for app in sorted(set(selected.groups["app"])):
        size = main_size(selected.groups, app)
        rows = every[(every["app"] == app) & (every["size"] == size) & (every["repeat"] == 0)]
        for i, name in enumerate(_by_gain(selected, rows)):
            label = f"{app}, {rows.iloc[0]['size_label']}" if i == 0 else ""
            cells = _line(selected, rows[rows["strategy"] == name], products)
            lines.append(f"| {plain(label)} | {plain(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _brackets(selected: Results) -> str:
    """What the brackets are."""
    compared = selected.comparisons[~selected.comparisons["control"]]
    if compared["next_low"].isna().all():
        return (
            "Brackets are exact intervals of the median of paired ratios, corrected for the number "
            "of comparisons; they know one run."
        )
    return (
        f"Brackets say where the ratio of a new run on another {plain(selected.gpus[0])} falls, "
        f"with {100 * CONFIDENCE:.0f} % confidence. How far rows move between runs and GPUs was "
        "measured on those that were run again ([methodology](docs/methodology.md)); "
        "*one run* says that this one was not, so that its bracket is from the others of its app. "
        "*not resolved between runs*: the run resolved a difference, and the next one may not."
    )


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _of_unseen_kernels(results: Results) -> str:
    """What advice is worth for a kernel that nobody measured, on each GPU where such kernels were
    drawn by lot; "" where none were."""
    twins, unseen = twins_and_unseen(results.files["path"].tolist())
    said = []
    for gpu in dict.fromkeys(t.gpu for t in twins if by_lot(t)):
        known = accuracy([t for t in twins if t.gpu == gpu], unseen)
        how = (
            "within the measured range and kept out of every answer"
            if known.unseen
            else "within the measured range and each left out of the answer to it"
        )
        said.append(
            f"Of {known.asked} kernels drawn by lot ({plain(gpu)}), {how}, gains are told by "
            f"[twins](docs/twin.md) of others with a median error of "
            f"{_percent(known.gain_error[0])}, {_percent(known.covered / known.gains, 0)} are "
            "inside the interval that is said, and the strategy named first is within 5 % "
            f"of the best in {known.within} ({_percent(known.within / known.asked, 0)}), where "
            f"always naming baseline would score {known.of_baseline}."
        )
    real = plain(examples.real_kernels()).replace("examples/", "[examples](examples/README.md)")
    return " ".join([*said, real] if said and real else said)


def _why_absent(app: str, notes: Sequence[str]) -> str:
    """Why nothing of an app is shown, by what was said of the files on loading."""
    refused = [n for n in notes if isinstance(n, Note) and (n.kind, n.of) == ("invalid", app)]
    if not refused:
        return "no recorded results"
    return f"nothing valid is recorded ({len(refused)} refused; loading them says why)"


def generated(
    selected: Results,
    others: Sequence[Results] = (),
    closing: str = "",
    notes: Sequence[str] = (),
) -> str:
    """The text between the markers, markers not included: ``selected`` in full, and the answers of
    ``others``. ``closing`` says how far off advice is, which is a matter of all modes and not of
    those that README shows; ``notes``, what was said of the files on loading."""
    main = {app: main_size(selected.groups, app) for app in set(selected.groups["app"])}
    controls = selected.comparisons[selected.comparisons["control"]]
    controls = controls[controls["size"] == controls["app"].map(main)]
    noise = (
        f"Baseline against itself, the noise of the machine, stayed within "
        f"{controls['low'].min():.3f} and {controls['high'].max():.3f}. "
        if len(controls)
        else "No A/A control was measured. "
    )
    headlines = _answers(selected)
    apps = {variant.split("/")[0] for variant in built_variants()}
    headlines += [f"- {app}: {_why_absent(app, notes)}." for app in sorted(apps - main.keys())]
    divided = (
        " *Of it* says what the speed-up at best consists of: what baseline gains when it changes "
        "to the strategy's *schedule* (tile, threads, work per thread), and what the *movement* of "
        "data gains with that schedule on both sides, with its interval."
        if gains_of(selected)
        else ""
    )
    measured = plain(f"{origin(selected.groups)}; {modes(selected.groups)}")
    return "\n".join(
        [
            "",
            textwrap.fill(
                f"Measured on {measured}. *best* is the fastest geometry of each strategy, "
                "baseline too; *iso* the geometry of the original code, the same for all. "
                "Strategies stand in the order of their speed-up at best. A time is that of "
                "baseline divided by the speed-up beside it, so that both are of the same runs."
                f"{divided}",
                100,
            ),
            "",
            *headlines,
            "",
            f"![Speed-up of each strategy over baseline, {measured}]({PICTURE.as_posix()})",
            "",
            table(selected),
            "",
            textwrap.fill(
                f"{_brackets(selected)} {noise}The floor is the least time that the ceilings "
                "measured on this GPU allow; `python -m plots report results` shows all of it.",
                100,
                break_on_hyphens=False,
            ),
            "",
            *_elsewhere(others),
            *([textwrap.fill(closing, 100, break_on_hyphens=False), ""] if closing else []),
        ]
    )


def _closing(results: Results) -> str:
    return " ".join(filter(None, [_of_unseen_kernels(results), results.uncommitted]))


def _split(readme: Path) -> tuple[str, str, str]:
    try:
        text = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise PlotsError(f"{readme}: expected README's text ({error.strerror})") from None
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise PlotsError(f"{readme}: expected one line {BEGIN} and, below it, one line {END}")
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:start], text[start:end], text[end:]


def write(results: Results, readme: Path) -> list[Path]:
    """Writes the generated part of ``readme`` and the picture beside it; returns the files."""
    selected, *others = _of_each_gpu(results)
    before, _, after = _split(readme)
    picture = readme.parent / PICTURE
    description = f"amasia-overview {picture_digest(selected)}"
    style.save(speedup(selected), picture, description)
    text = generated(selected, others, _closing(results), results.notes)
    readme.write_text(before + text + after, encoding="utf-8")
    return [readme, picture]


def check(results: Results, readme: Path) -> list[str]:
    """What differs between README and what would be written now, as lines; empty when nothing."""
    selected, *others = _of_each_gpu(results)
    _, old, _ = _split(readme)
    differences = list(
        difflib.unified_diff(
            old.splitlines(),
            generated(selected, others, _closing(results), results.notes).splitlines(),
            "README",
            "results",
            lineterm="",
            n=0,
        )
    )
    picture = readme.parent / PICTURE
    if not picture.is_file():
        differences.append(f"{PICTURE}: missing")
    elif f"amasia-overview {picture_digest(selected)}".encode() not in picture.read_bytes():
        differences.append(f"{PICTURE}: drawn from other results or by other code")
    return differences
