"""Apps x strategies at a glance: where which strategy pays."""

from __future__ import annotations

import itertools
from collections.abc import Collection

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from plots.data.load import Results, main_size
from plots.data.selection import Selection
from plots.data.strategies import APPS, NAMES, built_variants
from plots.figures import common
from plots.figures.registry import FigureKind, register
from plots.figures.speedup import ROLES
from plots.figures.style import in_column, inches, new_figure, settle, styled, text_size, wrapped
from plots.statistics.claims import UNDECIDED
from plots.units import times

_LABEL_INCHES = 1.1  # of an app and its size
_TICKS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20)
_NARROW = 0.8  # inches of a cell, in which "not resolved" has no room
_MAP = matplotlib.colormaps["PuOr"]  # orange: slower, purple: faster; safe for colour-blind readers


def cell(
    results: Results, app: str, strategy: str, role: str, built: Collection[str]
) -> tuple[str, float]:
    """What a cell says: (kind, ratio) at the main size of the app. kind is "reference", "faster",
    "slower", "not resolved", a row status other than ok, "not run" or "not built"."""
    size = main_size(results.groups, app)
    variant = f"{app}/{strategy}"
    rows = results.rows
    rows = rows[(rows["variant"] == variant) & (rows["size"] == size) & (rows["repeat"] == 0)]
    rows = rows[rows["role"] == role]
    if rows.empty:
        known = variant in built or variant in set(results.rows["variant"])
        return ("not run" if known else "not built"), np.nan
    status = rows.iloc[0]["status"]
    if status != "ok":
        return status, np.nan
    if strategy == "baseline":
        return "reference", 1.0
    found = results.comparisons
    found = found[(found["variant"] == variant) & (found["size"] == size)]
    found = found[(found["role"] == role) & ~found["control"]]
    if found.empty:
        return "not compared", np.nan
    return found.iloc[0]["claim"], float(found.iloc[0]["ratio"])


def _draw_cell(
    ax: Axes, x: int, y: int, kind: str, ratio: float, norm: TwoSlopeNorm, width: float
) -> None:
    """A cell ``width`` inches wide; in a narrow one brackets say that no claim is made."""
    narrow = in_column() and width < _NARROW
    face, ink, hatch, text = "white", "#333333", "", kind
    if kind in ("faster", "slower"):
        face = _MAP(norm(np.log2(ratio)))
        luminance = float(np.dot(face[:3], (0.2126, 0.7152, 0.0722)))
        ink = "white" if luminance < 0.45 else "black"
        text = times(ratio).removesuffix("×") if narrow else times(ratio)
    elif kind in UNDECIDED:
        text = f"({times(ratio).removesuffix('×')})" if narrow else f"{times(ratio)}\n{kind}"
    elif kind == "reference":
        text, face = "ref." if narrow else "reference", "#F4F4F4"
    elif kind == "not built":
        hatch, ink = "////", "#666666"
    else:
        hatch, ink = "....", "#B00020" if kind in ("failed", "crashed") else "#333333"
    ax.add_patch(
        Rectangle(
            (x - 0.5, y - 0.5), 1, 1, facecolor=face, hatch=hatch, linewidth=1.2,
            edgecolor="#CFCFCF" if face == "white" else "white", label=kind,
        )
    )  # fmt: skip
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2} if hatch else None
    size = text_size(9 if kind in ("faster", "slower") else 7)
    text = wrapped(text, 0.95 * width, size)
    ax.text(x, y, text, ha="center", va="center", fontsize=size, color=ink, bbox=box)


@styled
def heatmap(results: Results, built: Collection[str]) -> Figure:
    """Six apps x six strategies, iso and best, each app at its main size (load.main_size).

    Colour is the speed-up over baseline on a logarithmic scale; a cell without colour makes no
    claim. ``built`` names the variants that exist ("hotspot/tma"); others are hatched "not built".
    ``results`` must hold one GPU, cache mode and launch mode.
    """
    common.need(results.groups, "groups")
    apps = [*APPS, *sorted(set(results.groups["app"]) - set(APPS))]
    cells = {}
    for app in apps:
        of_app = results.where(app=app)  # once, not for each cell
        for role, strategy in itertools.product(ROLES, NAMES):
            cells[role, app, strategy] = cell(of_app, app, strategy, role, built)
    ratios = [r for kind, r in cells.values() if kind in ("faster", "slower")]
    reach = max([abs(np.log2(r)) for r in ratios] + [np.log2(1.25)])
    norm = TwoSlopeNorm(0, -reach, reach)
    figure = new_figure(12, 1.75 + 0.62 * len(apps))
    columns = 1 if in_column() else 2
    axes = figure.subplots(2 // columns, columns, sharey=True, sharex=True).flatten()
    labels = []
    for app in apps:
        size = main_size(results.groups, app)
        of_app = results.groups[(results.groups["app"] == app) & (results.groups["size"] == size)]
        text = of_app.iloc[0]["size_label"] if len(of_app) else ""
        text = wrapped(text, _LABEL_INCHES, text_size(8))
        labels.append(f"{app}\n{text}" if text else app)
    room = figure.get_figwidth() / columns - max(inches(label, text_size(8)) for label in labels)
    width = (room - 0.2) / len(NAMES)
    for ax, (role, text) in zip(axes, ROLES.items(), strict=True):
        for y, app in enumerate(apps):
            for x, strategy in enumerate(NAMES):
                _draw_cell(ax, x, y, *cells[role, app, strategy], norm, width)
        ax.set_xlim(-0.5, len(NAMES) - 0.5)
        ax.set_ylim(len(apps) - 0.5, -0.5)
        slanted = {"rotation": 90} if width < _NARROW and in_column() else {}
        names = NAMES if slanted else [n.replace("_", "_\n") for n in NAMES]
        ax.set_xticks(range(len(NAMES)), names, **slanted)
        ax.set_title(text, loc="left")
        ax.grid(visible=False)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
    axes[0].set_yticks(range(len(apps)), labels, fontsize=text_size(8))
    where = {"location": "bottom", "shrink": 0.9} if in_column() else {}
    bar = figure.colorbar(ScalarMappable(norm, _MAP), ax=axes, fraction=0.025, pad=0.01, **where)
    bar.set_label("speed-up over baseline")
    stops = [t for t in _TICKS if abs(np.log2(t)) <= reach]
    if in_column():
        stops = common.side_by_side(stops, 0.85 * room / (2 * reach * np.log(2)), "×")
    elif len(stops) > 9:  # those around 1 would overlap
        stops = [t for t in stops if t == 1 or not 0.7 < t < 1.4]
    bar.set_ticks([np.log2(t) for t in stops], labels=[f"{t:g}×" for t in stops])
    bar.ax.minorticks_off()
    rule = "; ref.: the reference, in brackets: no claim is made" if width < _NARROW else ""
    common.title(
        figure,
        "Where which strategy pays: speed-up over baseline at the main size of each app",
        f"{common.origin(results.groups)}; {common.modes(results.groups)}"
        + (rule if in_column() else ""),
    )
    lines = max(label.count("\n") + 1 for label in labels)
    settle(figure, *[0.125 * lines * len(labels)] * 2)
    return figure


def _of_selection(selection: Selection) -> Figure:
    results = selection.one_mode()
    recorded = {name for p in results.files["provenance"] for name in p["sources"]}
    return heatmap(results, built_variants() | recorded)


register(
    FigureKind(
        "heatmap",
        "apps x strategies",
        _of_selection,
    )
)
