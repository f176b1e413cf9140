"""Why one row is faster than another, from what the hardware counted of both.

The rule. The cycles of a timed row are divided into parts that add up to them. In some its busiest
SM is idle; in some a warp issues; in the rest no warp can, divided by what the resident warps wait
for. The difference in cycles of two rows is then the sum of the differences of the parts. A part
explains the difference when it makes up at least ``SHARE`` of it and at least ``LEAST`` of the
cycles; one that is as large the other way is named, too. A difference below ``LEAST`` of the cycles
is not explained: counting twice differs by more. Parts of more than ``CANCEL`` times the difference
are cancelled by others: then the sentence has no shares. Beside a part stand the amounts behind it
(instructions, bytes, conflicts, resident warps), when they differ by at least ``AMOUNT``.

How long a row takes is measured without a profiler, whose marks take 0.4 ms themselves and which
adds some 20 us to each launch (an H100, Nsight Compute 2025.3). The cycles in which an SM holds a
warp are not touched by that. They have to fit into those of the measurement: where they exceed them
by more than ``FITS``, the profiler saw another run than was timed, and nothing is explained. Nor is
it where less than ``SEEN`` of the difference (in logarithms) is one of cycles: the rest is clock.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plots.data.load import Results, main_cache, main_launch, main_size, rows_by_identity
from plots.data.profiles import Profile, Profiles
from plots.data.sessions import rows_in
from plots.units import claimed_ratio

SHARE = 0.25  # of the difference in cycles, from which on a part is named
AMOUNT = 0.05  # relative difference from which on an amount is named
# Of the cycles, from which on a part is named: counted twice, parts differ by less.
# Those of 39 rows on H100s did by 1.4 % at most.
LEAST = 0.015
CANCEL = 2  # times the difference, beyond which parts are said to cancel
SEEN = 0.5  # of the difference in time that there has to be in cycles
FITS = 0.1  # of the measured cycles, by which busy ones may exceed them
MOST = 0.4  # of the cycles, from which on a row mostly does something
NEAR_PEAK = 0.6  # use of DRAM or L2, from which on a row waits for its bandwidth


@dataclass(frozen=True)
class Cause:
    """A part of the cycles: the stall reasons in it, and its words."""

    name: str
    reasons: tuple[str, ...]
    waits_for: str  # "" of warps that issue

    @property
    def doing(self) -> str:
        """ "waiting for shared memory", "issuing instructions"."""
        return f"waiting for {self.waits_for}" if self.waits_for else "issuing instructions"


IDLE = Cause("idle", (), "work: its busiest SM holds no warp")
ISSUE = Cause("issue", (), "")
WAITS = (
    Cause(
        "memory", ("long_scoreboard", "lg_throttle", "drain"), "L1, L2 or DRAM (long scoreboard)"
    ),
    Cause(
        "shared memory", ("short_scoreboard", "mio_throttle"), "shared memory (short scoreboard)"
    ),
    Cause("barriers", ("barrier", "membar"), "barriers (barrier stalls)"),
    Cause("arithmetic", ("math_pipe_throttle", "gmma"), "busy math pipes (pipe throttle)"),
    Cause("dependences", ("wait", "dispatch_stall"), "the previous instruction (wait)"),
    Cause(
        "code", ("no_instruction", "branch_resolving", "imc_miss"), "instructions (no instruction)"
    ),
    Cause("other", ("sleeping", "tex_throttle", "misc"), "something else"),
)
CAUSES = (IDLE, ISSUE, *WAITS)
_NO_WAIT = ("selected", "not_selected")


@dataclass(frozen=True)
class Run:
    """A row as it was timed, ``cycles`` of the SM clock long, and what was counted of it."""

    profile: Profile
    cycles: float
    milliseconds: float

    def __getitem__(self, name: str) -> float | None:
        return self.profile[name]

    def use(self, name: str) -> float | None:
        """Share of a peak, over the run as it was timed: the profiler counts it over the time
        between its marks."""
        share, between = self[name], self["cycles"]
        return None if share is None or not between else share * between / self.cycles

    @property
    def busy(self) -> float | None:
        """Cycles in which the busiest SM holds a warp."""
        return self["busiest_cycles"]


def run_of(profile: Profile | None, row: Any, milliseconds: float | None = None) -> Run | None:
    """Of a row of a Results' frame; with ``milliseconds``, as if that were its time. At the clock
    that was measured with the samples, else at that of the profiler. None without counters."""
    if profile is None or not profile["cycles"] or not profile["time_ms"]:
        return None
    clock = 1e3 * float(row.sm_clock_mhz)  # cycles in a millisecond
    if not clock > 0:
        clock = profile["cycles"] / profile["time_ms"]  # type: ignore[operator]
    took = float(row.median) if milliseconds is None else milliseconds
    return Run(profile, clock * took, took)


def cycle_parts(run: Run) -> dict[str, float] | None:
    """The cycles of a run by cause; None where a counter is missing for that."""
    busy, issue = run.busy, run["issue_slots"]
    waits = {r: s for r, s in run.profile.stalls.items() if r not in _NO_WAIT}
    waiting = sum(waits.values())
    if not run.cycles > 0 or busy is None or issue is None or not run.profile.stalls:
        return None
    busy, issue = min(busy, run.cycles), min(issue, 1.0)
    stalled = busy * (1 - issue)
    parts = {IDLE.name: run.cycles - busy, ISSUE.name: busy * issue}
    known = {reason: cause.name for cause in WAITS for reason in cause.reasons}
    parts |= {cause.name: 0.0 for cause in WAITS}
    for reason, share in waits.items():
        # A reason that a later profiler adds is something else.
        parts[known.get(reason, "other")] += stalled * share / waiting if waiting else 0.0
    if not waiting:
        parts[ISSUE.name] += stalled
    return parts


@dataclass(frozen=True)
class Part:
    """A cause in a comparison: the cycles of both rows, and its share of their difference, negative
    where it goes the other way."""

    cause: Cause
    mine: float
    theirs: float
    share: float


def cancelled(parts: Sequence[Part]) -> float:
    """How many times the difference is cancelled by parts that go the other way, where the named
    ones that go its way are more than ``CANCEL`` times it; else 0. All parts add up to the
    difference, so that the others are more than half as large then, and shares of what is left say
    little."""
    named = sum(part.share for part in parts if part.share > 0)
    return named - 1 if named > CANCEL else 0.0


@dataclass(frozen=True)
class Attribution:
    """A resolved comparison with what explains it. ``verdict`` is "explained", "unexplained" or "no
    counters"; ``parts`` are those that are named, the largest first; ``sentence`` says all of it.
    """

    gpu: str
    app: str
    size_label: str
    cache: str
    launch: str
    role: str
    strategy: str
    schedule: str
    against: str
    against_schedule: str
    ratio: float
    claim: str
    verdict: str
    parts: tuple[Part, ...]
    sentence: str


def _change(mine: float | None, theirs: float | None) -> float | None:
    """By how much mine is less (negative) or more than theirs, relative to theirs."""
    if mine is None or theirs is None or not theirs > 0 or mine < 0:
        return None
    return mine / theirs - 1


def _percent(change: float) -> str:
    """ "38 %"; of what is many times as much "6.1 times"."""
    return f"{100 * abs(change):.0f} %"


def _more(change: float, what: str) -> str:
    """ "38 % fewer instructions", "2.5 times the instructions"."""
    if change >= 1:
        return f"{change + 1:.1f} times the {what}"
    return f"{_percent(change)} {'fewer' if change < 0 else 'more'} {what}"


def _sum(run: Run, *names: str) -> float | None:
    values = [run[name] for name in names]
    return None if any(v is None for v in values) else sum(values)  # type: ignore[arg-type]


_AMOUNTS = {
    ISSUE.name: (("instructions",), "instructions"),
    "memory": (("dram_read_bytes", "dram_write_bytes"), "bytes from and to DRAM"),
    "shared memory": (("shared_passes",), "shared-memory wavefronts"),
}
_BEHIND_MEMORY = (("sm_read_bytes",), "bytes into the SMs")


def _against(shares: Sequence[float], of: str = "", word: str = "against") -> str:
    """ "84 % against 61 %"."""
    return f"{100 * shares[0]:.0f} %{of} {word} {100 * shares[1]:.0f} %"


def _of_both(values: Sequence[float | None]) -> list[float]:
    """The values of both runs; empty where one of them was not counted."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _behind(part: Part, mine: Run, theirs: Run) -> str:
    """What is known of the amounts behind a part: "with 20 % fewer bytes ...", or ""."""
    name = part.cause.name
    said = []
    amounts = [_AMOUNTS[name]] if name in _AMOUNTS and name != ISSUE.name else []
    if name == "memory":
        amounts.append(_BEHIND_MEMORY)
    for names, what in amounts:
        change = _change(_sum(mine, *names), _sum(theirs, *names))
        if change is not None and abs(change) >= AMOUNT:
            said.append(_more(change, what))
    if name == "shared memory":
        conflicts = [
            None if p["shared_conflicts"] is None or not p["shared_passes"]
            else p["shared_conflicts"] / p["shared_passes"]
            for p in (mine, theirs)
        ]  # fmt: skip
        if None not in conflicts and abs(conflicts[0] - conflicts[1]) >= AMOUNT:
            said.append(f"bank conflicts in {_against(conflicts, ' of them')}")
    if name == "memory" and not said:
        uses = _of_both([run.use("dram_use") for run in (mine, theirs)])
        if uses and max(uses) >= NEAR_PEAK:
            said.append(f"the same bytes, DRAM used at {_against(uses)}")
    if name in ("memory", "barriers"):
        resident = _of_both([run["occupancy"] for run in (mine, theirs)])
        change = _change(mine["occupancy"], theirs["occupancy"])
        if change is not None and abs(change) >= 2 * AMOUNT:
            more = "more" if change > 0 else "fewer"
            said.append(f"{more} resident warps ({_against(resident)})")
    return f" with {' and '.join(said)}" if said else ""


