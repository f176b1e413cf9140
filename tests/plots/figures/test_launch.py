"""What stream against graph shows."""

from __future__ import annotations

import pytest
import synthetic
from drawn import bars

from plots.errors import PlotsError
from plots.figures.launch import launch, launch_costs


def test_launch_costs_pair_stream_and_graph(paper):
    costs = launch_costs(paper)
    assert set(costs["cache"]) == {"cold", "hot"}
    of = costs[(costs["app"] == "pathfinder") & (costs["role"] == "iso")]
    assert of["ratio"].to_numpy() == pytest.approx(1.25, rel=0.01) and of["resolved"].all()
    hotspot = costs[costs["app"] == "hotspot"]
    assert hotspot["ratio"].to_numpy() == pytest.approx(1.0, rel=0.01)
    assert not hotspot["resolved"].any()
    # 12 rows in 5 sizes and 2 cache modes, less the three that did not run at one.
    assert len(costs) == 12 * 5 * 2 - 3


def test_the_rows_of_a_panel_share_the_confidence(load_groups):
    """Nine rounds tell one row apart, not one of twelve."""
    for rows, resolved in ((1, True), (12, False)):
        groups = []
        for mode, ms in (("stream", 2.0), ("graph", 1.0)):
            group = synthetic.group("nw", {"n": 64}, ms, launch=mode, rounds=9)
            if rows == 1:
                group["rows"] = group["rows"][:1]
            groups.append(group)
        costs = launch_costs(load_groups(*groups))
        assert costs["resolved"].tolist() == [resolved] * rows


def test_launch_figure(paper):
    figure = launch(paper.where(cache="cold"))
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in shown][
        -1
    ] == "pathfinder, rows=1000 cols=1000000, cold"
    ax = shown[-1]
    assert len(bars(ax)) == 12 and ax.get_xlabel() == "time in a stream / time in a graph"
    filled = {t.get_text(): f for t, (*_, f) in zip(ax.get_yticklabels(), bars(ax), strict=True)}
    assert filled["tma iso"] and not filled["tma best"]
    with pytest.raises(PlotsError, match="both in a stream and in a graph"):
        launch(paper.where(launch="stream"))
