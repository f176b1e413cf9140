"""docs/prediction.md: what the model says of every recorded row before it ran, beside what the row
took."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from plots.advice import examples
from plots.advice.twin import NAME as TWIN
from plots.advice.twin import Twin, accuracy, by_lot, twins_and_unseen
from plots.data.load import Results, strategy_order
from plots.data.strategies import APPS, NAMES
from plots.errors import PlotsError
from plots.markdown import plain, table, wrapped
from plots.papers import specifications
from plots.prediction import evaluation as ev
from plots.prediction.model import EQUATIONS, SOURCES, Curve, Machine
from plots.prediction.traits import FAMILIES

COMMAND = "python -m plots predict results -o docs/prediction.md"

# What was aimed at: of the median and the 90th percentile of errors, the share of cases in which
# the strategy named first is as good as the best, and what it costs on average.
GAIN_MEDIAN, GAIN_NINETIETH, TIME_MEDIAN = 0.05, 0.15, 0.15
ADVICE_SHARE, ADVICE_COST, OTHER_GPU_MEDIAN = 0.90, 0.02, 0.10


def _percent(value: float, digits: int = 1) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f} %"


def _beside(value: float, goal: float) -> str:
    """A share with as many digits as tell it from a goal."""
    digits = 1
    while value != goal and digits < 4 and _percent(value, digits) == _percent(goal, digits):
        digits += 1
    return _percent(value, digits)


def _met(met: bool) -> str:
    return "met" if met else "missed"


_HEAD = f"""\
# Prediction: times and gains before anything runs

Made from the recorded files by `{COMMAND}`; a test
fails when it is stale. How long a row takes and what its way of moving data gains, from
microbenchmarks of the GPU and from traits that are counted in the algorithm and its machine code
(`plots/prediction/traits.py`); beside it what was measured.
"""

_RULES = """
What is predicted: every verified row of the six strategies, at `iso`, `best`, `matched` and in the
tables of `amasia cross`, all sizes, caches and launch modes. A *gain* is the movement gain, over
baseline at the same schedule. A *case* of the advice is an app, a size with its cache and launch
mode, and a schedule at which several strategies were measured.

