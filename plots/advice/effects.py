"""The study with known answers: what the suite finds of effects that were planted.

`amasia-effects effects` (tests/effects) measures kernels that do a known share more or less of the
same work, and kernels that get doses of one resource; `amasia-effects tune contest` searches among
configs of which one, two or none does less. Here stands what was claimed of them, by the ordinary
rules: the share of the effects found, how often an effect was claimed where there is none, whether
tuner and advice name the planted winner, and whether the resource that the floor names is the one
whose doses cost time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plots.advice.advise import advise
from plots.data.documents import text_of
from plots.data.load import Results
from plots.errors import ResultFileError
from plots.folders import json_files
from plots.statistics.claims import NOT_RESOLVED, claim_of
from plots.statistics.intervals import corrected_confidence, median_interval, ratio_of_rounds

CONFIDENCE = 0.95
PLANTS = (0, 3, 10, 30)  # thousandths of the baseline's work, more or less
GOAL_PLANT = 10
GOAL_FOUND = 0.95  # of the comparisons at GOAL_PLANT, at the default effort
GOAL_FALSE = 0.01  # of the comparisons of equal work
GOAL_CHOSEN = 0.95  # of the searches, and of the groups that advice is given on
# First so many rounds of what was recorded; None: all, as the default effort stopped.
EFFORTS = {"10 rounds": 10, "15 rounds": 15, "default": None}
# The fewest comparisons whose share of false claims can be known to be about one in a hundred.
LEAST_COMPARISONS = 300

RESOURCES = {"bytes": "bytes", "operations": "operations", "barriers": "dependency"}
TUNING_NAME = "effects-tuning.json"


@dataclass(frozen=True)
class Share:
    """k of n, with the exact interval of Clopper and Pearson at 95 %."""

    k: int
    n: int

    @property
    def value(self) -> float:
        """NaN of nothing."""
        return self.k / self.n if self.n else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """0 to 1 of nothing."""
        tail = (1 - CONFIDENCE) / 2
        low = _where(lambda p: 1 - _at_most(self.k - 1, self.n, p) >= tail) if self.k else 0.0
        high = _where(lambda p: _at_most(self.k, self.n, p) <= tail) if self.k < self.n else 1.0
        return low, high

    def text(self) -> str:
        """ "159 of 162, 98.1 % [94.7, 99.6]"."""
        if not self.n:
            return "none"
        low, high = self.interval
        return f"{self.k} of {self.n}, {100 * self.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _at_most(k: int, n: int, p: float) -> float:
    """P(Binomial(n, p) <= k), by logarithms: no power underflows."""
    if p <= 0 or p >= 1:
        return 1.0 if p <= 0 or k >= n else 0.0
    numbers, logs = (of_all[: k + 1] for of_all in _logs_of_ways(n))
    return float(np.exp(logs + numbers * math.log(p) + (n - numbers) * math.log1p(-p)).sum())


@lru_cache(maxsize=64)
def _logs_of_ways(n: int) -> tuple[np.ndarray, np.ndarray]:
    """0 to n, and the logarithm of how many ways there are to choose so many of n."""
    chosen = np.arange(n + 1)
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(n + 1)]
    return chosen, np.array(logs)


def _where(holds: Callable[[float], bool]) -> float:
    """The least p in [0, 1] from which on ``holds`` is true, to 1e-9."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# --- planted effects ------------------------------------------------------------------------------


def _usable_samples(results: Results) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """row -> rounds and times in ms, throttled samples left out unless there are no others."""
    samples = results.samples
    rounds, times = samples["round"].to_numpy(int), samples["time_ms"].to_numpy(float)
    throttled = samples["throttled"].to_numpy(bool)
    found = {}
    for row, places in samples.groupby("row", observed=True).indices.items():
        good = places[~throttled[places]]
        chosen = good if len(good) else places
        found[str(row)] = rounds[chosen], times[chosen]
    return found


def _plant_of(geometry: str) -> int:
    return int(re.search(r"thousandths_more=(-?\d+)", geometry)[1])