def _clause(part: Part, mine: Run, theirs: Run) -> str:
    """ "issues 38 % fewer instructions", "waits 41 % less for barriers (barrier stalls)"."""
    change = _change(part.mine, part.theirs)
    if part.cause is ISSUE:
        instructions = _change(mine["instructions"], theirs["instructions"])
        if instructions is not None and abs(instructions) >= AMOUNT:
            same_way = instructions * (part.mine - part.theirs) > 0
            if same_way:
                return f"issues {_more(instructions, 'instructions')}"
    less = "less" if part.mine < part.theirs else "more"
    if change is None:
        how = f"{less} (before: not at all)"
    elif change >= 1:
        how = f"{change + 1:.1f} times as long"
    else:
        how = f"{_percent(change)} {less}"
    if part.cause is ISSUE:
        return f"spends {how} of its time issuing" if change is None else f"issues for {how} time"
    if part.cause is IDLE:
        return f"leaves its busiest SM without work {how}"
    return f"waits {how} for {part.cause.waits_for}{_behind(part, mine, theirs)}"


def _common(mine: Run, theirs: Run) -> str:
    """What both rows mostly do, as a sentence, or ""."""
    sides = []
    for run in (mine, theirs):
        parts = cycle_parts(run)
        if parts is None:
            return ""
        largest = max(CAUSES, key=lambda cause: parts[cause.name])
        sides.append((largest, parts[largest.name] / sum(parts.values())))
    (a, b), of_both = zip(*sides, strict=True)
    if a is not b or min(of_both) < MOST:
        return ""
    shares = _against(of_both, word="and")
    if a is ISSUE:
        return f" Both mostly issue instructions ({shares})."
    if a is IDLE:
        return f" Both leave their busiest SM idle mostly ({shares})."
    if a.name == "memory":
        for use, name in (("dram_use", "DRAM"), ("l2_use", "L2")):
            both = _of_both([run.use(use) for run in (mine, theirs)])
            if both and min(both) >= NEAR_PEAK:
                return f" Both wait for {name} ({_against(both, word='and')} of its peak)."
    return f" Both wait mostly for {a.waits_for} ({shares} of the cycles)."


