"""A page per strategy. What it is, what its machine code shows, what it costs and
when it won, the last two from the record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from plots import markdown
from plots.advice.advise import Advice, advise
from plots.advice.choosing import for_and_against, gains_in_words
from plots.data.load import Results, main_cache, main_launch, main_size
from plots.data.strategies import (
    APPS,
    BY_NAME,
    NAMES,
    ROOT,
    built_variants,
    code_lines,
    involved_lines,
)
from plots.errors import PlotsError
from plots.judge.gains import Gain, gains_of
from plots.markdown import MADE, plain

_TABLE = "docs/strategies.md"
STAGE_COST = "async_copy/stage_cost"
_MOST = 5  # cases that are named for and against a strategy

# What it is and what to look for in a kernel. No figure stands here: those come from the record.
_ABOUT = {
    "baseline": (
        "The way of every CUDA program before Ampere, and the reference of this suite. Each thread "
        "loads elements of the next tile from global memory into registers, stores them to shared "
        "memory, and the block meets at a barrier before it computes. What is on its way is held "
        "in registers, so a thread can ask for as much ahead as it has registers to spare. That "
        "is also its strength: nothing else has to be set up or waited for.",
        "It is tuned by itself: several loads at once, the next tile in registers during the "
        "computation, warps that do nothing but copy. Against a plain copy without these the "
        "other strategies would gain what is only a schedule.",
    ),
    "register_bypass": (
        "`cp.async` copies from global to shared memory without a register in between, and the "
        "block waits for the copies at once. It changes nothing but the way: there is no overlap "
        "with the computation. What it saves is registers and the store instructions.",
        "It can win where registers keep blocks off the SM, or where many small copies would "
        "occupy the load and store unit twice. It loses where the plain copy asks for more at a "
        "time, because a copy moves at most 16 bytes and an element that is not aligned to that "
        "moves 4 or 8.",
    ),
    "overlap": (
        "`cp.async` into a ring of at least two tiles in shared memory. While the block computes "
        "on the oldest, the next ones are on their way. Shared memory takes the place of registers "
        "as the room for what is in flight.",
        "It can win where a block computes long enough on a tile to hide the next one, and where "
        "shared memory for the further tiles does not cost resident blocks. It cannot gain where "
        "enough blocks are resident to hide the latency anyway.",
    ),
    "drop_off": (
        "Each thread owns a slot of shared memory and copies its own next element there ahead of "
        "its use. It waits for its own copies alone, so that between the arrival of data and its "
        "use there is no barrier of the block.",
        "It suits data that only one thread reads. Where neighbours read each other's elements, "
        "they have to be copied several times or a barrier comes back.",
    ),
    "tma": (
        "One elected thread asks the copy engine of Hopper for a whole tile, described by a tensor "
        "map or as a run of bytes; an `mbarrier` counts the bytes that have arrived. All other "
        "threads compute, and no address arithmetic, no register and no instruction is spent on "
        "single elements.",
        "It can win where instructions or registers bind, and where large tiles are in flight. It "
        "asks for 16-byte alignment of addresses, pitches and rows of a box, and starting a copy "
        "takes longer than a load does, so that small tiles lose.",
    ),
    "dsm": (
        "The blocks of a cluster run at the same time and reach each other's shared memory. What "
        "neighbours have in common is fetched once, or handed over from SM to SM: halos, "
        "boundaries of a wavefront, shared rows of a tile, bins.",
        "It can win where neighbouring blocks read the same data or wait for each other's results. "
        "It costs barriers of the cluster, and fewer blocks fit when a cluster has to be resident "
        "as a whole. Where neighbours share nothing it is `tma` with a wider barrier.",
    ),
}


def _machine_code(name: str, root: Path) -> list[str]:
    """The strategy's row of the table in docs/strategies.md."""
    titles = ("Data moves", "A thread waits for", "PTX that must appear", "PTX that must not",
              "Runs on")  # fmt: skip
    above: list[str] = []
    for line in (root / _TABLE).read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        first, *cells = [cell.strip() for cell in line.strip().removeprefix("|").split("|")[:-1]]
        cells = [above[i] if cell == "as above" else cell for i, cell in enumerate(cells)]
        above = cells
        if first.startswith(f"`{name}`"):
            return [f"- {t}: {cell or '–'}" for t, cell in zip(titles, cells, strict=True)]
    raise PlotsError(f"{_TABLE} has no row for {name}")