def claims(effects: Results, rounds: int | None = None) -> pd.DataFrame:
    """A line for each comparison of the app planted: group, kind, baseline_ms, plant (thousandths
    more than its reference), control, claim, ratio, low, high. With ``rounds`` what would have been
    claimed after so many."""
    planted = effects.where(app="planted")
    samples = _usable_samples(planted)
    kinds = {g.group: g.parameters["kind"] for g in planted.groups.itertuples()}
    row_at = {(r.group, r.variant, r.role, r.repeat): r for r in planted.rows.itertuples()}
    by_group: dict[str, list[tuple[dict[str, Any], Any, Any]]] = {}
    for c in planted.comparisons.itertuples():
        of_reference = "best" if c.role == "comparator" else c.role
        said = {
            "role": c.role, "control": bool(c.control), "claim": c.claim, "verdict": c.verdict,
            "speedup": {
                "ratio": c.ratio, "low": c.low, "high": c.high,
                "resolved": c.verdict != NOT_RESOLVED,
            },
        }  # fmt: skip
        row = row_at[c.group, c.variant, c.role, int(c.control)]
        reference = row_at[c.group, c.against, of_reference, 0]
        by_group.setdefault(c.group, []).append((said, row, reference))
    lines = []
    for group, of_group in by_group.items():
        if rounds is not None:
            _claim_after(rounds, of_group, samples)
        for said, row, reference in of_group:
            lines.append(
                {
                    "group": group,
                    "kind": kinds[group],
                    "baseline_ms": reference.median,
                    "plant": _plant_of(row.geometry) - _plant_of(reference.geometry),
                    "control": said["control"],
                    "claim": said["claim"],
                    **said["speedup"],
                }
            )
    return pd.DataFrame(lines)


def _claim_after(
    rounds: int,
    of_group: list[tuple[dict[str, Any], Any, Any]],
    samples: dict[str, tuple[np.ndarray, np.ndarray]],
) -> None:
    """Replaces what is said of the comparisons of a group by what the first rounds say."""
    each = corrected_confidence(CONFIDENCE, len(of_group))
    for said, row, reference in of_group:
        sides = []
        for name in (reference.row, row.row):
            at, times = samples[name]
            sides.append(dict(zip(at[at < rounds], times[at < rounds], strict=True)))
        both = [r for r in sides[0] if r in sides[1]]
        over, under = (np.array([side[r] for r in both]) for side in sides)
        ratio = ratio_of_rounds(over, under, each)
        verdict = "faster" if ratio.ratio > 1 else "slower"
        said["verdict"] = verdict if ratio.resolved else NOT_RESOLVED
        said["speedup"] = {
            "ratio": ratio.ratio, "low": ratio.low, "high": ratio.high, "resolved": ratio.resolved,
        }  # fmt: skip
    for said, *_ in of_group:
        said["claim"] = claim_of([other for other, *_ in of_group], said)


def _right(frame: pd.DataFrame) -> pd.Series:
    truth = np.where(frame["plant"] > 0, "slower", "faster")
    return frame["claim"] == truth


def found(frame: pd.DataFrame, plant: int) -> Share:
    """Of the comparisons that differ by so many thousandths, either way, those that claim so. For
    plant 0 those that claim any difference, the controls among them: false claims."""
    alike = frame[frame["plant"].abs() == plant]
    right = alike["claim"].isin(["faster", "slower"]) if plant == 0 else _right(alike)
    return Share(int(right.sum()), len(alike))


def opposite(frame: pd.DataFrame) -> Share:
    """Of the comparisons that differ, those that claim the opposite."""
    differ = frame[frame["plant"] != 0]
    wrong = differ["claim"].isin(["faster", "slower"]) & ~_right(differ)
    return Share(int(wrong.sum()), len(differ))


# --- the planted winner ---------------------------------------------------------------------------


