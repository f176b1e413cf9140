"""The one style of all figures: a fixed colour and marker per strategy; how figures are saved."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import matplotlib

matplotlib.use("Agg")  # files only: no display on a cluster node

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

# Okabe & Ito 2008, told apart by colour-blind readers; black is the reference, grey a comparator.
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

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
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


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches, outside pyplot's registry."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path, description: str = "") -> None:
    """Writes SVG, PNG or PDF by the suffix of ``path``; an SVG carries ``description``."""
    suffix = path.suffix.lower()
    metadata: dict[str, str | None] = {}
    if suffix == ".svg":
        metadata = {"Date": None, "Description": description or None}
    elif suffix == ".pdf":
        metadata = {"CreationDate": None}
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(RC):
        figure.savefig(path, metadata=metadata)


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """The figure as an <svg> element to stand in HTML: ids made unique by ``name``, no header,
    scaled to the width of the page, ``label`` for screen readers."""
    stream = io.StringIO()
    with plt.rc_context(RC):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = text.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    width = float(re.search(r'viewBox="0 0 ([0-9.]+) ', text).group(1))
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" ?',
        rf'<svg role="img" aria-label="{escaped}" style="max-width:{width:.0f}pt" \1',
        re.sub(r'(<svg [^>]*?)height="[^"]*" ?', r"\1", text, count=1),
        count=1,
    )
