"""The one style of all figures: a fixed colour and marker per strategy; how figures are saved."""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib

matplotlib.use("Agg")  # files only: no display on a cluster node

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

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

_FONT = "DejaVu Sans"
RC = {
    "font.family": "sans-serif",
    "font.sans-serif": [_FONT],
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
        sizes = {name: text_size(RC[name]) for name in _SIZES}
        with plt.rc_context({**matplotlib.rcParamsDefault, **RC, **sizes, "backend": "agg"}):
            return draw(*args, **kwargs)

    return in_style


_column: ContextVar[float | None] = ContextVar("column", default=None)

LEAST_POINTS = 7  # of a text that is read in print
_IN_A_COLUMN = 0.8  # of a text's own size, but never below LEAST_POINTS
_NARROWEST = 7.6  # inches: in less every figure is laid out anew
_SIZES = ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize")


@contextlib.contextmanager
def column(width: float | None) -> Iterator[None]:
    """What is drawn meanwhile is drawn for a column of that many inches: fewer panels beside each
    other, lines wrapped, a greater height, and texts that can still be read. None: each figure in
    its own width."""
    token = _column.set(width)
    try:
        yield
    finally:
        _column.reset(token)


def drawn_at(draw: Callable[[], Figure], width: float | None) -> Figure:
    """What ``draw`` draws, ``width`` inches wide: laid out anew where that is narrower than its own
    width, enlarged in proportion where it is wider."""
    if width is None or width >= _NARROWEST:
        figure = draw()
        if width is None or figure.get_figwidth() <= width:
            _enlarge(figure, 1 if width is None else width / figure.get_figwidth())
            return figure
    with column(width):
        return draw()


def in_column() -> bool:
    """Whether a figure is drawn for a column, not in its own width."""
    return _column.get() is not None


def text_size(own: float) -> float:
    """The size of a text that has ``own`` points in a figure of its own width."""
    return max(own * (_IN_A_COLUMN if in_column() else 1), LEAST_POINTS)


def width_of(own: float) -> float:
    """The inches that a figure has which would take ``own``."""
    return min(own, _column.get() or own)


def beside(own: int, least: float) -> int:
    """How many panels stand beside each other: ``own`` as far as each gets ``least`` inches."""
    width = _column.get()
    return own if width is None else max(1, min(own, int(width / least)))


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches, or as wide as the column, outside pyplot's
    registry."""
    figure = Figure(figsize=(width_of(width), height), layout="constrained")
    FigureCanvasAgg(figure)  # which keeps what it measures texts with
    return figure


def settle(figure: Figure, *heights: float) -> None:
    """Makes a figure in a column as high as it takes for its rows of axes to have ``heights``
    inches, whatever stands around them."""
    if not in_column():
        return
    wanted = sum(heights)
    room = wanted + 4 + 1.5 * len(heights)  # with less, the layout is given up
    figure.set_size_inches(figure.get_figwidth(), room)
    figure.get_layout_engine().execute(figure)
    rows: dict[int, float] = {}
    for ax in figure.axes:
        place = ax.get_subplotspec()
        if place is not None and place.get_gridspec().nrows == len(heights):
            rows.setdefault(place.rowspan.start, ax.get_position().height * room)
    figure.set_size_inches(figure.get_figwidth(), wanted + room - sum(rows.values()))


@functools.lru_cache(maxsize=20_000)
def _inches(text: str, size: float) -> float:
    extent = text_to_path.get_text_width_height_descent(text, _properties(size), ismath=False)
    return extent[0] / 72


@functools.cache
def _properties(size: float) -> FontProperties:
    return FontProperties(family=_FONT, size=size)


def inches(text: str, size: float) -> float:
    """How wide the widest line of a text is at that many points."""
    return max(_inches(line, size) for line in text.split("\n"))


def wrapped(text: str, width: float, size: float) -> str:
    """The text in lines of at most ``width`` inches at that many points, broken between words, and
    where a word is too long alone, after a "_", "-" or "/" in it."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            fits = inches(word, size) <= width
            for i, part in enumerate([word] if fits else re.findall(r"[^-_/]*[-_/]|[^-_/]+", word)):
                longer = line + (" " if line and not i else "") + part
                if line and inches(longer, size) > width:
                    lines.append(line)
                    longer = part
                line = longer
        lines.append(line)
    return "\n".join(lines)


def legend_below(figure: Figure, handles: Sequence[Artist], **options: Any) -> None:
    """A legend below all axes, in as few lines as fit into the figure's width."""
    room = 0.97 * figure.get_figwidth()
    columns = _columns_of(handles, room, options)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, **options)


def legend_under(
    ax: Axes, width: float, title: str = "", below: float = 34, handles: Sequence[Artist] = ()
) -> None:
    """A legend of a panel ``width`` inches wide, so many points below its axes, where it hides
    nothing."""
    handles = handles or ax.get_legend_handles_labels()[0]
    own = {"columnspacing": 1.2, "handletextpad": 0.5}
    down = ScaledTranslation(0, -below / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, 0), title=title or None,
        bbox_transform=ax.transAxes + down, borderaxespad=0, borderpad=0,
        ncols=_columns_of(handles, width, own), **own,
    )  # fmt: skip


def _columns_of(handles: Sequence[Artist], room: float, options: Mapping[str, Any]) -> int:
    """Into how many columns these entries of a legend fit; of the entries that are wider than one
    the texts are wrapped."""
    size = options.get("fontsize", matplotlib.rcParams["legend.fontsize"])
    drawn = {
        name: options.get(name, matplotlib.rcParams[f"legend.{name}"])
        for name in ("handlelength", "handletextpad", "columnspacing", "borderpad")
    }
    em = size / 72
    before = (drawn["handlelength"] + drawn["handletextpad"]) * em
    room -= 2 * drawn["borderpad"] * em
    widths = np.array([before + inches(str(handle.get_label()), size) for handle in handles])
    for columns in range(len(handles), 1, -1):
        taken = sum(of.max() for of in np.array_split(widths, columns))
        if taken + (columns - 1) * drawn["columnspacing"] * em <= room:
            return columns
    for handle in handles:
        handle.set_label(wrapped(str(handle.get_label()), room - before, size))
    return 1


def _enlarge(figure: Figure, factor: float) -> None:
    """All of a figure in proportion, as for a poster."""
    if factor == 1:
        return
    figure.set_size_inches(*(figure.get_size_inches() * factor))
    for text in figure.findobj(Text):
        text.set_fontsize(text.get_fontsize() * factor)
    for line in figure.findobj(Line2D):
        line.set_markersize(line.get_markersize() * factor)
        line.set_linewidth(line.get_linewidth() * factor)


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


# In a page the text stays text: the page brings the font along, once for all (embedded_font).
_INLINE = {**RC, "svg.fonttype": "none"}


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
