"""What the tests read from a drawn figure or a page, and whether a figure can be read."""

import base64
import gzip
import itertools
import json
import re
import warnings
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox, BboxTransformTo


def carried_by(page):
    """The tables, samples and figures that a page carries, as its script sees them."""
    (packed,) = re.findall(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def table_rows(page, name):
    """The rows of a table that a report carries, each as column -> value."""
    table = carried_by(page)["tables"].get(name, {"columns": [], "values": []})
    names = [column[0] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*table["values"], strict=True)]


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def bars(ax):
    """(label, x, y, ends of the interval, filled) of every point with an interval."""
    found = []
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            line, _, (segments,) = container.lines
            filled = to_hex(line.get_markerfacecolor()) == to_hex(line.get_color())
            points = zip(*line.get_data(), segments.get_segments(), strict=True)
            found += [(container.get_label(), x, y, ends, filled) for x, y, ends in points]
    return found


def markers(ax):
    """label -> (x, y, filled) of every single marker."""
    return {
        line.get_label(): (
            float(line.get_xdata()[0]), float(line.get_ydata()[0]),
            to_hex(line.get_markerfacecolor()) == to_hex(line.get_color()),
        )
        for line in ax.lines
        if len(line.get_xdata()) == 1
    }  # fmt: skip


LEAST_POINTS = 7
LEAST_INCHES = 0.9  # of the sides of a panel
_TOUCHING = 0.7  # points that the boxes of two texts may share: they reach beyond what is inked


def faults_of(figure: Figure) -> list[str]:
    """What hinders reading: texts too small, cut off or on each other, legends on data, no room."""
    texts = _drawn(figure)
    return [
        *_small(texts),
        *_cut_off(figure, texts),
        *_overlapping(figure, texts),
        *_on_data(figure),
        *_without_room(figure),
    ]


def _drawn(figure: Figure) -> list[Text]:
    """The texts that are drawn, ticks' labels and legends' entries included, after the layout."""
    found: list[Text] = []
    draw = Text.draw

    def recorded(self: Text, renderer: object) -> None:
        if self.get_visible() and self.get_text().strip():
            found.append(self)
        draw(self, renderer)

    with patch.object(Text, "draw", recorded), warnings.catch_warnings():
        warnings.simplefilter("error")  # of a layout that was given up
        figure.draw_without_rendering()
    return list(dict.fromkeys(found))


def _small(texts: list[Text]) -> Iterator[str]:
    for text in texts:
        if text.get_fontsize() < LEAST_POINTS:
            yield f"{text.get_fontsize():.3g} points: {text.get_text()!r}"


def _cut_off(figure: Figure, texts: list[Text]) -> Iterator[str]:
    for text in texts:
        reach = text.get_window_extent()
        if reach.x0 < -1 or reach.y0 < -1 or reach.x1 > figure.bbox.x1 + 1 or (
            reach.y1 > figure.bbox.y1 + 1
        ):  # fmt: skip
            yield f"outside of the canvas: {text.get_text()!r}"


def _box(text: Text) -> Path:
    """The box around a text, turned as the text is, without what boxes may share."""
    angle = text.get_rotation() if text.get_rotation_mode() == "anchor" else 0
    if angle:
        text.set_rotation(0)
    reach = text.get_window_extent().padded(-_TOUCHING * text.figure.dpi / 72)
    box = Path.unit_rectangle().transformed(BboxTransformTo(reach))
    if not angle:
        return box
    text.set_rotation(angle)
    at = text.get_transform().transform(text.get_unitless_position())
    return box.transformed(Affine2D().rotate_deg_around(*at, angle))


def _overlapping(figure: Figure, texts: list[Text]) -> Iterator[str]:
    boxes = [_box(text) for text in texts]
    low = np.array([box.vertices.min(axis=0) for box in boxes])
    high = np.array([box.vertices.max(axis=0) for box in boxes])
    for i, text in enumerate(texts):
        near = (low[i] < high[i + 1 :]).all(axis=1) & (low[i + 1 :] < high[i]).all(axis=1)
        for j in i + 1 + np.flatnonzero(near):
            if boxes[i].intersects_path(boxes[j]):
                yield f"{text.get_text()!r} and {texts[j].get_text()!r} overlap"


def _legends(figure: Figure) -> Iterator[Legend]:
    yield from figure.legends
    for part in figure.subfigs:
        yield from part.legends
    for ax in figure.axes:
        if ax.get_legend() is not None:
            yield ax.get_legend()


def _marks(ax: Axes) -> Iterator[np.ndarray]:
    """Points on all that stands for data in the axes, in pixels."""
    for line in ax.lines:
        if line.get_transform() == ax.transData and len(line.get_xdata()):
            at = ax.transData.transform(np.column_stack(line.get_data()).astype(float))
            if line.get_linestyle() == "None" or len(at) == 1:
                yield at
            else:  # what lies between two points of a line, too
                steps = np.linspace(0, 1, 20)[:, None]
                yield np.concatenate([a + steps * (b - a) for a, b in itertools.pairwise(at)])
    for collection in ax.collections:
        for segment in getattr(collection, "get_segments", list)():  # bars of intervals
            yield ax.transData.transform(np.linspace(segment[0], segment[-1], 20))
    for patch_ in ax.patches:
        if patch_.get_transform().contains_branch(ax.transData):
            reach = patch_.get_window_extent()
            xs, ys = np.linspace(reach.x0, reach.x1, 20), np.linspace(reach.y0, reach.y1, 20)
            yield np.array(list(itertools.product(xs, ys)))


def _on_data(figure: Figure) -> Iterator[str]:
    for legend in _legends(figure):
        reach: Bbox = legend.get_window_extent()
        first = next((t.get_text() for t in legend.get_texts()), "")
        for ax in figure.axes:
            if any(reach.containsx(x) and reach.containsy(y) for m in _marks(ax) for x, y in m):
                yield f"the legend of {first!r} lies on data"


def _without_room(figure: Figure) -> Iterator[str]:
    for ax in figure.axes:
        if ax.get_visible() and not hasattr(ax, "_colorbar"):
            sides = ax.get_window_extent().size / figure.dpi
            if sides.min() < LEAST_INCHES:
                yield f"a panel of {sides[0]:.2g} x {sides[1]:.2g} inches"
