"""What the tests read from a drawn figure, and from a page with figures in it."""

from __future__ import annotations

from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer

from plots.report.embedded import carried_by


def table_rows(page, name):
    """The rows of a table that a report carries, each as column -> value."""
    table = carried_by(page)["tables"].get(name, {"columns": [], "values": []})
    names = [column[0] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in zip(*table["values"], strict=True)]


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def heading(figure):
    return figure.get_suptitle()


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