def _without(results: Results, variants: Sequence[str]) -> Results:
    """As if these variants had not been measured."""

    def kept(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[~frame["variant"].isin(variants)]

    return replace(results, rows=kept(results.rows), comparisons=kept(results.comparisons))


def advice(effects: Results) -> dict[str, Share]:
    """How often the advice is what was planted: with two strategies that win alike, with one, with
    none. Right is: one of the two and the other not told apart from it; that one alone; no
    strategy."""
    planted = effects.where(app="planted")
    winners = {
        str(row.strategy)
        for row in planted.rows.itertuples()
        if row.role == "best" and _plant_of(row.geometry) < 0
    }
    names = sorted(f"planted/{winner}" for winner in winners)
    last = names[-1].split("/")[1] if names else ""

    def share(left_out: Sequence[str], right: Callable[..., bool]) -> Share:
        given = advise(_without(planted, left_out), role="best")
        return Share(sum(right(a) for a in given), len(given))

    return {
        "two that are equal": share(
            (), lambda a: a.strategy in winners and {a.strategy, *a.rivals} == winners
        ),
        "one": share(names[:-1], lambda a: a.strategy == last and not a.rivals),
        "none": share(names, lambda a: a.strategy is None),
    }


@dataclass(frozen=True)
class Searches:
    """Of searches with so many planted winners: in how many one of them was chosen (any config, if
    none is planted), and in how many exactly the configs that do as much were said to be equal."""

    winners: int
    chosen: Share
    equal_said: Share


def read_contest(path: Path) -> list[dict]:
    """The entries of a tuning file of the app contest. Raises ResultFileError."""
    try:
        file = json.loads(text_of(path))
        entries = [e for e in file["entries"] if e["variant"].startswith("contest/")]
        for entry in entries:
            if not isinstance(entry["equal"], list) or not entry["table"] or not entry["device"]:
                raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise ResultFileError(f"{path}: expected the tuning file of the app contest") from None
    return entries


def searches(entries: Iterable[dict]) -> list[Searches]:
    """By how many winners were planted. Their names begin with "less"."""
    by_winners: dict[int, list[tuple[bool, bool]]] = {}
    for entry in entries:
        names = [c["config"] for c in entry["table"]]
        winners = [name for name in names if name.startswith("less")]
        alike = set(winners or names)
        chosen = entry["config"] in alike
        said = chosen and set(entry["equal"]) == alike - {entry["config"]}
        by_winners.setdefault(len(winners), []).append((chosen, said))
    return [
        Searches(
            winners,
            Share(sum(c for c, _ in tried), len(tried)),
            Share(sum(s for _, s in tried), len(tried)),
        )
        for winners, tried in sorted(by_winners.items())
    ]


# --- doses ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Response:
    """How much of what a dose costs alone a kernel's time grows by: 1 where it waits for that
    resource, 0 where the dose disappears beside another."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Dosed:
    """One kernel: what its floor names, and the response to doses of each resource."""

    base: str
    baseline_ms: float
    floor_names: str
    responses: dict[str, Response]

    @property
    def steepest(self) -> str:
        """The resource with the largest response."""
        return max(self.responses, key=lambda resource: self.responses[resource].value)

    @property
    def resolved(self) -> bool:
        """Its interval lies above those of the others."""
        largest = self.responses[self.steepest]
        others = [r for name, r in self.responses.items() if name != self.steepest]
        return all(largest.low > other.high for other in others)

    @property
    def agrees(self) -> bool:
        """The slopes name, clearly, what the floor names."""
        return self.resolved and RESOURCES[self.steepest] == self.floor_names


def _slope(
    rows: pd.DataFrame, samples: dict[str, tuple[np.ndarray, np.ndarray]], resource: str
) -> Response:
    """ms for each unit of a dose: by round the least-squares slope through the time without a dose,
    then their median with its exact interval."""

    def by_round(row: str) -> pd.Series:
        rounds, times = samples[row]
        return pd.Series(times, index=rounds)

    first = rows[rows["repeat"] == 0].set_index("schedule")["row"]
    doses = {
        int(name.rsplit("-", 1)[1]): by_round(row)
        for name, row in first.items()
        if name.startswith(f"{resource}-")
    }
    table = pd.DataFrame({0: by_round(first["iso"]), **doses}).dropna()
    units = np.array(sorted(doses))
    longer = table[units].to_numpy() - table[[0]].to_numpy()
    m = median_interval(longer @ units / (units @ units), CONFIDENCE)
    return Response(m.median, m.low, m.high)


def doses(effects: Results) -> list[Dosed]:
    """Of every kernel that has work of several kinds, in the order of the file. Raises KeyError
    when what a dose costs alone was not measured."""
    dosed = effects.where(app="dosed")
    samples = _usable_samples(dosed)
    slopes: dict[str, dict[str, Response]] = {}
    about: dict[str, tuple[float, str]] = {}
    for group in dosed.groups.itertuples():
        rows = dosed.rows[(dosed.rows["group"] == group.group) & (dosed.rows["role"] == "cross")]
        base = group.parameters["base"]
        slopes[base] = {resource: _slope(rows, samples, resource) for resource in RESOURCES}
        iso = rows[(rows["schedule"] == "iso") & (rows["repeat"] == 0)].iloc[0]
        about[base] = float(iso["median"]), group.bound_by
    mixed = [base for base in slopes if not base.startswith("only_")]
    alone = {r: slopes[f"only_{r}"][r] for r in RESOURCES} if mixed else {}
    result = []
    for base in mixed:
        of_base = slopes[base]
        responses = {
            resource: Response(
                s.value / alone[resource].value,
                s.low / alone[resource].high,
                s.high / alone[resource].low,
            )
            for resource, s in of_base.items()
        }
        result.append(Dosed(base, *about[base], responses))
    return result


# --- the goals ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """All that was recorded of one GPU."""

    gpu: str
    effects: Results
    contest: list[dict]


def studies_in(results: Results, folders: Sequence[Path]) -> list[Study]:
    """A study for each GPU of loaded results, with the searches on it that lie in the folders."""
    if results.effects is None:
        return []
    paths = {p for folder in folders if folder.is_dir() for p in json_files(folder, TUNING_NAME)[0]}
    entries = [e for path in sorted(paths) for e in read_contest(path)]
    return [
        Study(gpu, results.effects.where(gpu=gpu), [e for e in entries if e["device"] == gpu])
        for gpu in results.effects.gpus
    ]


@dataclass(frozen=True)
class Findings:
    """What was found in a study: claims by effort, advice, searches and doses."""

    by_effort: dict[str, pd.DataFrame]
    advice: dict[str, Share]
    searches: list[Searches]
    doses: list[Dosed]

    @property
    def default(self) -> pd.DataFrame:
        """The claims at the default effort."""
        return self.by_effort["default"]


def findings(study: Study) -> Findings:
    """All of it. Takes seconds."""
    return Findings(
        {name: claims(study.effects, rounds) for name, rounds in EFFORTS.items()},
        advice(study.effects),
        searches(study.contest),
        doses(study.effects),
    )


def misses(of: Findings) -> list[str]:
    """The goals that a study does not reach, as sentences."""
    percent, false, opposed = (
        found(of.default, GOAL_PLANT),
        found(of.default, 0),
        opposite(of.default),
    )
    sentences = []
    if not percent.value >= GOAL_FOUND:
        sentences.append(f"1 % is found in {percent.text()}, wanted are {100 * GOAL_FOUND:.0f} %.")
    if not false.value <= GOAL_FALSE:
        sentences.append(f"equal work is claimed to differ in {false.text()}.")
    if false.n < LEAST_COMPARISONS:
        sentences.append(
            f"{false.n} comparisons of equal work are too few to speak of one in a hundred, wanted "
            f"are {LEAST_COMPARISONS}."
        )
    if opposed.k:
        sentences.append(f"the opposite of what was planted is claimed in {opposed.text()}.")
    with_winners = [s for s in of.searches if s.winners]
    if not with_winners:
        sentences.append("no search of the tuner is recorded.")
    sentences += [
        f"the tuner chose a planted winner in {s.chosen.text()}."
        for s in with_winners
        if not s.chosen.value >= GOAL_CHOSEN
    ]
    sentences += [
        f"the advice with planted winners ({name}) is right in {share.text()}."
        for name, share in of.advice.items()
        if not share.value >= GOAL_CHOSEN
    ]
    named = [d for d in of.doses if d.base in RESOURCES]
    if {d.base for d in named} != set(RESOURCES):
        sentences.append("doses are not recorded for a kernel of each resource.")
    sentences += [
        f"the doses of {d.base} name {d.steepest}, the floor names {d.floor_names}."
        for d in named
        if not d.agrees
    ]
    return sentences