def _unexplained(why: str) -> tuple[str, tuple[Part, ...], str]:
    return "unexplained", (), f"no counter explains it: {why}."


def explain(mine: Run | None, theirs: Run | None) -> tuple[str, tuple[Part, ...], str]:
    """What the counters of two runs say of their difference. Returns verdict, parts and what
    follows the colon of the sentence."""
    if mine is None or theirs is None:
        return "no counters", (), "no counters of both rows are recorded (amasia profile)."
    a, b = cycle_parts(mine), cycle_parts(theirs)
    if a is None or b is None:
        return "no counters", (), "its profile lacks the counters that divide cycles."
    for whose, run in (("its", mine), ("the other's", theirs)):
        beyond = (run.busy or 0) / run.cycles - 1
        if beyond > FITS:
            return _unexplained(
                f"under the profiler {whose} busiest SM had work for {_percent(beyond)} more "
                "cycles than the measured time has"
            )
    seen = math.log(theirs.cycles / mine.cycles)
    measured = math.log(theirs.milliseconds / mine.milliseconds)
    if seen * measured <= 0 or abs(seen) < SEEN * abs(measured):
        clocks = [1e-3 * run.cycles / run.milliseconds for run in (mine, theirs)]
        return _unexplained(
            f"most of it is the SM clock, {clocks[0]:.0f} MHz against {clocks[1]:.0f}"
        )
    whole = mine.cycles - theirs.cycles
    if abs(whole) < LEAST * theirs.cycles:
        return _unexplained(
            f"the difference, {100 * abs(whole) / theirs.cycles:.2g} % of the cycles, is smaller "
            "than what counting twice differs by"
        )
    parts = sorted(
        (Part(c, a[c.name], b[c.name], (a[c.name] - b[c.name]) / whole) for c in CAUSES),
        key=lambda part: -part.share,
    )
    large = [part for part in parts if abs(part.mine - part.theirs) >= LEAST * theirs.cycles]
    named = tuple(part for part in large if part.share >= SHARE)
    against = tuple(part for part in reversed(large) if part.share <= -SHARE)
    if not named:
        largest = parts[0]
        why = "the difference is spread, its largest part"
        if largest.share >= SHARE:
            why = "it is as small as what counting twice differs by, and its largest part"
        return _unexplained(f"{why} ({100 * largest.share:.0f} %) is {largest.cause.doing}")
    cancel = cancelled((*named, *against))

    def said(part: Part, of: str) -> str:
        share = "" if cancel else f" ({100 * abs(part.share):.0f} %{of})"
        return _clause(part, mine, theirs) + share

    text = f"parts of {cancel:.1f} times the difference cancel: " if cancel else ""
    text += f"it {' and '.join(said(part, ' of the difference') for part in named)}"
    if against:
        text += f", although it {' and '.join(said(part, '') for part in against)}"
    elif cancel:
        text += ", against smaller parts of other causes"
    return "explained", (*named, *against), f"{text}.{_common(mine, theirs)}"


