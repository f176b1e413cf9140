"""The one style of all figures: a fixed colour and marker per strategy; how figures are saved."""

from __future__ import annotations

import base64
import functools
import io
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

import matplotlib

matplotlib.use("Agg")  # files only: no display on a cluster node

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

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


def legend_below(figure: Figure, handles: Sequence[Artist], **options: Any) -> None:
    """A legend below all axes, in as few lines as fit into the figure's width."""
    for columns in range(max(len(handles), 1), 0, -1):
        legend = figure.legend(
            handles=handles, loc="outside lower center", ncols=columns, **options
        )
        if columns == 1 or legend.get_window_extent().width <= 0.98 * figure.bbox.width:
            _below[figure] = (tuple(handles), options)
            return
        legend.remove()


# What a legend below a figure was made of: it cannot be laid out anew otherwise.
_below: WeakKeyDictionary[Figure, tuple[tuple[Artist, ...], dict[str, Any]]] = WeakKeyDictionary()


LEAST_POINTS = 6  # a text that is read in print


def fit(figure: Figure, width: float) -> None:
    """Makes a figure ``width`` inches wide, as a column of a paper is: all of it in proportion, but
    no text smaller than can be read."""
    factor = width / figure.get_figwidth()
    figure.set_size_inches(width, figure.get_figheight() * factor)
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize() * factor, LEAST_POINTS))
    for line in figure.findobj(Line2D):
        line.set_markersize(line.get_markersize() * factor)
        line.set_linewidth(line.get_linewidth() * factor)
    if figure in _below:
        handles, options = _below[figure]
        for legend in list(figure.legends):
            legend.remove()
        size = max(RC["legend.fontsize"] * factor, LEAST_POINTS)
        with plt.rc_context(RC):
            legend_below(figure, handles, **{**options, "fontsize": size})


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


# In a page the text stays text: the page brings the font along, once for all (embedded_font).
_INLINE = {**RC, "svg.fonttype": "none"}
_FONT = "DejaVu Sans"


@functools.cache
def _measuring_renderer() -> RendererSVG:
    """What texts are measured with while a figure is laid out; it remembers what it has measured,
    which of "10³" takes ten milliseconds."""
    return RendererSVG(1, 1, io.StringIO())


class _Canvas(FigureCanvasSVG):
    """Lays every figure out with one renderer, where matplotlib makes one for each."""

    def get_renderer(self) -> RendererSVG:
        return _measuring_renderer()


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """The figure as an <svg> element to stand in HTML: ids made unique by ``name``, no header,
    scaled to the width of the page, ``label`` for screen readers. Its text needs the font that
    embedded_font() puts into the page."""
    stream = io.StringIO()
    with plt.rc_context(_INLINE):
        figure.dpi = RC["savefig.dpi"]  # of what is drawn as an image
        # Not savefig, which draws everything a first time only to find the layout.
        _Canvas(figure).print_svg(stream, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = text.replace(f"; font-family: '{_FONT}', sans-serif", "")
    text = re.sub(r"\n\s*", "\n", text)
    text = _with_short_ids(text, name)
    width = float(re.search(r'viewBox="0 0 ([0-9.]+) ', text).group(1))
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" ?',
        lambda found: (
            f'<svg role="img" aria-label="{escaped}" style="max-width:{width:.0f}pt" {found[1]}'
        ),
        re.sub(r'(<svg [^>]*?)height="[^"]*" ?', r"\1", text, count=1),
        count=1,
    )


def _with_short_ids(text: str, name: str) -> str:
    """Ids that something refers to as ``name``-1, ``name``-2, ...; no others."""
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    short = {old: f"{name}-{i}" for i, old in enumerate(used, 1)}
    text = re.sub(r'\bhref="#([^"]+)', lambda found: f'href="#{short[found[1]]}', text)
    text = re.sub(r"url\(#([^)]+)", lambda found: f"url(#{short[found[1]]}", text)

    def defined(found: re.Match[str]) -> str:
        return f' id="{short[found[1]]}"' if found[1] in short else ""

    return re.sub(r' id="([^"]*)"', defined, text)


def embedded_font(pages: Iterable[str]) -> str:
    """CSS that brings along the font of inline figures: the characters of ``pages``, no others."""
    # Here, because only a page needs it and it takes a third of a second to import.
    from fontTools import subset
    from fontTools.ttLib import TTFont

    characters = sorted(set(itertools.chain.from_iterable(pages)))
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    options = subset.Options(flavor="woff", layout_features=["kern"], notdef_outline=True)
    options.drop_tables += ["FFTM", "GPOS"]
    with TTFont(path, lazy=True, recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(characters))
        subsetter.subset(font)
        font.flavor = "woff"
        stream = io.BytesIO()
        font.save(stream)
    encoded = base64.b64encode(stream.getvalue()).decode()
    return (
        f"@font-face {{ font-family: '{_FONT}'; src: url(data:font/woff;base64,{encoded}); }}\n"
        f"figure svg text {{ font-family: '{_FONT}', sans-serif; }}"
    )
