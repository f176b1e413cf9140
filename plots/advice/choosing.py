"""The page choosing.md: which strategy to try first, and what the record says of it."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from plots.data.load import Results, main_cache
from plots.data.strategies import APPS, STRATEGIES
from plots.errors import PlotsError
from plots.judge.gains import Gain, gains_of
from plots.markdown import MADE, table
from plots.units import claimed_ratio

_OTHERS = [s for s in STRATEGIES if s.name != "baseline"]
_MOST = 3  # cases that are named for and against a strategy

_INTRO = f"""\
# Choosing a strategy

{MADE} No number here was typed.

## In this order

1. **Is it movement that your kernel waits for?** Hold its time against what the GPU's bandwidths
   and rates allow ([methodology](methodology.md) says how the floors of the six apps are made).
   At its floor no way of moving data can gain anything.
2. **Give the plain copy what the others get.** Several loads on their way at once, the next tile
   held in registers, warps that do nothing but copy, two stages of shared memory: much of what is
   printed elsewhere as a gain of asynchronous copies was a baseline without these. Then choose
   the schedule (tile, threads, work per thread), since it can cost more than movement gains.
3. **Ask the twin of your kernel**: `python -m plots advise --tile 16KiB --intensity 8` and its
   other traits ([twin.md](twin.md)), measured on your GPU with `--measure` or from the record. It
   ranks all six with intervals.
4. **Only then port.** `overlap` asks for the least (Ampere and newer), `tma` for 16-byte
   alignment and rows that make boxes, `dsm` for something that neighbouring blocks have in
   common, `drop_off` for data that only one thread reads. A runner-up that is not distinguishable
   from the winner and is older runs on more GPUs.
"""


def gains_in_words(gains: list[Gain]) -> str:
    """ "5 of 8: 1.08 (0.97 to 1.21)": resolved overall speed-ups, their median and range; then the
    median of the gains of movement."""
    if not gains:
        return "–"
    ratios = [g.total.ratio for g in gains]
    faster = sum(g.total.claim == "faster" for g in gains)
    slower = sum(g.total.claim == "slower" for g in gains)
    against = f", {slower} slower" if slower else ""
    return (
        f"{faster} of {len(gains)}{against}: {median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}); "
        f"movement {median(g.by_movement.ratio for g in gains):.2f}"
    )


def for_and_against(gains: list[Gain], most: int) -> list[str]:
    """The lines of the cases in which a strategy gained most and lost most overall."""
    best = sorted(gains, key=lambda g: g.total.low, reverse=True)
    worst = sorted(gains, key=lambda g: g.total.high)
    won = [g for g in best if g.total.claim == "faster"]
    lost = [g for g in worst if g.total.claim == "slower"]
    return [*named_cases("Gained most", won[:most]), *named_cases("Lost most", lost[:most])]


def _case(gain: Gain) -> str:
    part = gain.total
    interval = claimed_ratio(part.ratio, part.low, part.high).replace("×", "", 1)
    return f"{gain.app} {gain.size_label}, {gain.launch}: {interval}, {gain.product()}"


def named_cases(title: str, gains: Iterable[Gain]) -> list[str]:
    """The lines of a list of cases under a title; "nowhere" in place of an empty one."""
    lines = [f"  - {_case(gain)}" for gain in gains]
    return [f"- {title}:", *lines] if lines else [f"- {title}: nowhere"]


def _left_out(results: Results, gains: list[Gain]) -> str:
    apps = sorted(set(results.groups["app"]) & set(APPS) - {g.app for g in gains})
    if not apps:
        return ""
    return f" Not told apart from the schedule in what is recorded of {' and '.join(apps)}."


def _of_gpu(results: Results, gpu: str) -> list[str]:
    mine = results.where(gpu=gpu)
    gains = [g for g in gains_of(mine) if g.cache == main_cache(mine.groups)]
    if not gains:
        return [
            f"## {results.heading(gpu)}",
            "Schedule and movement were not told apart in what is recorded.",
        ]
    parts = [
        f"## {results.heading(gpu)}",
        "Overall speed-up of each strategy, at its best, over baseline at its best, caches cold: "
        "in how many cases it was found faster, and the median and range, resolved or "
        "not. Behind it the median of what movement alone gains, with the same schedule on both "
        "sides. The baseline of every case is tuned by itself." + _left_out(mine, gains),
        table(
            ["app", *(s.name for s in _OTHERS)],
            [
                [app, *(gains_in_words([g for g in gains if (g.app, g.strategy) == (app, s.name)])
                        for s in _OTHERS)]
                for app in APPS
                if any(g.app == app for g in gains)
            ],
            texts=1 + len(_OTHERS),
        ),
    ]  # fmt: skip
    for strategy in _OTHERS:
        own = [g for g in gains if g.strategy == strategy.name]
        fell = [g for g in own if g.by_movement.claim == "faster" and g.total.claim == "slower"]
        lines = [
            f"- What: {strategy.moves}. Alignment: {strategy.alignment}. Needs {strategy.needs}.",
            *for_and_against(own, _MOST),
        ]
        if fell:
            lines.append(
                f"- Cases in which it gained by movement and lost overall: {len(fell)}. A schedule "
                "that suits baseline was faster there."
            )
        parts += [f"### {strategy.name}", "\n".join(lines)]
    return parts


def render(results: Results) -> str:
    """The page. Raises PlotsError when no comparison group is recorded."""
    if results.groups.empty:
        raise PlotsError("no comparison group is recorded, so nothing says what to choose")
    parts = [_INTRO.rstrip()]
    for gpu in results.gpus:
        parts += _of_gpu(results, gpu)
    parts.append(
        "What each row was made of, and all other cases: `python -m plots advise results --app "
        "NAME`, or the report."
    )
    return "\n\n".join(filter(None, [*parts, results.uncommitted])) + "\n"