No time of an app has part in what is said of it. Two constants are fitted, named below, and the
widths of intervals are learnt from residuals: both from the other apps, each app left out in turn;
the residuals themselves are of apps that were left out, too. A test alters the times of an app and
finds every prediction of it, and its intervals, unchanged. Intervals are meant to hold 90 %.
"""

_HONESTY = """
What leaving out does not protect from: whoever counted the traits had seen the recorded times, and
went back to the code of apps and microbenchmarks where predictions were far off. That found
miscounts, such as a loop counted once that runs four times, and the interval of a copy that is
one of a thread which waits in between and not one of the SM. What took their place is what the code
says, but a kernel that nobody has looked at will be predicted worse than these. Where machine code
branches or overlaps, counts are estimates. That a step is the larger of two, that parts add up by a
power, and that a launch costs something beside an empty one, was chosen among a few forms by how
well they do for apps left out. That this is so many latencies of memory, and not so many empty
launches, was chosen when a second GPU had been measured: an empty launch takes far longer on it,
and a real one does not. On one GPU both forms are the same. That the longest part is all of the
time where tensor cores multiply what others bring, and how each strategy brings it, was written
down when gemm's tensor cores had been measured and predicted 28 % off, without that.
"""

_FOUND = """
Since hardware counters are recorded (`results/*/profile-*.json`), counts can be held against those
of a profiler, and where a strategy was far off its code was read again. Found so: a copy of 16
bytes by `cp.async` that goes past L1 brings a sector for every lane, also where all lanes want the
same (drop_off in gemm's sample: 64 times the bytes of its rows of A), and one that goes through L1
writes shared memory lane by lane (drop_off in gemm's tiles); what baseline holds ahead in hotspot's
streams leaves its steps few registers, so that in some passes their chains follow one another, for
197 cycles of a row in which a warp issues nothing where the others have 22 to 51, and it waits for
what it spills (by stalls and waits of the loop's machine code; until 2026-11-28 it stood here that
the loads ahead are spilled and waited for at once, which is false); Rodinia's elimination in lud
goes product by product through shared memory, 225 and 240 in a row; of two loops of hotspot's
squares the one at the edge of the grid had been taken for all; a cluster's barrier is a fence for
each of its warps, of which launch/barriers says what a further warp takes, unless it is relaxed, as
where a cluster begins in hotspot's tiles since 2026-11-28 (99 cycles for 918 on an H100 and for 380
on an H200); remote counters of a histogram are random words, to which an SM adds at a fifth of the
rate of adjacent ones; the multiply-adds of lud's chain had been counted a second time in the update
beside it, and dsm executes 8 % more instructions there than tma. Instructions and passes through
shared memory of gemm's FP32 tiles, of its sample and of the tiles of lud and hotspot, and lud's
instructions for a multiply-add, are as counted on an H100, at one size; gemm's are the same on an
H200, whose counters are the ones recorded; nothing of their times is in them. Once the fault was
the kernel's: that dsm took longer in hotspot's streams than was predicted led to a fence that
waited for the results on their way to memory, at every hand-over; since 2026-11-28 its windows send
messages, which need none, and so do dsm's blocks at `iso` in hotspot and gemm, whose new times were
predicted before they were measured (gemm 136 ms for 126 at 8192, hotspot 10.6 for 10.7), and in lud
and nw, whose were not: the counters had shown the fences, and the model was changed when the new
times were known.

New terms, each with its microbenchmark: wgmma keeps of its rate what tensor_core/wgmma_tma keeps
while the copy engine feeds it (0.89 on an H200, at as many products a clock: it is the clock that
falls), and a tile's sums are stored at L2's rate while nobody multiplies, but for warpgroups that
take turns; loads of a warp travel as long as memory/in_flight has 512 bytes on
their way, a tenth longer from memory and a third longer from L2 than the single words of
memory/latency; several boxes for one barrier are asked for no faster than four threads of an SM do
(tma/bandwidth); a slice that wgmma waits for arrives at its SM's share of L2 only as far as the
other SMs ask meanwhile, which is as often as this one does, and else as fast as tma/latency has one
SM receive (92 bytes a cycle on an H100, in place of a share of 32). Nothing is fitted in this last
one, but it was written down when gemm's gains had been seen, and no other app had it then: by it
alone the gains of its tiles, which had been 11.9 % off on an H100 (90th percentile 31.5), came to
7.2 (18.7), and on an H200 from 7.4 (19.0) to 8.2 (17.8). In pathfinder's strips and nw's bands what
a stage costs those who compute on it, by who brings it (async_copy/stage_cost), stands in place of
barriers; a row of tall strips takes the 25.5 cycles of its machine code, in which shuffles are
under way while a warp works on another row, where instructions and chain had been 46; bands ask as
far ahead as their config says, and producers that wait for what they have asked for (there, of
baseline and register_bypass) first store scores and copy, at the cycles of their machine code, and
then wait at the rate at which memory is read and written at once. And whoever waits for a tile or a
stage of several KiB at once waits until all of it has been received (tma/latency): in strips and
pyramids, lud's blocks, the tiles of gemm and histogram, and hotspot's squares. Producers of strips
that do so copy the next one only then, at the cycles of their machine code. The first two of these
had been tried one at a time and left, because tma's times came out right and the others' did not.
Together they brought the 90th percentile of all gains on an H200 from 16.8 to 15.3 %, on an H100
from 15.2 to 14.1, and nw's times, which had been a fifth too short, to a tenth. In nw's tiles,
whose blocks are a warp each, an instruction of straight code takes the 2.65 cycles of its machine
code: tma's gains there, 13 % too low before, are 6 to 8 % too low. The same cycles have
instructions of histogram's sample, whose schedulers are idle most of the time. And the model has
what a test of the machine code says of lud's panels (tests/python/test_early_waits.py): baseline
waits for a slice as soon as it has asked for it. Cycles of hotspot's rows without an instruction
are each strategy's by the steps of a pass, as baseline's were, in place of 38 for all, and
instructions of lud's chain are those of its own tile's machine code, not the average over all of
lud: the gains came from 5.08 to 5.04 % on an H200 and stayed at 4.7 on an H100, times there from
7.6 to 7.3. With gemm's kernels of
2026-11-29, which divide nothing before their first copy and store four columns a lane, and 37 gains
of theirs more, the median error on an H200 went from 4.998 to 5.14 % and the 90th percentile from
14.4 to 15.2: both aims, met by little before, were missed. Looked through again, gemm's panels had
come from L2 wherever they are read by many blocks. Who asks first waits for memory, and the others,
who ask at the same time, wait with it; every other app had that. So the gains are 5.05 % off (14.9
at the 90th percentile) and all times 10.0 for 10.3. And those stores take 1.6 us for a tile where
the bandwidth of writes, which the model had, gives 3.7, and L2's rate 1.8: gemm's times are 5.5 %
off for 7.2, and the gains 5.04 (14.7). The aim of 5 stayed missed by that. With the other six
sizes of pathfinder's sweep, which an H200 had not had (66 gains more), it is 5.2 (15.7), and the
aim of 15 is missed as well, by what pathfinder is of the record: no family's gains are further off
than before by more than 0.1 %.

Three forms were changed: a step whose copies are asked for ahead no longer waits for the
instructions of the block's other warps, which are in what an SM issues already; and a step that
waits for its own copy also waits for the block's passes through shared memory. Of the four ways to
have them or not, the errors of the other apps on an H200 choose both, whichever app but histogram
is left out; without histogram they choose the second alone, by 0.0005 of a logarithm, and so they
do on an H100 without any app but gemm, by less than 0.003. And since 2026-11-28 instructions and
the passes that they make through shared memory hide each other wholly, where they had added by the
power, and boxes that blocks wait for take turns in the engine of an SM (tma/bandwidth): in
hotspot's tiles, where engine and waiting together make tma slower than it issues. By the times of
other apps the new form is no better (on an H200 by 0.003 of a logarithm worse, on an H100 by 0.002
better); it was taken for the gains, which had been seen: their median error came from 6.7 to 5.8 %
on an H200 and from 5.7 to 5.3 on an H100, and those of register_bypass, overlap and drop_off at
hotspot's `iso`, predicted 6 to 10 % too low, are 2 to 4 % too low. Tried and left, because errors
of apps left out rose: passes in every step; the longer of waiting and issuing in place of both; the
longer of a warp's instructions and its latencies in place of their sum, or the root of their
squares; 1.4 to 3 cycles for an instruction of a warp in every app; how long a block's batch of
copies arrives where nothing else on its SM is under way (strips: better on an H200, worse on an
H100); a power for what waits and another for what is throughput, or one for copies that are asked
for ahead, or for blocks that stay (the median of gains fell by half a percent at most, and up to 24
cases of the advice were lost); what a stage costs in lud's chain (no difference); instructions of
hotspot's streams as counted (4 to 10 % fewer, but in drop_off 6 % more: 21 cases of the advice were
lost; their passes are up to 2.3 times what the model has, which since the last form matters no
more); those of pathfinder's pyramids and of histogram's walks as counted (14 cases of the advice
were lost). Left for other reasons: bytes in flight of histogram's sample (its steps have that
latency already); panels that blocks share at the rate of tensor_core/wgmma_tma in place of L2's
(times of some schedules were better, gains worse); instructions of copies beside the products of
the same warps (overlap on tensor cores was then said to be slower than tma, as it is, but by a
third and not by 3 to 13 %).
"""

_LIMITS = """
Not in the model, because no microbenchmark measures it or nobody counted it: first instructions of
a launch that are not in the instruction cache; how fast one thread asks for several boxes that one
barrier waits for (`wide-25` of pathfinder has 32 for a row and takes 77 cycles for each; four
threads together get one in 45, one thread that waits for each by itself in 180); how long a fence
waits for stores that are on their way to memory; latencies of memory under load, but for bandwidth;
what instructions of a warp hide of its own chain; bank conflicts of registers, and of shared memory
beyond those that are counted; fences at named barriers; additions in global memory (the schedule
`global` of histogram is not predicted); the power limit, but for tensor cores; which SMs a cluster
gets.
Strategies whose copies cost the same by count are told apart by what is left of their chain, so
that gains of some percent are often not seen.
"""


def _goals(e: ev.Evaluation) -> str:
    times, gains = ev.errors_in(e.rows), ev.errors_in(e.gains)
    advice = ev.quality(e.advice)
    one = ev.errors_of(e.gains["measured"], [1.0] * len(e.gains))
    floor = e.rows[e.rows["floor"] > 0]
    floors = ev.errors_of(floor["measured"], floor["floor"])

    def line(what: str, of: int, value: str, goal: str, met: bool, otherwise: str) -> list[str]:
        return [what, f"{of:,}", value, goal, _met(met), otherwise]

    head = ["", "of", "here", "aimed at", "", "without a model"]
    rows = [
        line("times, median error", times.count, _beside(times.median, TIME_MEDIAN),
             f"≤ {_percent(TIME_MEDIAN, 0)}", times.median <= TIME_MEDIAN,
             f"{_percent(floors.median)} (the floor)"),
        ["times, 90th percentile", f"{times.count:,}", _percent(times.ninetieth), "–", "–",
         f"{_percent(floors.ninetieth)} (the floor)"],
        line("gains, median error", gains.count, _beside(gains.median, GAIN_MEDIAN),
             f"≤ {_percent(GAIN_MEDIAN, 0)}", gains.median <= GAIN_MEDIAN,
             f"{_percent(one.median)} (none gains)"),
        line("gains, 90th percentile", gains.count, _beside(gains.ninetieth, GAIN_NINETIETH),
             f"≤ {_percent(GAIN_NINETIETH, 0)}", gains.ninetieth <= GAIN_NINETIETH,
             f"{_percent(one.ninetieth)} (none gains)"),
        line("first strategy within 5 % of the best", advice.cases,
             _beside(advice.share, ADVICE_SHARE), f"≥ {_percent(ADVICE_SHARE, 0)}",
             advice.share >= ADVICE_SHARE, _best_fixed(e)[0]),
        line("mean cost of the first strategy", advice.cases,
             _beside(advice.mean_cost, ADVICE_COST), f"≤ {_percent(ADVICE_COST, 0)}",
             advice.mean_cost <= ADVICE_COST, _best_fixed(e)[1]),
        ["times inside their 90 % interval", f"{times.count:,}", _percent(times.covered),
         "90 %", "–", "–"],
        ["gains inside their 90 % interval", f"{gains.count:,}", _percent(gains.covered),
         "90 %", "–", "–"],
    ]  # fmt: skip
    return table(head, rows)


def _best_fixed(e: ev.Evaluation) -> tuple[str, str]:
    """The best of answering every case with one strategy, chosen in hindsight."""
    fixed = [(name, ev.always(e.advice, name)) for name in NAMES]
    fixed = [(name, a) for name, a in fixed if a.cases]
    share = max(fixed, key=lambda f: f[1].share)
    cost = min(fixed, key=lambda f: f[1].mean_cost)
    return (
        f"{_percent(share[1].share)} (always {share[0]})",
        f"{_percent(cost[1].mean_cost)} (always {cost[0]})",
    )


def advice_line(e: ev.Evaluation) -> str:
    """ "advice within 5 % of the best: 12 of 14 (86 %)"."""
    advice = ev.quality(e.advice)
    share = "–" if math.isnan(advice.share) else f"{100 * advice.share:.0f} %"
    return f"advice within 5 % of the best: {advice.within} of {advice.cases} ({share})"


def _families(frame: pd.DataFrame) -> list[tuple[str, str]]:
    there = set(zip(frame["app"], frame["family"], strict=True))
    return [(f.app, f.name) for f in FAMILIES if (f.app, f.name) in there]


def _bias(frame: pd.DataFrame) -> str:
    """Predicted over measured, the median."""
    return f"{(frame['predicted'] / frame['measured']).median():.2f}"


def _error_cells(frame: pd.DataFrame) -> list[str]:
    errors = ev.errors_in(frame)
    if not errors.count:
        return ["0", "–", "–", "–", "–"]
    return [str(errors.count), _percent(errors.median), _percent(errors.ninetieth), _bias(frame),
            _percent(errors.covered, 0)]  # fmt: skip


_ERRORS = ["rows", "median error", "90th percentile", "predicted / measured", "in interval"]


def _by_family(frame: pd.DataFrame, what: str) -> str:
    lines = [
        [f"{app} {name}",
         *_error_cells(frame[(frame["app"] == app) & (frame["family"] == name)])]
        for app, name in _families(frame)
    ]  # fmt: skip
    return table(["app and family", what, *_ERRORS[1:]], lines)


def _by_app_and_strategy(frame: pd.DataFrame) -> str:
    names = strategy_order(frame["strategy"])
    lines = []
    for app in (a for a in APPS if (frame["app"] == a).any()):
        cells = []
        for name in names:
            mine = frame[(frame["app"] == app) & (frame["strategy"] == name)]
            errors = ev.errors_in(mine)
            cells.append(f"{_percent(errors.median)} of {errors.count}" if errors.count else "–")
        lines.append([app, *cells])
    return table(["app", *names], lines)


def _gain_medians(frame: pd.DataFrame) -> str:
    names = [n for n in NAMES if (frame["strategy"] == n).any()]
    lines = []
    for app, family in _families(frame):
        cells = []
        for name in names:
            mine = frame[
                (frame["app"] == app) & (frame["family"] == family) & (frame["strategy"] == name)
            ]
            cells.append(
                f"{mine['predicted'].median():.2f} / {mine['measured'].median():.2f}"
                if len(mine)
                else "–"
            )
        lines.append([f"{app} {family}", *cells])
    return table(["app and family", *names], lines)


def _bound(frame: pd.DataFrame) -> str:
    counts = frame["bound"].value_counts()
    said = {
        "wait": "wait for a chain or for copies",
        "issue": "are bound by instructions",
        "bytes": "by memory or L2",
        "shared": "by shared memory",
        "engine": "by the copy engine",
        "launch": "by launches",
    }
    parts = [f"{counts[k]} {v}" for k, v in said.items() if counts.get(k)]
    return wrapped(f"By the model {', '.join(parts)}.")


def _advice_by_family(advice: pd.DataFrame) -> str:
    lines = []
    for app, name in _families(advice):
        mine = advice[(advice["app"] == app) & (advice["family"] == name)]
        found = ev.quality(mine)
        lines.append(
            [f"{app} {name}", f"{found.within} of {found.cases}", _percent(found.share, 0),
             _percent(found.mean_cost)]
        )  # fmt: skip
    return table(["app and family", "within 5 %", "share", "mean cost"], lines)


def _misses(advice: pd.DataFrame) -> str:
    missed = advice[advice["cost"] > ev.WITHIN]
    if missed.empty:
        return "No case was missed."
    grouped = missed.groupby(["app", "schedule", "first", "best"], sort=False)["cost"]
    found = grouped.agg(["size", "mean", "max"]).reset_index()
    found = found.sort_values(
        ["size", "mean", "app", "schedule", "first", "best"],
        ascending=[False, False, True, True, True, True],
    )
    lines = [
        [f"{r.app} {plain(str(r.schedule))}", r.first, r.best, str(r.size), _percent(r.mean, 0)]
        for r in found.rename(columns={"size": "count"})
        .head(12)
        .rename(columns={"count": "size"})
        .itertuples()
    ]
    return table(["schedule", "named first", "the fastest", "cases", "mean cost"], lines)


def _constants(e: ev.Evaluation) -> str:
    lines = [
        [app, "∞" if math.isinf(c.power) else f"{c.power:g}", f"{c.trips:g}"]
        for app, c in sorted(e.constants.items())
    ]
    return table(["app left out", "power", "trips"], lines)


def _cell(value: float | Curve) -> str:
    if isinstance(value, tuple):  # a curve, from its first place to its last
        return " to ".join(dict.fromkeys(f"{y:,.0f}" for _, y in (value[0], value[-1])))
    return f"{value:,.0f}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{k if isinstance(k, str) else f'{k:g}'}: {_cell(v)}" for k, v in value)
    return f"{value:,.4g}" if isinstance(value, float) and value < 1e4 else f"{value:,.0f}"


def _machine(machine: Machine) -> str:
    lines = [[plain(source), _value(getattr(machine, name))] for name, source in SOURCES.items()]
    rule = ["---", "---"]
    head = ["of which microbenchmark", "value (cycles, GB/s, us, GFLOP/s)"]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def _undeclared(e: ev.Evaluation) -> str:
    if not e.undeclared:
        return "Traits are declared of every recorded row."
    listed = ", ".join(f"{plain(k)} ({v})" for k, v in sorted(e.undeclared.items()))
    return wrapped(f"Not predicted, because no traits are declared: {listed}.")


def _why(e: ev.Evaluation) -> str:
    """What is behind the goals that are missed, from the record."""
    said = []
    gains = e.gains.assign(error=(e.gains["predicted"] / e.gains["measured"] - 1).abs())
    by = gains.groupby(["app", "family", "strategy"], sort=False)["error"].agg(["size", "median"])
    worst = by[by["size"] >= 5].sort_values("median", ascending=False, kind="stable").head(4)
    if len(worst):
        listed = "; ".join(
            f"{strategy} in {app} {family}, {_percent(r['median'], 0)}"
            for (app, family, strategy), r in worst.iterrows()
        )
        said.append(f"The gains that are predicted worst, by their median error: {listed}.")
    advice = e.advice.assign(missed=e.advice["cost"] > ev.WITHIN)
    total = int(advice["missed"].sum())
    if total:
        counts = advice[advice["missed"]].groupby(["app", "family"], sort=False).size()
        most = counts.sort_values(ascending=False, kind="stable").head(2)
        listed = " and ".join(f"{n} in {app} {family}" for (app, family), n in most.items())
        said.append(f"Of {total} misses of the advice {listed}.")
    near = _near(e.gains)
    if near:
        said.append(near)
    return wrapped(" ".join(said))


def _near(gains: pd.DataFrame) -> str:
    inside = gains["measured"].between(1 / 1.1, 1.1)
    if not inside.any() or inside.all():
        return ""
    near, far = (ev.errors_in(gains[mask]) for mask in (inside, ~inside))
    return (
        f"Gains and losses below 10 % ({near.count} of {len(gains)}) are predicted with a median "
        f"error of {_percent(near.median)}, larger ones with {_percent(far.median)}."
    )


def _recorded(results: Results) -> tuple[list[Twin], list[Twin]]:
    """The twins that answer, and those kept unseen."""
    files = set(results.points.loc[results.points["microbenchmark"] == TWIN, "file"])
    paths = results.files.loc[results.files["file"].isin(files), "path"].tolist()
    return twins_and_unseen(paths) if paths else ([], [])


def _twins(results: Results, gpu: str) -> list[str]:
    """The same of the twin: recorded twins asked for from the others. Of the GPU of the page, and
    of others that have any."""
    twins, unseen = _recorded(results)
    others = dict.fromkeys(t.gpu for t in twins if t.gpu != gpu)

    def part(of: str) -> list[str]:
        return _twin([t for t in twins if t.gpu == of], [t for t in unseen if t.gpu == of], of)

    return [text for of in (gpu, *others) for text in (f"### {plain(of)}", *part(of))]


def _answered(lines: pd.DataFrame, which: str) -> list[str]:
    """What twins that were asked for are told, beside what was measured of them."""
    gains = lines.dropna(subset=["measured"])
    errors = ev.errors_in(gains)
    times = ev.errors_of(lines["time"], lines["predicted_time"])
    advice = ev.quality(lines.drop_duplicates("twin").dropna(subset=["cost"]))
    text = wrapped(
        f"{which} "
        f"Gains: {errors.count}, median error {_percent(errors.median)}, 90th percentile "
        f"{_percent(errors.ninetieth)}, inside their interval {_percent(errors.covered, 0)}. "
        f"Times: median error {_percent(times.median)}, 90th percentile "
        f"{_percent(times.ninetieth)}. The strategy named first is within 5 % of the best in "
        f"{advice.within} of {advice.cases} twins ({_percent(advice.share, 0)}), at a mean cost of "
        f"{_percent(advice.mean_cost)}. (`advise` asks the twin, not the model.)"
    )
    by_strategy = table(
        ["strategy", "gains", "median error", "90th percentile", "predicted / measured",
         "in interval"],
        [
            [name, *_error_cells(gains[gains["strategy"] == name])]
            for name in strategy_order(gains["strategy"])
        ],
    )  # fmt: skip
    return [text, by_strategy]


def _twin(twins: Sequence[Twin], unseen: Sequence[Twin], gpu: str) -> list[str]:
    if len(twins) < 2:
        return [f"Not recorded on {plain(gpu)} (`amasia run {TWIN} --preset paper`)."]
    parts = []
    if unseen:
        lines, unanswered = ev.twins_unseen(twins, unseen)
        parts += _answered(
            lines,
            f"{len(unseen)} [twins](twin.md) of kernels drawn by lot are kept unseen: no answer "
            "is made from them, nor the width of an interval. They were asked for from all others; "
            f"{unanswered} lie outside the range of those.",
        )
    lines, unanswered = ev.twins_left_out(twins)
    some = sum(by_lot(t) for t in twins)
    which = (
        f"{some} of {len(twins)} recorded [twins](twin.md) that answer are of kernels drawn by "
        "lot. Each of those"
        if some
        else f"Of {len(twins)} recorded [twins](twin.md), points of a grid, each"
    )
    return parts + _answered(
        lines,
        f"{which} was left out in turn and asked for from all others; {unanswered} lie outside the "
        "range of the rest. It is these from which the width of intervals is learnt.",
    )


def _worst_bound(found: ev.Transfer) -> str:
    """What is furthest off, and of launches how long an empty one takes on both."""
    bias = (found.rows["predicted"] / found.rows["measured"]).groupby(found.rows["bound"]).median()
    worst = str(bias.map(lambda b: abs(math.log(b))).idxmax())
    said = (
        f" Furthest off are rows bound by {worst}, predicted to take {bias[worst]:.2f} of what "
        "they do."
    )
    there, here = found.machine.launch_graph_us, found.home.launch_graph_us
    if worst == "launch" and abs(there / here - 1) > 0.05:
        said += (
            f" An empty launch takes {there:.2f} us there and {here:.2f} here; what a real one "
            "takes beside it is counted in latencies of memory."
        )
    return said


def _other_gpu(found: ev.Transfer) -> list[str]:
    rows = found.rows
    head = f"### {plain(found.gpu)} from {plain(found.of)}"
    if rows.empty:
        return [head, wrapped("No row of the same config, size and mode is recorded on both.")]
    errors = ev.errors_of(rows["measured"], rows["predicted"])
    unchanged = ev.errors_of(rows["measured"], rows["unchanged"])
    met = _met(errors.median <= OTHER_GPU_MEDIAN)
    text = (
        f"{errors.count} rows of the same config, size and mode: median error "
        f"{_percent(errors.median)} (aimed at: ≤ {_percent(OTHER_GPU_MEDIAN, 0)}, {met}), 90th "
        f"percentile {_percent(errors.ninetieth)}; if it were as fast as the other GPU "
        f"{_percent(unchanged.median)} and {_percent(unchanged.ninetieth)}. {found.unmatched} rows "
        "of it have no counterpart, such as where another config was found to be the best."
    )
    if found.borrowed:
        text += (
            " Not recorded of it, so that the other GPU's values stand for them: "
            + "; ".join(plain(name) for name in found.borrowed)
            + "."
        )

    text += _worst_bound(found)

    def line(name: str, mine: pd.DataFrame) -> list[str]:
        e = ev.errors_of(mine["measured"], mine["predicted"])
        as_is = ev.errors_of(mine["measured"], mine["unchanged"])
        return [name, str(e.count), _percent(e.median), _percent(e.ninetieth), _bias(mine),
                _percent(as_is.median)]  # fmt: skip

    head_of = ["", "rows", "median error", "90th percentile", "predicted / measured",
               "as on the other"]  # fmt: skip
    apps = [line(a, rows[rows["app"] == a]) for a in APPS if (rows["app"] == a).any()]
    bound = [line(f"bound by {b}", rows[rows["bound"] == b]) for b in sorted(set(rows["bound"]))]
    return [head, wrapped(text), table(head_of, [*apps, *bound])]


def _forecast(results: Results, e: ev.Evaluation) -> list[str]:
    """What the model says of GPUs of the same chip that nobody has recorded, by their data sheets:
    written down before it can be compared."""
    own = specifications.spec_of_driver(e.gpu)
    if own is None:
        return []
    parts = []
    for spec in specifications.datasheet_specs():
        same_chip = spec.architecture == own.architecture and spec.sms == own.sms
        if not same_chip or spec.bandwidth_gb_s == own.bandwidth_gb_s:
            continue
        factor = spec.bandwidth_gb_s / own.bandwidth_gb_s
        other = e.machine.with_bandwidth(spec.name, factor)
        rows = ev.ratios(results, e.gpu, e.machine, e.constants, other)
        lines = []
        for app, family in _families(rows):
            mine = rows[(rows["app"] == app) & (rows["family"] == family)]["ratio"]
            low, middle, high = mine.quantile([0.1, 0.5, 0.9])
            lines.append(
                [f"{app} {family}", str(len(mine)), f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
            )
        parts += [
            f"### {plain(spec.name)}, by its data sheet",
            wrapped(
                f"As long as it is not recorded: its memory has {factor:.2f} of the bandwidth by "
                "the data sheets, all else is taken to be the same. What rows are then predicted "
                "to take over what they take here, the median and the middle 80 %:"
            ),
            table(["app and family", "rows", "time", "middle 80 %"], lines),
        ]
    return parts


def _other_gpus(results: Results, e: ev.Evaluation) -> list[str]:
    text = wrapped(
        "A time on another GPU is the time on this one, scaled by what the model says of the two: "
        "by the ratio of whichever resource binds the row. Nothing that was measured of an app on "
        "the other GPU has part in it."
    )
    others = [
        gpu
        for gpu in dict.fromkeys(results.files["gpu"])
        if gpu != e.gpu and (results.rows["gpu"] == gpu).any()
    ]
    if not others:
        return [text, "Not recorded: there is no second GPU.", *_forecast(results, e)]
    parts = [text]
    for gpu in sorted(others):
        try:
            parts += _other_gpu(ev.transfer(results, e.gpu, e.machine, e.constants, gpu))
        except PlotsError as error:
            parts += [f"### {plain(gpu)}", plain(str(error))]
    return parts


def sentence(results: Results) -> str:
    """What README says of it: the figures, whatever they are. Raises PlotsError."""
    e = ev.evaluate(results, ev.home_of(results))
    times, gains = ev.errors_in(e.rows), ev.errors_in(e.gains)
    time, gain = _beside(times.median, TIME_MEDIAN), _beside(gains.median, GAIN_MEDIAN)
    return (
        f"Predicted before anything runs, from microbenchmarks and counted traits, each app left "
        f"out of what is fitted ({plain(e.gpu)}, {times.count:,} rows): times with a median error "
        f"of {time}, movement gains {gain} (90th percentile "
        f"{_beside(gains.ninetieth, GAIN_NINETIETH)}); {advice_line(e)}. "
        "[docs/prediction.md](docs/prediction.md) "
        f"has the model and its goals.{_of_unseen_kernels(*_recorded(results))}"
    )


def _of_unseen_kernels(twins: Sequence[Twin], unseen: Sequence[Twin]) -> str:
    """What advice is worth for a kernel that nobody measured, on each GPU where such kernels were
    drawn by lot; "" where none were."""
    said = ""
    for gpu in dict.fromkeys(t.gpu for t in twins if by_lot(t)):
        known = accuracy([t for t in twins if t.gpu == gpu], unseen)
        how = (
            "within the measured range and kept out of every answer"
            if known.unseen
            else "within the measured range and each left out of the answer to it"
        )
        said += (
            f" Of {known.asked} kernels drawn by lot ({plain(gpu)}), {how}, gains are told by "
            f"[twins](docs/twin.md) of others with a median error of "
            f"{_percent(known.gain_error[0])}, {_percent(known.covered / known.gains, 0)} are "
            "inside the interval that is said, and the strategy named first is within 5 % "
            f"of the best in {known.within} ({_percent(known.within / known.asked, 0)}), where "
            f"always naming baseline would score {known.of_baseline}."
        )
    real = plain(examples.real_kernels())
    real = real.replace("docs/examples.md", "[docs/examples.md](docs/examples.md)")
    return f"{said} {real}" if said and real else said


def render(results: Results) -> str:
    """The page. Raises PlotsError where microbenchmarks or rows are missing."""
    e = ev.evaluate(results, ev.home_of(results))
    parts = [
        _HEAD.rstrip(),
        wrapped(_RULES.split("\n\n")[0]),
        wrapped(_RULES.split("\n\n")[1]),
        f"## {plain(e.gpu)}",
        _goals(e),
        advice_line(e),
        _why(e),
        wrapped(_LIMITS),
        wrapped(_HONESTY),
        *(wrapped(part) for part in _FOUND.split("\n\n")),
        "## The model",
        wrapped(
            "A run is a list of launches; a block does its steps one after another, a step being "
            "what a tile, a stage or a row-block is in the app. In cycles of an SM, with *n* the "
            "steps of all its blocks, *alone* a step of a block that has the SM to itself, and "
            "*waves* the blocks one after another where an SM holds several:"
        ),
        EQUATIONS,
        wrapped(
            "*travel* is the latency of the copy by which the strategy moves data, of a batch that "
            "is waited for at once until all of it has been received, *flight* how many steps "
            "ahead it is asked for. Bandwidth follows from the bytes that are in flight "
            "on an SM (Little's law, as memory/in_flight has measured it). Fitted, with the app "
            "left out, are the power and the trips of a launch, by the least absolute error of "
            "the logarithm, the median of each family and the mean of those:"
        ),
        _constants(e),
        _undeclared(e),
        "What a GPU is described by:",
        _machine(e.machine),
        "## Times",
        _by_family(e.rows, "rows"),
        _bound(e.rows),
        "Median error by app and strategy:",
        _by_app_and_strategy(e.rows),
        "## Gains",
        _by_family(e.gains, "gains"),
        "Median error by app and strategy:",
        _by_app_and_strategy(e.gains),
        "Median gain, predicted / measured:",
        _gain_medians(e.gains),
        "## Advice",
        wrapped(
            "The strategy that the model says is fastest at a schedule, held against the one that "
            "was; equal predictions go to the strategy that stands first in the order of the "
            "tables."
        ),
        _advice_by_family(e.advice),
        "Where it misses most:",
        _misses(e.advice),
        "## The twin",
        *_twins(results, e.gpu),
        "## Another GPU",
        *_other_gpus(results, e),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
