"""generations.md: what hardware gains from one GPU to the next, and what software gains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plots.data.load import Results, main_cache, main_launch, strategy_order
from plots.data.sessions import TENSOR_KINDS
from plots.data.strategies import APPS, NAMES
from plots.figures import common
from plots.figures.styles import PICTURE
from plots.markdown import MADE, plain, table, wrapped
from plots.papers import expect, specifications, styles
from plots.papers.generations import Step, pairs_of, steps
from plots.papers.styles import AMPERE, HOPPER, QUESTIONS, WIDEST, Case, StyleGain, Summary, summary
from plots.statistics.intervals import geometric_mean
from plots.units import claimed_ratio, times


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [table(head, lines, texts=len(head)), ""]


_HEAD = f"""# Generations: what hardware gains, and what software

{MADE} `python -m plots compare OLD NEW` compares others, row by row.
"""

_STYLES = f"""
A new GPU makes old code faster, and it brings new ways of moving data that old code does not use.
On one chip the second can be seen without the first: *Volta's style* is `baseline`, *Ampere's* the
best of {", ".join(f"`{s}`" for s in AMPERE)}, which came with `cp.async`,
*Hopper's* the best of all, {" and ".join(f"`{s}`" for s in HOPPER)} among them. Each strategy runs
at its own best, as the tuner found it.
"""

_INTERVALS = """
Brackets hold the next run, on another GPU of the model, where sessions tell how far the app's rows
move between runs ([between-runs.md](between-runs.md)), and else this run; *one run* says so. The
best of several is named after it was measured: its interval is made of intervals that hold for all
of them together, so that it holds whichever is the best. A gain is called resolved by the procedure
of Benjamini and Hochberg over all cases and columns of the GPU, at a rate of 5 %. Where
rounds or GPUs are too few for so many comparisons, the page says so in place of an interval.
"""

_MOVEMENT = """
*Movement* counts no strategy for more than it gains with `baseline` at the same schedule, so that a
better schedule is nobody's gain of movement; – says that the recorded rows of the app do not tell
the two apart, or that `baseline` has no time with the schedule of a strategy that may be the best.
"""

_OF_THE_PAPER = """
Svedin et al. (2021, arXiv 2106.04979) expect of a new GPU at least the smaller of two ratios, that
of the FLOP rates and that of the bandwidths, and find that the A100 delivers less than that over
the V100. `python -m plots expect` prints the analysis with every value that they quote and with the
data sheets (`inputs/specifications/gpus.csv`), `--out` draws it, and `python -m plots figure
balance` draws their Fig. 1.
"""


def _ratio(ratio: float, low: float, high: float, resolved: bool) -> str:
    if high > WIDEST * low:
        if resolved:  # by the end that is known
            return times(ratio) + (f", at least {low:.2f}" if low > 1 else f", at most {high:.2f}")
        return f"{times(ratio)}, too few rounds or GPUs to tell"
    return claimed_ratio(ratio, low, high) + ("" if resolved else ", not resolved")


def _gain(gain: StyleGain | None) -> str:
    if gain is None:
        return "–"
    text = f"`{gain.winner}` {_ratio(gain.ratio, gain.low, gain.high, gain.resolved)}"
    return text + (", one run" if gain.knows == "one run" else "")


def _counted(of: Summary | None, cases: int) -> str:
    if of is None:
        return "–"
    parts = [f"{of.faster} faster"]
    parts += [f"{of.slower} slower"] if of.slower else []
    parts += [f"{of.undecided} not resolved"] if of.undecided else []
    parts += [f"{cases - of.n} not known"] if cases > of.n else []
    return f"{times(of.mean)} ({of.least:.2f} to {of.most:.2f}): {', '.join(parts)}"


_TENSOR = " on tensor cores"


def _labels(cases: Sequence[Case], results: Results) -> dict[str, list[Case]]:
    """The cases by app, those on tensor cores apart: there the instructions that compute change
    with the strategy, too."""
    kinds = results.groups.set_index("group")["kind"].to_dict()
    found: dict[str, list[Case]] = {}
    for app in _apps(cases):
        for tensor in (False, True):
            of = [c for c in cases if c.app == app and (kinds[c.group] in TENSOR_KINDS) == tensor]
            if of:
                found[app + (_TENSOR if tensor else "")] = of
    return found


def _apps(cases: Sequence[Case]) -> list[str]:
    found = {case.app for case in cases}
    return [a for a in APPS if a in found] + sorted(found - set(APPS))


def _verdict(gpu: str, by_label: dict[str, list[Case]]) -> str:
    """A sentence on styles: apps count alike, however many sizes they have."""
    plainly = {name: of for name, of in by_label.items() if not name.endswith(_TENSOR)}

    def mean(question: str) -> tuple[str, int]:
        means = [s.mean for of in plainly.values() if (s := summary(of, question)) is not None]
        return (times(geometric_mean(means)) if means else "not known"), len(means)

    cases = [case for of in plainly.values() for case in of]
    total, hopper = summary(cases, "all"), summary(cases, "hopper")
    if total is None:
        return f"On the {plain(gpu)} no strategy was measured beside the baseline."
    movement, told_apart = mean("movement")
    text = (
        f"On the {plain(gpu)} the best strategy is worth {mean('all')[0]} over baseline, Ampere's "
        f"style alone {mean('ampere')[0]} (geometric means over {len(plainly)} apps, each the mean "
        f"of its cases, tensor cores left out). It is resolved in {total.faster} of {total.n} "
        "cases. "
    )
    if told_apart:
        text += (
            f"By movement alone the best is worth {movement} over the {told_apart} apps that tell "
            "it from the schedule. "
        )
    if hopper is not None:
        text += (
            f"What Hopper brought, `tma` and `dsm`, beats everything older in {hopper.faster} of "
            f"{hopper.n} cases and is behind it in {hopper.slower}."
        )
    return text.strip()


def _of_matrices(by_label: dict[str, list[Case]], results: Results) -> list[str]:
    """That on tensor cores the instructions that compute change with the strategy."""
    said = []
    for name, cases in by_label.items():
        both = summary(cases, "all")
        if not name.endswith(_TENSOR) or both is None:
            continue
        rows = results.rows
        rows = rows[rows["group"].isin([c.group for c in cases]) & (rows["role"] == "best")]
        wgmma, mma = [], []
        for strategy in strategy_order(set(rows["strategy"]) & set(NAMES)):
            texts = ", ".join(rows[rows["strategy"] == strategy]["instructions"]).split(", ")
            names = {text.split(" ")[0].split(".")[0] for text in texts}
            if "HGMMA" in names:
                wgmma.append(f"`{strategy}`")
            elif "HMMA" in names:
                mma.append(f"`{strategy}`")
        text = f"The {len(cases)} cases of {name} gain {times(both.mean)} (Hopper's style)."
        if wgmma and mma:
            text += (
                f" By their machine code {', '.join(wgmma)} multiply with `wgmma`, "
                f"{', '.join(mma)} with `mma.sync`: that gain is one of arithmetic, too, and none "
                "of movement alone."
            )
        said.append(text)
    return said


def _absent(gpu: str, cases: Sequence[Case], results: Results) -> str:
    """The strategies that have no usable row in an app."""
    rows = results.rows
    rows = rows[(rows["role"] == "best") & rows["median"].notna()]
    there = {app: set(of["strategy"]) for app, of in rows.groupby("app")}
    missing = [
        f"`{app}/{name}`" for app in _apps(cases) for name in NAMES if name not in there[app]
    ]
    if not missing:
        return ""
    return (
        f"Not in the record of the {plain(gpu)}, so that they count for no style: "
        f"{', '.join(missing)}."
    )


def styles_section(results: Results, gpu: str) -> list[str]:
    """Styles on one GPU."""
    mine = results.where(gpu=gpu)
    cases = styles.cases_of(mine)
    if not cases:
        return [
            f"### {plain(results.heading(gpu))}",
            "",
            "No case with the baseline and another strategy.",
            "",
        ]
    cache, launch = main_cache(mine.groups), main_launch(mine.groups)
    by_label = _labels(cases, mine)
    lines = [f"### {plain(results.heading(gpu))}", "", wrapped(_verdict(gpu, by_label)), ""]
    for remark in (*_of_matrices(by_label, mine), _absent(gpu, cases, mine)):
        lines += [wrapped(remark), ""] if remark else []
    lines += [
        f"By app, all sizes and modes ({plain(common.origin(mine.groups))}); geometric mean, least "
        "and largest of the cases:",
        "",
    ]
    heads = {
        "ampere": "Ampere's over Volta's",
        "hopper": "`tma`, `dsm` over all others",
        "all": "Hopper's over Volta's",
        "movement": "of it movement",
    }
    lines += _table(
        ["app", "cases", *(heads[q] for q in QUESTIONS)],
        [
            [name, str(len(of)), *(_counted(summary(of, q), len(of)) for q in QUESTIONS)]
            for name, of in by_label.items()
        ],
    )
    lines += [f"Case by case, {cache} cache, {launch} launches:", ""]
    shown = [c for c in cases if (c.cache, c.launch) == (cache, launch)]
    lines += _table(
        ["case", *(heads[q] for q in QUESTIONS)],
        [
            [f"{app} {plain(c.size_label)}", *(_gain(c.gains[q]) for q in QUESTIONS)]
            for app in _apps(shown)
            for c in shown
            if c.app == app
        ],
    )
    return lines


def _reached_section(results: Results, gpu: str) -> list[str]:
    shares = expect.reached(results.where(gpu=gpu))
    if not shares:
        why = specifications.without_datasheet(gpu) or f"of {gpu} no ceiling was measured"
        return [wrapped(f"Held against no data sheet: {plain(why)}."), ""]
    return _table(
        [plain(gpu), "measured", "data sheet", "share"],
        [
            [r.name, f"{r.measured:,.0f} {r.unit}", f"{r.promised:,.0f} {r.unit}",
             f"{100 * r.share:.0f} %"]
            for r in shares
        ],
    )  # fmt: skip


def _step_section(step: Step) -> list[str]:
    m = step.measured
    lines = [f"### {plain(m.new_gpu)} over {plain(m.old_gpu)}", ""]
    lines += [f"- {plain(sentence)}" for sentence in step.sentences()]
    lines += [""]
    if len(step.best):
        lines += _table(
            ["case", "best on best", "hardware", "software, new", "software, old"],
            [
                [
                    f"{b.app} {plain(b.size_label)} {b.cache} {b.launch}",
                    _ratio(b.ratio, b.low, b.high, b.resolved),
                    times(b.hardware),
                    f"`{b.new_strategy}` {times(b.new_software)}",
                    f"`{b.old_strategy}` {times(b.old_software)}",
                ]
                for b in step.best.itertuples()
            ],
        )
    if len(step.points):
        lines += ["Microbenchmarks (above 1: the new GPU is better):", ""]
        lines += _table(
            ["microbenchmark", "quantity", "points", "geometric mean", "least to largest"],
            [
                [p.microbenchmark, p.quantity, str(p.n), f"{p.ratio:.2f}",
                 f"{p.least:.2f} to {p.most:.2f}"]
                for p in step.points.itertuples()
            ],
        )  # fmt: skip
    if step.short:
        lines += [
            f"Rows of the baseline below the {step.short[0].expected:.2f} of the data sheets:",
            "",
        ]
        lines += _table(
            ["row", "delivered", "cause"],
            [
                [
                    f"{s.variant} {plain(s.size_label)} {s.cache} {s.launch}",
                    claimed_ratio(s.ratio, s.low, s.high),
                    f"{s.outcome}: {plain(s.text)}",
                ]
                for s in step.short
            ],
        )
    return lines


def _steps_section(results: Results, gpus: Sequence[str]) -> list[str]:
    lines = ["## From one GPU to the next", ""]
    if not gpus:
        return [
            *lines,
            wrapped("""No file has an app measured: run `amasia study quick` on two GPUs, then
            `python -m plots docs FILES --out pages`."""),
            "",
        ]
    if len(gpus) == 1:
        lines += [
            wrapped(f"""Recorded: {plain(gpus[0])}. A step needs two: run `amasia study quick` on
            another GPU, then `python -m plots docs FILES --out pages`. What the one reaches of its
            data sheet, by the ceilings that its floors use:"""),
            "",
        ]
        return lines + _reached_section(results, gpus[0])
    for gpu in gpus:
        lines += _reached_section(results, gpu)
    pairs = pairs_of(results, zip(gpus[1:], gpus[:-1], strict=True))
    for (new, old), step in zip(pairs, steps(pairs), strict=True):
        if isinstance(step, Step):
            heading, *rest = _step_section(step)
            lines += [heading, "", *_versions(new, old), *rest[1:]]
        else:
            lines += [f"### {plain(new.gpus[0])} over {plain(old.gpus[0])}", ""]
            lines += [wrapped(f"Not compared: {plain(str(step))}."), ""]
    return lines


def _versions(new: Results, old: Results) -> list[str]:
    versions = [side.files["version"].iloc[0] or "the current code" for side in (new, old)]
    if versions == ["the current code"] * 2:
        return []
    if versions[0] == versions[1]:
        return [f"Both were recorded with Amasia {versions[0]} (`results/{versions[0]}/`).", ""]
    return [wrapped(f"""Not like with like: {plain(new.gpus[0])} was recorded with {versions[0]},
        {plain(old.gpus[0])} with {versions[1]}."""), ""]  # fmt: skip


def gpus_of(results: Results) -> list[str]:
    """The GPUs with comparison groups, oldest architecture first."""
    there = set(results.groups["gpu"])
    return [gpu for gpu in reversed(results.by_generation) if gpu in there]


def render(results: Results) -> str:
    """The page; of every GPU with comparison groups."""
    gpus = gpus_of(results)
    lines = [_HEAD, "## Styles on one chip", "", wrapped(_STYLES), ""]
    if gpus:
        lines += [f"![gain of each style over Volta's, by case]({PICTURE})", ""]
        lines += [wrapped(_INTERVALS), "", wrapped(_MOVEMENT), ""]
    else:
        lines += ["Nothing is recorded yet.", ""]
    for gpu in reversed(gpus):
        lines += styles_section(results, gpu)
    lines += _steps_section(results, gpus)
    lines += [wrapped(_OF_THE_PAPER), "", wrapped(results.uncommitted)]
    return "\n".join(lines).rstrip() + "\n"