def _examples(name: str, root: Path) -> str:
    """Links to its variants, the shortest first."""
    of = [v for v in built_variants(root) if v.endswith(f"/{name}")]
    counted = sorted((code_lines(f"apps/{v}.cu", root) or 0, v) for v in of)
    links = [f"[{v}](../../apps/{v}.cu) ({lines} lines)" for lines, v in counted]
    return "Its variants, the shortest first: " + ", ".join(links) + "."


def _number(value: float, scale: float = 1) -> str:
    return f"{value / scale:.4g}" if np.isfinite(value) else "–"


def _costs(results: Results, strategy: str, root: Path) -> str:
    """What a variant takes beside baseline, both at their best at the app's main size."""
    lines = []
    for app in APPS:
        size = main_size(results.groups, app) if app in set(results.groups["app"]) else None
        rows = results.rows
        rows = rows[(rows["app"] == app) & (rows["size"] == size) & (rows["role"] == "best")]
        rows = rows[(rows["status"] == "ok") & (rows["repeat"] == 0)]
        rows = rows.drop_duplicates("strategy").set_index("strategy")

        def beside(column: str, scale: float = 1, rows: pd.DataFrame = rows) -> str:
            own, base = (
                _number(rows.loc[name, column], scale) if name in rows.index else "–"
                for name in (strategy, "baseline")
            )
            return own if strategy == "baseline" else f"{own} ({base})"

        sources = f"apps/{app}/{strategy}.cu", f"apps/{app}/baseline.cu"
        counts = [
            tuple(count(source, root) for source in sources)
            for count in (code_lines, involved_lines)
        ]
        lines.append(
            [
                app,
                beside("registers"),
                beside("shared_bytes", 1024),
                beside("blocks_per_sm"),
                *(str(a) if strategy == "baseline" else f"{a} ({b})" for a, b in counts),
            ]
        )
    heads = ["app", "registers per thread", "KiB of shared memory per block", "blocks per SM",
             "lines of its file", "lines of all files involved"]  # fmt: skip
    return markdown.table(heads, lines, texts=len(heads))


def _won(strategy: str, gains: list[Gain]) -> list[str]:
    """What it gained overall, by app, and the cases for and against."""
    own = [g for g in gains if g.strategy == strategy]
    if not own:
        return ["Schedule and movement were not told apart in what is recorded."]
    apps = [[app, gains_in_words([g for g in own if g.app == app])] for app in APPS
            if any(g.app == app for g in own)]  # fmt: skip
    return [
        markdown.table(["app", "found faster overall: median (range)"], apps, texts=2),
        "\n".join(for_and_against(own, _MOST)),
    ]


def _named_first(strategy: str, said: list[Advice]) -> str:
    """In how many cases the advice names it, of those with an answer."""
    answered = [a for a in said if a.outcome != "no comparison"]
    if strategy == "baseline":
        none = sum(a.strategy is None for a in answered)
        slower = sum(a.outcome == "baseline" for a in answered)
        return (
            f"In {none} of {len(answered)} cases the [advice](../choosing.md) names no strategy "
            f"before it; in {slower} of those every other one is slower."
        )
    first = [a for a in answered if a.strategy == strategy]
    alone = sum(not a.rivals for a in first)
    rival = sum(strategy in a.rivals for a in answered)
    return (
        f"The [advice](../choosing.md) names it first in {len(first)} of {len(answered)} cases, in "
        f"{alone} of them alone; in {rival} more it is not distinguishable from the one named."
    )


@dataclass(frozen=True)
class _Record:
    """What is recorded of a GPU, caches in the mode that single pictures show."""

    gpu: str
    cache: str
    main: Results  # in the launch mode of single pictures, too
    advice: list[Advice]
    gains: list[Gain]


