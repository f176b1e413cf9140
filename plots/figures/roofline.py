"""Every variant on the roofline: operations a second against operations per byte, and the roofs."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from plots.data.load import SHOWN_ROLES, Results, main_size, sizes_of, strategy_order
from plots.figures import FigureKind, common, register, style

_SLOPES = {
    "copy_bandwidth": "device memory, copy",
    "l2_read_bandwidth": "L2, read",
    "shared_bandwidth": "shared memory",
}
_LEVELS = {
    "fp32_rate": "fp32",
    "int32_rate": "int32",
    "tf32_rate": "tf32",
    "bf16_rate": "bf16",
    "e4m3_rate": "e4m3",
}
_SPREAD = 0.036  # decades between two strategies of a column
_APART = 2.35  # factor between columns, at least


def columns(groups: pd.DataFrame) -> pd.DataFrame:
    """The groups that stand for the apps, by rising intensity: the main size of each, and of an app
    with several modes of arithmetic (parameter ``mode``) one size of each. Adds ``label``,
    ``intensity`` in operations per compulsory byte, and ``at``, where the column is drawn: its
    intensity, unless columns would overlap."""
    chosen: dict[str, pd.Series] = {}
    for app in sorted(set(groups["app"])):
        of_app = groups[groups["app"] == app].drop_duplicates("size").set_index("size")
        main = main_size(groups, app)
        for size in [main, *(s for s in reversed(sizes_of(groups, app)) if s != main)]:
            mode = of_app.loc[size, "parameters"].get("mode")
            label = f"{app}\n{mode}" if mode else app
            if label not in chosen and (mode or size == main):
                chosen[label] = groups[(groups["app"] == app) & (groups["size"] == size)].iloc[0]
    found = pd.DataFrame(chosen.values()).assign(label=list(chosen))
    found["intensity"] = found["operations"] / found["bytes"]
    found = found.sort_values(["intensity", "operations"]).reset_index(drop=True)
    at = np.log(found["intensity"].to_numpy(dtype=float))
    gap = math.log(_APART)
    for _ in range(200):  # push neighbours apart until none overlap
        short = gap - np.diff(at)
        if (short < 1e-6).all():
            break
        push = np.clip(short, 0, None) / 2
        at[:-1] -= push
        at[1:] += push
    return found.assign(at=np.exp(at))


def _intensity(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _roofs(ax: Axes, ceilings: pd.Series, low: float, high: float) -> list[Text]:
    """Slopes of the bandwidths and levels of the rates over the intensities from low to high;
    returns the labels of the slopes."""
    levels = {n: ceilings[n] for n in _LEVELS if n in ceilings}
    slopes = {n: ceilings[n] for n in _SLOPES if n in ceilings}
    top = max(levels.values(), default=ax.get_ylim()[1])
    labels = []
    for name, bandwidth in slopes.items():
        end = min(high, top / bandwidth)
        ax.plot([low, end], [bandwidth * low, bandwidth * end], color="#999999", linewidth=1)
        label = ax.annotate(
            f"{_SLOPES[name]} {bandwidth / 1e3:.3g} TB/s  ", (end, bandwidth * end),
            rotation_mode="anchor", ha="right", va="bottom", fontsize=7, color="#555555",
        )  # fmt: skip
        labels.append(label)
    for name, rate in levels.items():
        start = max(low, rate / max(slopes.values(), default=math.inf))
        ax.plot([start, high], [rate, rate], color="#999999", linewidth=1)
        ax.annotate(
            f"{_LEVELS[name]} {_intensity(rate / 1e3)} T/s", (1, rate),
            xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=7, color="#555555", annotation_clip=False,
        )  # fmt: skip
    return labels


def _column(ax: Axes, column: pd.Series, rows: pd.DataFrame, raised: bool) -> None:
    """One app: a marker per variant, iso hollow, and a bar at what the floor allows. Its label
    stands above those of the columns beside it (``raised``) or below."""
    names = strategy_order(rows["strategy"])
    for i, strategy in enumerate(names):
        x = column["at"] * 10 ** ((i - (len(names) - 1) / 2) * _SPREAD)
        of_strategy = rows[rows["strategy"] == strategy].set_index("role")["gflops"]
        ends = [of_strategy[r] for r in ("iso", "best") if r in of_strategy.index]
        if len(ends) == 2:
            ax.plot([x, x], ends, color=style.colour(strategy), linewidth=0.7, alpha=0.5, zorder=2)
        for role, rate in of_strategy.items():
            ax.plot(
                [x], [rate], linestyle="none", marker=style.marker(strategy),
                color=style.colour(strategy),
                markerfacecolor="white" if role == "iso" else style.colour(strategy),
                markersize=4.5, zorder=3,
                label=f"{column['label']} {strategy} {role}",
            )  # fmt: skip
    half = 10 ** (_SPREAD * (len(names) / 2 + 0.3))
    reach = [column["at"] / half, column["at"] * half]
    if column["floor_ms"] > 0:  # neither unknown nor nothing to do
        allowed = column["operations"] / column["floor_ms"] / 1e6
        ax.plot(
            reach, [allowed] * 2, color="#444444", linewidth=2, zorder=2.5,
            label=f"{column['label']} floor",
        )  # fmt: skip
    ax.axvspan(*reach, color="#F3F3F3", zorder=0)
    label = f"{column['label']}\n{_intensity(column['intensity'])}"
    ax.annotate(
        label, (column["at"], 0),
        xycoords=("data", "axes fraction"), xytext=(0, 24 if raised else 3),
        textcoords="offset points", ha="center", va="bottom", fontsize=7,
    )  # fmt: skip


@style.styled
def roofline(results: Results) -> Figure:
    """All variants of one GPU, cache and launch mode, at the main size of each app and mode of
    arithmetic: operations per second against operations per compulsory byte, under the measured
    bandwidths and rates. Raises PlotsError without times."""
    timed = results.rows[
        results.rows["gflops"].notna()
        & (results.rows["repeat"] == 0)
        & results.rows["role"].isin(SHOWN_ROLES)
    ]
    groups = results.groups[
        results.groups["group"].isin(timed["group"])
        & (results.groups["operations"] > 0)
        & (results.groups["bytes"] > 0)
    ]
    common.need(groups, "times of variants")
    shown = columns(groups)
    figure = style.new_figure(4.8)
    ax = figure.subplots()
    ax.set_xscale("log")
    ax.set_yscale("log")
    rates = timed[timed["group"].isin(shown["group"])]["gflops"]
    ceilings = results.ceilings.drop_duplicates("name", keep="last").set_index("name")["value"]
    ceilings = ceilings[ceilings > 0]
    levels = [ceilings[n] for n in _LEVELS if n in ceilings]
    low, high = shown["at"].min() / 2.5, shown["at"].max() * 2.5
    if levels and "copy_bandwidth" in ceilings:  # the bend is part of the picture
        high = max(high, 1.5 * max(levels) / ceilings["copy_bandwidth"])
    # A decade and a half below for the labels of the columns.
    ax.set_ylim(rates.min() / 30, 2 * max([rates.max(), *levels]))
    ax.set_xlim(low, high)
    along = _roofs(ax, ceilings, low, high)
    for i, (_, column) in enumerate(shown.iterrows()):
        _column(ax, column, timed[timed["group"] == column["group"]], i % 2 == 1)
    ax.set_xlabel("operations per compulsory byte")
    ax.set_ylabel("operations per second, 10⁹")
    style.title(
        figure,
        "Every variant on the roofline",
        f"{common.origin(shown)}; {common.modes(shown)}",
    )
    handles = common.strategy_handles(strategy_order(timed["strategy"]))
    bar = Line2D([], [], color="#444444", linewidth=2, label="what the floor allows")
    style.legend_below(figure, [*handles, common.hollow_handle("hollow: iso"), bar])
    # A slope of one is at 45 degrees only in a square: ask the finished layout.
    figure.get_layout_engine().execute(figure)
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1e3), (10, 1e4)])
    for text in along:
        text.set_rotation(math.degrees(math.atan2(y1 - y0, x1 - x0)))
    return figure


register(
    FigureKind(
        "roofline",
        "all variants under the measured ceilings",
        lambda selection: roofline(selection.one_mode()),
        order=6,
    )
)