def _named(name: str, schedule: str) -> str:
    return f"{name} ({schedule})" if schedule else name


def _what(c: Any) -> str:
    """ "tma ran 1.32× [1.31, 1.33] faster than baseline, both with the schedule wide"."""
    against = str(c.against).split("/", 1)[1]
    if c.ratio >= 1:
        ran = f"{claimed_ratio(c.ratio, c.low, c.high)} faster"
    else:
        ran = f"{claimed_ratio(1 / c.ratio, 1 / c.high, 1 / c.low)} slower"
    same = c.schedule == c.against_schedule
    if not c.schedule and not c.against_schedule:
        return f"{c.strategy} ran {ran} than {against} ({c.role})"
    if same:
        return f"{c.strategy} ran {ran} than {against}, both with the schedule {c.schedule}"
    return f"{_named(c.strategy, c.schedule)} ran {ran} than {_named(against, c.against_schedule)}"


def attributions(
    results: Results, profiles: Profiles, every_size: bool = False
) -> list[Attribution]:
    """Of each resolved comparison at the main size of each app, in the main modes of its GPU; with
    ``every_size`` at all of them and in all modes. Comparisons whose measurement may not be spoken
    of (plots/statistics/claims.py) are not among them."""
    found = []
    for gpu in results.gpus:
        of_gpu = results.where(gpu=gpu)
        groups = of_gpu.groups
        modes = main_cache(groups), main_launch(groups)
        rows = rows_by_identity(of_gpu.rows)
        compared = of_gpu.comparisons
        resolved = compared[~compared["control"] & compared["claim"].isin(["faster", "slower"])]
        for app in sorted(set(groups["app"])):
            of_app = resolved[resolved["app"] == app]
            if not every_size:
                of_app = of_app[
                    (of_app["size"] == main_size(groups, app))
                    & (of_app["cache"] == modes[0])
                    & (of_app["launch"] == modes[1])
                ]
            for c in of_app.itertuples():
                mine = theirs = None
                sides = [rows.get((c.group, name)) for name in rows_in(c.identity)]
                if len(sides) == 2 and None not in sides:
                    # The ratio is of pairs: that of the medians may be another.
                    a, b = sides
                    mine = run_of(profiles.of(a), a)
                    theirs = run_of(profiles.of(b), b, float(a.median) * float(c.ratio))
                verdict, parts, why = explain(mine, theirs)
                found.append(
                    Attribution(
                        gpu, app, c.size_label, c.cache, c.launch, c.role, c.strategy, c.schedule,
                        c.against, c.against_schedule, c.ratio, c.claim, verdict, parts,
                        f"{_what(c)}: {why}",
                    )
                )  # fmt: skip
    return found


def sums_up(found: Sequence[Attribution]) -> str:
    """What a reader should know before he believes the sentences."""
    explained = sum(a.verdict == "explained" for a in found)
    without = sum(a.verdict == "no counters" for a in found)
    return (
        f"{len(found)} resolved differences: {explained} explained, "
        f"{len(found) - explained - without} that no counter explains, {without} without counters."
    )
