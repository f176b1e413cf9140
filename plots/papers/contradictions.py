"""Claims of the source documents that the results contradict, a paragraph each, with the experiment
that would decide. A paragraph is written only while the figures contradict the claim."""

from __future__ import annotations

from collections.abc import Sequence

from plots.data.recorded import Recorded
from plots.papers.derived import own_value
from plots.papers.published import comparisons, published_row, row_of


def _value(files: Sequence[Recorded], selector: str) -> float | None:
    own, _ = own_value(files, selector)
    return None if own is None else own.value


def _stated(name: str, column: str) -> float:
    return float(published_row("s003_text_speedups", f"id={name}", name)[column])


def _hotspot(files: Sequence[Recorded]) -> str:
    """003-16: Overlap gains in the paper."""
    size = "rows=8192;cols=8192;steps=5;cache=cold"
    cell = f"iso {size};launch=stream"
    overlap = _value(files, f"speedup hotspot/overlap {cell}")
    bypass = _value(files, f"speedup hotspot/register_bypass {cell}")
    walking = f"cross {size};launch=graph;schedule=iso-walk"
    walks = _value(files, f"speedup hotspot/overlap {walking}")
    low, high = (_stated("app_hotspot_overlap", f"value_{end}") for end in ("low", "high"))
    if overlap is None or bypass is None or overlap >= low:
        return ""
    walked = (
        f" With blocks that walk tiles, as Algorithm 2 needs to have a next tile, it is "
        f"{walks:.2f}."
        if walks is not None
        else ""
    )
    cause = (
        f"Register Bypass, which waits for the same copies at once, has {bypass:.2f}, so that "
        + (
            "hiding them gains nothing."
            if abs(overlap - bypass) <= 0.02
            else f"hiding them {'gains' if overlap > bypass else 'loses'} "
            f"{100 * abs(overlap / bypass - 1):.0f} %."
        )
    )
    return (
        f"003-16, hotspot with Overlap: the paper gains {low:g} to {high:g} on an A100 "
        "(8192 x 8192, "
        f"5 steps). Here Overlap runs at {overlap:.2f} of baseline's speed in the original's "
        f"geometry.{walked} {cause} What decides: `amasia cross "
        "hotspot --size "
        "rows=8192,cols=8192,steps=5` on an A100. If Overlap gains nothing there either, the "
        "paper's baseline was slower than ours; if it does, plain loads have become faster between "
        "the two GPUs."
    )


def _in_flight(files: Sequence[Recorded]) -> str:
    """What the smallest tile leaves plain loads, where the results say what is needed."""
    tile = 512
    row = row_of(files, f"point async_copy/working_size bandwidth mechanism=plain;tile={tile}")
    needed = _value(
        files, "finding memory/in_flight bytes in flight at 95 % of the bandwidth|level=memory"
    )
    most = _value(files, "point launch/occupancy resident limit=blocks")
    if row is None or needed is None or most is None or most * tile >= needed:
        return ""
    return (
        f"A block of {row['at']['threads']} threads loads the smallest tile, and an SM holds at "
        f"most {most:.0f} blocks: plain has {most * tile:,.0f} bytes in flight there, of "
        f"{needed:,.0f} that the bandwidth needs, and copies ahead can add some. "
    )


def _barrier(files: Sequence[Recorded]) -> str:
    """003-13: barriers gain at large working sizes only."""
    ratios: dict[int, float] = {}
    of_row = [c for c in comparisons() if c.id == "003-13"]
    for c in of_row:
        ratio = _value(files, c.own)
        if ratio is None:
            return ""
        ratios[int(c.label.split()[-2])] = ratio
    threshold, slack = _stated("ub_barrier_minset", "value_low"), 1 + of_row[0].tolerance / 100
    small = {n: r for n, r in ratios.items() if n <= threshold}
    large = {n: r for n, r in ratios.items() if n > threshold}
    best_small, best_large = max(small, key=small.__getitem__), max(large, key=large.__getitem__)
    losing = [n for n, r in large.items() if r < 1 / slack]
    if ratios[best_small] <= slack and not losing:
        return ""
    lost = f", and it loses at {', '.join(f'{n:,}' for n in losing)}" if losing else ""
    return (
        f"003-13, barriers against the working size: in the paper they gain above {threshold:g} "
        "(unit not printed, taken as elements) and not below. Here the most at or below it is "
        f"{ratios[best_small]:.3f} ({best_small:,} elements); above it the most is "
        f"{ratios[best_large]:.3f} ({best_large:,} elements){lost}, at 0.25 operations per byte. "
        f"{_in_flight(files)}"
        "What decides: the same sweep with the bytes in flight of plain held equal (more blocks or "
        "more bytes per thread at small tiles), and `amasia run async_copy/working_size --preset "
        "paper` on an A100."
    )


def _additions(files: Sequence[Recorded]) -> str:
    """What random additions to another block's memory reach beside those to the own."""
    point = "point dsm/atomics rate form=red;pattern=random"
    own = _value(files, f"{point};window=cta;cluster=1")
    remote = _value(files, f"{point};window=cluster;cluster=2")
    if own is None or remote is None:
        return ""
    return f" ({remote:.2f} per clock and SM at random words, {own:.2f} in the own)"


def _histogram(files: Sequence[Recorded]) -> str:
    """000-42: a cluster's distributed bins are fastest."""
    best = {
        threads: _value(files, f"finding dsm/histogram optimum copies=block;threads={threads}")
        for threads in (128, 512)
    }
    stated = {c.label: c.low for c in comparisons() if c.id == "000-42"}
    if None in best.values() or all(b > 1 for b in best.values() if b is not None):
        return ""

    def rate(cluster: int, bins: int, copies: str = "block") -> float | None:
        at = f"cluster={cluster};threads=512;bins={bins};copies={copies}"
        return _value(files, f"point dsm/histogram rate {at}")

    own, spread = rate(1, 2048), rate(2, 2048)
    fewer, more = rate(1, 1024, "warp"), rate(1, 2048, "warp")
    if own is None or spread is None or fewer is None or more is None:
        return ""
    drop = (
        f"The paper's cause is seen: with bins for each warp, as in the program that it "
        "changed, one "
        f"block falls from {fewer:.0f} to {more:.0f} from 1024 to 2048 bins. "
        if more < 0.9 * fewer
        else f"The paper's cause is not seen either ({fewer:.0f} and {more:.0f} at 1024 and 2048 "
        "bins with bins for each warp). "
    )
    sizes = " and ".join(f"{v:.0f}" for v in stated.values())
    return (
        f"000-42, histogram with bins spread over a cluster: the paper's best cluster sizes are "
        f"{sizes}, at 128 and 512 threads. Here one block with its own bins is fastest at both, "
        f"{own:.0f} against {spread:.0f} Gkeys/s with two blocks (2048 bins, 512 threads). {drop}"
        f"It does not bring one block down to what additions in another block's memory "
        f"allow{_additions(files)}. What decides: the paper's own program on this GPU beside "
        "dsm/histogram. If its rate with one block is below the rate of two blocks here, then its "
        "gain is over a kernel that something else limits (each of its threads loads one "
        "element at "
        "a time); if not, the two GPUs differ, and `amasia run dsm/histogram --preset paper` on an "
        "H800 says so."
    )


def contradictions(files: Sequence[Recorded]) -> list[str]:
    """One paragraph for each claim that these results, of one GPU, contradict."""
    return [text for claim in (_hotspot, _barrier, _histogram) if (text := claim(files))]
