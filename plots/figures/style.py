"""The one style of all figures: a fixed colour and marker per strategy; how figures are saved."""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib

matplotlib.use("Agg")  # files only: no display on a cluster node

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

# Okabe & Ito 2008, distinguishable for colour-blind readers; black is the reference, grey a
# comparator.
COLOURS = {
    "baseline": "#000000",
    "register_bypass": "#E69F00",
    "overlap": "#0072B2",
    "drop_off": "#009E73",
    "tma": "#D55E00",
    "dsm": "#CC79A7",
}
# A second cue, for print in grey.
MARKERS = {
    "baseline": "o",
    "register_bypass": "s",
    "overlap": "D",
    "drop_off": "^",
    "tma": "v",
    "dsm": "P",
}
COMPARATOR_COLOUR = "#777777"
COMPARATOR_MARKER = "*"
NOISE_COLOUR = "#D9D9D9"
ALARM_COLOUR = "#B00020"

WIDTH = 7.1  # inches of a figure: both columns of a two-column page
NARROW = 3.45  # one column, and a phone
LEAST_POINTS = 7  # of a text that is read in print
_EM = 0.6  # of a letter, on average, in em: rather too wide

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "hatch.linewidth": 0.6,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.fonttype": "path",  # looks the same where the font is missing
    "svg.hashsalt": "amasia",  # same data, same file
}


def colour(strategy: str) -> str:
    """The colour of a strategy; one grey for every comparator."""
    return COLOURS.get(strategy, COMPARATOR_COLOUR)


def marker(strategy: str) -> str:
    """The marker of a strategy; one for every comparator."""
    return MARKERS.get(strategy, COMPARATOR_MARKER)


_P = ParamSpec("_P")


def styled(draw: Callable[_P, Figure]) -> Callable[_P, Figure]:
    """Draws in the suite's style, whatever the user's matplotlib settings are."""

    @functools.wraps(draw)
    def in_style(*args: _P.args, **kwargs: _P.kwargs) -> Figure:
        with plt.rc_context({**matplotlib.rcParamsDefault, **RC, "backend": "agg"}):
            return draw(*args, **kwargs)

    return in_style


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure, so many inches high, outside pyplot's registry."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # which keeps what it measures texts with
    return figure


def wrapped(text: str, inches: float, points: float) -> str:
    """The text in lines of about so many inches; a name is broken after "_" where it must be."""
    most = max(4, int(inches * 72 / (_EM * points)))
    lines: list[str] = []
    for part in text.split("\n"):
        broken = part if len(part) <= most else part.replace("_", "_ ")
        lines += textwrap.wrap(broken, most, break_long_words=False) or [""]
    return "\n".join(lines).replace("_ ", "_")


def widest(text: str, points: float) -> float:
    """About how many inches its longest line takes."""
    return max(map(len, text.split("\n"))) * _EM * points / 72


def title(figure: Figure, heading: str, source: str) -> None:
    """Heading and, below it, where and when the data were measured."""
    size, inches = 9, 0.97 * 1.08 * figure.get_figwidth()
    lines = "\n".join(wrapped(text, inches, size) for text in (heading, source))
    figure.suptitle(lines, x=0.012, ha="left", fontsize=size, linespacing=1.4)


def legend_below(figure: Figure, handles: Sequence[Artist], **options: Any) -> None:
    """A legend below all axes, in as few lines as fit into the figure's width."""
    columns = _columns(handles, figure.get_figwidth())
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, **options)


def legend_under(ax: Axes, width: float, below: float = 34) -> None:
    """A legend of a panel ``width`` inches wide, so many points below its axes, where it hides
    nothing."""
    handles = ax.get_legend_handles_labels()[0]
    down = ScaledTranslation(0, -below / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=0, borderpad=0,
        bbox_transform=ax.transAxes + down, ncols=_columns(handles, width),
    )  # fmt: skip


def _columns(handles: Sequence[Artist], width: float) -> int:
    """Into how many columns these entries of a legend fit."""
    longest = max((len(str(handle.get_label())) for handle in handles), default=1)
    entry = (3.7 + _EM * 0.93 * longest) * RC["legend.fontsize"] / 72
    return max(1, min(len(handles), int(width / entry)))


def save(figure: Figure, path: Path, description: str = "") -> None:
    """Writes SVG, PNG or PDF by the suffix of ``path``; SVG and PNG carry ``description``."""
    suffix = path.suffix.lower()
    metadata: dict[str, str | None] = {}
    if suffix == ".svg":
        metadata = {"Date": None, "Description": description or None}
        canvas: type[FigureCanvasBase] = FigureCanvasSVG
    elif suffix == ".pdf":
        # Here, because it takes a fifth of a second to import.
        from matplotlib.backends.backend_pdf import FigureCanvasPdf

        metadata, canvas = {"CreationDate": None}, FigureCanvasPdf
    else:
        metadata = {"Software": None, "Description": description or None}
        canvas = FigureCanvasAgg
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(RC):
        figure.dpi = RC["savefig.dpi"]
        # Not savefig, which draws everything a first time only to find the layout.
        getattr(canvas(figure), f"print_{suffix[1:]}")(path, metadata=metadata)


def svg(figure: Figure) -> str:
    """The figure as an SVG image of its own, for a page. Its text stays text, a third of the
    size of outlines; where the font is missing, another of the same width is taken."""
    stream = io.StringIO()
    with plt.rc_context({**RC, "svg.fonttype": "none"}):
        figure.dpi = RC["savefig.dpi"]  # of what is drawn as an image
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]