def _records(results: Results) -> list[_Record]:
    """Raises PlotsError when no comparison group is recorded."""
    if results.groups.empty:
        raise PlotsError("no comparison group is recorded, so nothing says what a strategy costs")
    found = []
    for gpu in results.gpus:
        mine = results.where(gpu=gpu)
        if mine.groups.empty:
            continue
        cache = main_cache(mine.groups)
        main = mine.where(cache=cache, launch=main_launch(mine.groups))
        gains = [g for g in gains_of(mine) if g.cache == cache]
        found.append(_Record(gpu, cache, main, advise(mine.where(cache=cache)), gains))
    return found


def _of_gpu(record: _Record, strategy: str, root: Path) -> list[str]:
    beside = "" if strategy == "baseline" else "; that of baseline in parentheses"
    parts = [f"## {plain(record.main.heading(record.gpu))}"]
    if record.main.rows["registers"].notna().any():  # which a frozen record does not have
        parts += [
            "### What it costs",
            "Each variant with its fastest geometry at the main size of its app, caches "
            f"{record.cache}{beside}. Of a variant with several kernels the most registers and "
            "shared memory and the fewest blocks that any of them has, though another may take the "
            "time: lud's shared memory may be that of its diagonal kernel, hotspot's registers "
            "those of its longest pass. Lines that are neither blank nor comments; all files "
            "involved are those of the app and of `variants/` that the variant includes.",
            _costs(record.main, strategy, root),
        ]
    parts += [
        *_stage_cost(record.main.points, strategy),
        "### When it won here",
        _named_first(strategy, record.advice),
    ]
    if strategy != "baseline":
        parts += _won(strategy, record.gains)
    return parts


# The ways of async_copy/stage_cost that are a strategy's own: the next stage comes while this one
# is computed on. register_bypass waits at once, drop_off has slots of a thread's own and dsm sends
# to a cluster, none of which is measured there.
_STAGE_WAYS = {"baseline": "registers", "overlap": "cp_async", "tma": "bulk"}


def _stage_cost(points: pd.DataFrame, strategy: str) -> list[str]:
    """A sentence on what a stage costs those who compute; none where that is not recorded."""
    of_stages = points[(points["microbenchmark"] == STAGE_COST) & (points["status"] == "ok")]
    values = {
        (at["way"], at["warps"], at["bytes"]): float(value)
        for at, value in zip(of_stages["at"], of_stages["median"], strict=True)
        if at.get("producers", "0") in ("0", "1")
    }
    way = _STAGE_WAYS.get(strategy)
    costs = [
        sorted(
            value - values["none", warps, size]
            for (brought, warps, size), value in values.items()
            if brought == who and ("none", warps, size) in values
        )
        for who in (way, f"{way}_producer")
    ]
    if not all(costs):
        return []

    def span(of: list[float]) -> str:
        return " to ".join(dict.fromkeys(f"{value:.0f}" for value in (of[0], of[-1])))

    own, beside = costs
    kib = sorted(int(size) / 1024 for _, _, size in values)
    return [
        f"A stage of {span(kib)} KiB that comes this way makes a chain of dependent operations "
        f"{span(own)} cycles longer when the warps that compute see to it, and {span(beside)} when "
        f"a warp beside them does (`{STAGE_COST}`: nobody waits for a copy there)."
    ]


def _page(records: list[_Record], strategy: str, root: Path, note: str) -> str:
    of = BY_NAME[strategy]
    others = ", ".join(f"[{n}]({n}.md)" for n in NAMES if n != strategy)
    parts = [
        f"# {strategy}",
        f"{MADE} The other strategies: {others}; all in one table: [strategies](../strategies.md).",
        "## What it is",
        *_ABOUT[strategy],
        "## What its machine code shows",
        "\n".join(_machine_code(strategy, root)),
        f"Alignment: {of.alignment}. Needs {of.needs} to be what it is.",
        _examples(strategy, root),
    ]
    for record in records:
        parts += _of_gpu(record, strategy, root)
    return "\n\n".join(filter(None, [*parts, note])) + "\n"


def pages(results: Results, root: Path = ROOT) -> dict[str, str]:
    """File name -> page, of all strategies. Raises PlotsError when no comparison group is
    recorded."""
    records = _records(results)
    return {f"{name}.md": _page(records, name, root, results.uncommitted) for name in NAMES}
