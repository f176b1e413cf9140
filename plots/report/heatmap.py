"""The answer in one picture: overall speed-ups, apps x strategies, the winner framed."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from plots.data.load import Results, main_cache, main_launch
from plots.data.strategies import NAMES
from plots.figures import FigureKind, common, register
from plots.figures.style import LEAST_POINTS, WIDTH, new_figure, styled, title, wrapped
from plots.report.verdicts import Verdict, verdicts
from plots.statistics.claims import UNDECIDED
from plots.units import times

_LABEL_INCHES = 1.35  # of an app and its size
_TICKS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10, 20)
_MAP = matplotlib.colormaps["PuOr"]  # orange: slower, purple: faster; safe for colour-blind readers
_ALARMS = ("failed", "crashed")


@dataclass(frozen=True)
class Cell:
    """What is known of a strategy in a case. ``kind`` is "reference", a claim ("faster", "not
    resolved"), a row status other than ok, "not run" or "not compared"; ``row`` and ``comparison``
    are the lines of the frames, None where there is none."""

    kind: str
    ratio: float = np.nan
    row: object = None
    comparison: object = None


def cell(results: Results, verdict: Verdict, strategy: str) -> Cell:
    """Of ``results`` in one cache and launch mode, each strategy at its best."""
    a, rows, compared = verdict.advice, results.rows, results.comparisons
    variant = f"{a.app}/{strategy}"
    rows = rows[(rows["variant"] == variant) & (rows["size"] == a.size) & (rows["repeat"] == 0)]
    rows = rows[rows["role"] == a.role]
    if rows.empty:
        return Cell("not run")
    row = rows.iloc[0]
    if row["status"] != "ok":
        return Cell(row["status"], row=row)
    if strategy == "baseline":
        return Cell("reference", 1.0, row)
    compared = compared[(compared["variant"] == variant) & (compared["size"] == a.size)]
    compared = compared[(compared["role"] == a.role) & ~compared["control"]]
    if compared.empty:
        return Cell("not compared", row=row)
    c = compared.iloc[0]
    return Cell(c["claim"], float(c["ratio"]), row, c)


@styled
def heatmap(results: Results) -> Figure:
    """Cases x strategies on one GPU: overall speed-up over baseline, each at its best, at the main
    size of each app. Colour is the speed-up on a logarithmic scale; a cell without colour makes no
    claim. A frame marks the winner, and those that tie with it."""
    common.need(results.groups, "groups")
    shown = verdicts(results)
    main = results.where(cache=main_cache(results.groups), launch=main_launch(results.groups))
    cells = {(v.label, name): cell(main, v, name) for v in shown for name in NAMES}
    claimed = [c.ratio for c in cells.values() if c.kind in ("faster", "slower")]
    reach = max(abs(np.log2([1.25, *claimed])))
    norm = TwoSlopeNorm(0, -reach, reach)
    figure = new_figure(1.15 + 0.42 * len(shown))
    ax = figure.subplots()
    width = (WIDTH - _LABEL_INCHES - 0.9) / len(NAMES)
    for y, verdict in enumerate(shown):
        for x, name in enumerate(NAMES):
            c = cells[verdict.label, name]
            face, ink, hatch, text = "white", "#333333", "", c.kind
            if c.kind in ("faster", "slower"):
                face, text = _MAP(norm(np.log2(c.ratio))), times(c.ratio)
                ink = "white" if np.dot(face[:3], (0.2126, 0.7152, 0.0722)) < 0.45 else "black"
            elif c.kind in UNDECIDED:
                text = f"({times(c.ratio)})"
            elif c.kind == "reference":
                text, face = "1", "#F4F4F4"
            else:
                hatch, ink = "....", "#B00020" if c.kind in _ALARMS else "#333333"
            ax.add_patch(
                Rectangle(
                    (x - 0.5, y - 0.5), 1, 1, facecolor=face, hatch=hatch, linewidth=1.2,
                    edgecolor="#CFCFCF" if hatch else "white", label=c.kind,
                )
            )  # fmt: skip
            won = name in verdict.winners
            if won:
                ax.add_patch(
                    Rectangle(
                        (x - 0.45, y - 0.43), 0.9, 0.86, fill=False, edgecolor="black",
                        linewidth=2.2, zorder=3, label="winner",
                    )
                )  # fmt: skip
            number = c.kind not in (*UNDECIDED, "reference") and np.isfinite(c.ratio)
            ax.text(
                x, y, wrapped(text, width, LEAST_POINTS), ha="center", va="center", color=ink,
                fontsize=9 if number else LEAST_POINTS, weight="bold" if won else "normal",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1} if hatch else None,
            )  # fmt: skip
    ax.set(xlim=(-0.5, len(NAMES) - 0.5), ylim=(len(shown) - 0.5, -0.5))
    ax.set_xticks(range(len(NAMES)), [name.replace("_", "_\n") for name in NAMES])
    ax.xaxis.tick_top()
    labels = [f"{v.label}\n{_size(v)}" for v in shown]
    ax.set_yticks(range(len(shown)), labels)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = figure.colorbar(ScalarMappable(norm, _MAP), ax=ax, fraction=0.03, pad=0.015)
    bar.set_label("faster or slower than baseline")
    stops = [t for t in _TICKS if abs(np.log2(t)) <= reach]
    bar.set_ticks([np.log2(t) for t in stops], labels=[f"{t:g}×" for t in stops])
    bar.ax.minorticks_off()
    title(
        figure,
        "Overall speed-up over the tuned baseline; framed: the winner, or winners that tie",
        f"{common.origin(main.groups)}; {common.modes(main.groups)}; in brackets: no claim",
    )
    return figure


def _size(verdict: Verdict) -> str:
    """The size as far as it says how large it is: its first two numbers."""
    parts = [p for p in verdict.advice.size_label.split() if p.partition("=")[2].isdigit()][:2]
    return " ".join(parts)


register(
    FigureKind(
        "heatmap",
        "apps x strategies: overall speed-up, the winner framed",
        lambda selection: heatmap(selection.one_mode()),
        order=2,
    )
)
