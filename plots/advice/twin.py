"""Which way of moving data suits a kernel that the suite does not have: the answer of its twin, a
synthetic kernel with the same traits (microbench/twin).

A twin is measured at the kernel's own traits, or looked for among the recorded ones: where none has
exactly these traits, those that come nearest answer, as long as each trait is between what was
recorded. What a trait is called and what values it has is read from the recorded points, so that a
new one needs no change here.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from plots.advice.drawn_twins import answering, unseen
from plots.advice.twin_places import (
    LEAST_REGISTERS,
    NUGGET,
    SCALES,
    Held,
    coordinates,
    held,
    registers_of_its_twin,
)
from plots.advice.twin_traits import (
    Traits,
    beyond,
    beyond_reach,
    indivisible,
    kind_of,
    outside,
    reach_of,
)
from plots.data.documents import find_files, read_document, text_of
from plots.data.strategies import NAMES
from plots.errors import PlotsError
from plots.statistics.claims import invalidity_in
from plots.statistics.kriging import LEAST, Array, Field
from plots.statistics.kriging import nearest as nearest_points

NAME = "twin/strategies"
_MEASURED = f'"name":"{NAME}"'.encode()  # in a file with recorded twins
NEIGHBOURS = 4  # recorded twins that answer for one that is not
WITHIN = 0.05  # a choice that costs no more than this share is as good as the best


@dataclass(frozen=True)
class Computed:
    """What a strategy costs a kernel that has no twin, from its traits. ``registers`` are the least
    and the most of the nearest twins; ``own_twin`` says why a twin of its own would hold other
    blocks, "" when it would not."""

    held: Held
    registers: tuple[int, int] | None
    own_twin: str


@dataclass(frozen=True)
class Measured:
    """One strategy of a twin: its speed-up over baseline with the same traits, which for baseline
    itself is the noise. ``reason`` says why there is none. ``kernel`` is what was recorded of its
    own kernel; ``computed`` is there instead where others answer for it."""

    strategy: str
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    time_ms: float = math.nan
    kernel: Mapping[str, Any] = field(default_factory=dict)  # evidence of its kernel
    remark: str = ""
    reason: str = ""
    computed: Computed | None = None

    @property
    def ok(self) -> bool:
        """It ran and its results were right."""
        return math.isfinite(self.ratio)


@dataclass(frozen=True, eq=False)
class Twin:
    """A recorded twin in all strategies. Two are equal when they are the same record."""

    gpu: str
    date: str
    traits: Traits
    strategies: Mapping[str, Measured]
    device: Mapping[str, Any] = field(default_factory=dict)  # as the result file describes it

    @property
    def times(self) -> dict[str, float]:
        """strategy -> speed-up, of those that ran."""
        return {name: m.ratio for name, m in self.strategies.items() if m.ok}


def twins_and_unseen(paths: Sequence[Path | str]) -> tuple[list[Twin], list[Twin]]:
    """The twins in result files and folders that answer, of every GPU; of the same twin the one
    measured last. And the unseen ones (plots/advice/drawn_twins.py): neither an answer nor the
    width of its interval is made from them, so that they show what answers are worth. Raises
    PlotsError, ResultFileError."""
    found, _ = find_files([Path(path) for path in paths])
    twins: dict[tuple[Any, ...], Twin] = {}
    for path in found:
        if _MEASURED not in text_of(path):
            continue
        document = read_document(path)
        provenance = document.provenance
        rows: dict[tuple[tuple[str, str], ...], dict[str, Measured]] = {}
        for m in document.microbenchmarks:
            for row in m.rows if m.name == NAME and not invalidity_in(m) else ():
                traits = {k: v for k, v in row.at.items() if k != "strategy"}
                measured = _measured(row)
                rows.setdefault(tuple(traits.items()), {})[measured.strategy] = measured
        for key, strategies in rows.items():
            device = msgspec.to_builtins(provenance.device)
            twin = Twin(device["name"], provenance.date_utc, dict(key), strategies, device)
            other = twins.get((twin.gpu, key))
            if other is None or other.date <= twin.date:
                twins[twin.gpu, key] = twin
    some = _drawn_traits()[1]
    aside = [_key(twin.traits) in some for twin in twins.values()]
    return (
        [twin for twin, kept in zip(twins.values(), aside, strict=True) if not kept],
        [twin for twin, kept in zip(twins.values(), aside, strict=True) if kept],
    )


def _measured(row: Any) -> Measured:
    strategy = row.at.get("strategy", "")
    value = row.value
    if row.status != "ok" or not value:
        return Measured(strategy, reason=row.reason or row.status)
    times = [t for t in row.samples.time_ns if t is not None]
    return Measured(
        strategy, value.median, value.low, value.high,
        median(times) / 1e6 if times else math.nan,
        msgspec.to_builtins(row.evidence[0]) if row.evidence else {}, row.remark,
    )  # fmt: skip


# --- How near twins are to each other -------------------------------------------------------------


def place_of(
    traits: Mapping[str, str], strategy: str, device: Mapping[str, Any], registers: int = 0
) -> Array:
    """The coordinates, scaled, in the order of SCALES."""
    at = coordinates(traits, strategy, device, registers)
    return np.array([scale * at.get(name, 0.0) for name, scale in SCALES.items()])


def places_of_twins(
    twins: Sequence[Mapping[str, str]], strategy: str, device: Mapping[str, Any]
) -> Array:
    """Of recorded twins of a GPU, a row for each: a twin has the registers that it may need."""
    rows = [place_of(t, strategy, device, registers_of_its_twin(t)) for t in twins]
    return np.array(rows).reshape(len(twins), len(SCALES))


def _key(traits: Traits) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(traits.items()))


@cache
def _drawn_traits() -> tuple[frozenset[tuple[tuple[str, str], ...]], ...]:
    """The traits of the random kernels: of those that answer, and of the unseen ones."""
    return frozenset(map(_key, answering())), frozenset(map(_key, unseen()))


def is_random(twin: Twin) -> bool:
    """Whether it is one of the random kernels that answer."""
    return _key(twin.traits) in _drawn_traits()[0]


class OutsideRangeError(PlotsError):
    """A kernel that recorded twins do not answer for, with each trait that is beyond them."""


# --- The answer -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A strategy in the answer. ``claim``: "faster", "slower" or "not resolved", against baseline
    and the noise; ``equal``: its interval overlaps that of the first."""

    measured: Measured
    claim: str
    equal: bool


@dataclass(frozen=True)
class Answer:
    """Strategies from the fastest to the slowest, for one kernel on one GPU. ``twins`` are those
    that it is from, one when it has just these traits."""

    traits: Traits
    gpu: str
    exact: bool
    twins: tuple[Twin, ...]
    choices: tuple[Choice, ...]
    absent: tuple[Measured, ...]
    noise: tuple[float, float]
    remarks: tuple[str, ...] = ()  # what the reader should know before the answer

    @property
    def first(self) -> str:
        """What to choose: of a twin that was measured the fastest that is claimed to be faster, of
        an answer by others the one that they say is fastest; baseline when none is."""
        for choice in self.choices:
            beyond = choice.claim == "faster" or (
                not self.exact and choice.measured.ratio > max(1, self.noise[1])
            )
            if beyond and choice.claim != "reference":
                return choice.measured.strategy
        return "baseline"


class Between:
    """Twins of one GPU, and the logarithm of each strategy's gain for kernels between them.

    Where twins of random kernels are recorded, they alone decide how wide an interval is: points of
    a grid lie closer to each other than a new kernel lies to any."""

    def __init__(self, twins: Sequence[Twin]) -> None:
        self.twins = tuple(twins)
        self.device = twins[0].device if twins else {}
        random_ones = np.array([is_random(of) for of in self.twins], dtype=bool)
        like_new = random_ones if random_ones.any() else ~random_ones
        self._fields: dict[str, Field] = {}
        self._found: dict[tuple[str, bytes], tuple[float, float]] = {}  # at places asked for before
        for name in NAMES:
            ran = [i for i, of in enumerate(self.twins) if name in of.times]
            if len(ran) >= LEAST:
                there = [self.twins[i] for i in ran]
                self._fields[name] = Field(
                    places_of_twins([of.traits for of in there], name, self.device),
                    np.array([math.log(of.times[name]) for of in there]),
                    NUGGET,
                    like_new[ran],
                )
        self._places = places_of_twins([of.traits for of in self.twins], "baseline", self.device)
        self._kinds: dict[tuple[str, ...], list[int]] = {}
        for number, of in enumerate(self.twins):
            self._kinds.setdefault(kind_of(of.traits), []).append(number)
        self._reach = {
            kind: reach_of([self.twins[i] for i in of]) for kind, of in self._kinds.items()
        }

    def covers(self, traits: Traits) -> bool:
        """Whether a kernel lies in the range of the twins of its kind, in each trait by itself:
        whether outside() has nothing to say of it."""
        reach = self._reach.get(kind_of(traits))
        return reach is not None and not any(beyond_reach(traits, reach))

    def nearest(self, traits: Traits, count: int) -> list[Twin]:
        """Of the same kind, the nearest first."""
        numbers = self._kinds[kind_of(traits)]
        here = place_of(traits, "baseline", self.device)
        return [self.twins[numbers[i]] for i in nearest_points(here, self._places[numbers], count)]

    def _places_of(self, strategy: str, traits: Traits) -> list[np.ndarray]:
        """Of a kernel, and of its twin where that needs more registers."""
        own = registers_of_its_twin(traits)
        more = own > int(traits.get("registers", LEAST_REGISTERS))
        return [
            place_of(traits, strategy, self.device, registers)
            for registers in ((0, own) if more else (0,))
        ]

    def _at(
        self, strategy: str, field: Field, places: Sequence[np.ndarray]
    ) -> list[tuple[float, float]]:
        keys = [(strategy, place.tobytes()) for place in places]
        if not all(key in self._found for key in keys):
            self._found.update(zip(keys, field.at(np.stack(places)), strict=True))
        return [self._found[key] for key in keys]

    def ask_together(self, kernels: Sequence[Traits]) -> None:
        """Finds what said_of() will be asked of these kernels: at all places together it takes a
        twentieth of the time."""
        for strategy, known in self._fields.items():
            places = [place for traits in kernels for place in self._places_of(strategy, traits)]
            if places:
                self._at(strategy, known, places)

    def said_of(self, strategy: str, traits: Traits) -> tuple[float, float] | str:
        """The value of a strategy for a kernel, and half the width of its interval. A text is why
        there is none."""
        field = self._fields.get(strategy)
        if field is None:
            known = sum(strategy in of.times for of in self.twins)
            return f"{known} recorded twins have it, and {LEAST} are needed to answer for others"
        ends = self._at(strategy, field, self._places_of(strategy, traits))
        # A kernel may have more blocks than any twin of its traits. Then the answer reaches from
        # its twin's to that for so many blocks, which is no longer between twins.
        low = min(value - half for value, half in ends)
        high = max(value + half for value, half in ends)
        return (low + high) / 2, (high - low) / 2


@lru_cache(maxsize=2)
def _between(twins: tuple[Twin, ...]) -> Between:
    """An answer, and what it is worth, are asked of the same twins."""
    return Between(twins)


def _gains(traits: Traits, between: Between, chosen: Sequence[Twin]) -> dict[str, Measured]:
    """What the twins say of each strategy, without what it costs. Of baseline, the noise of the
    nearest; a strategy that none of the nearest could have has none."""
    said = {}
    for name in NAMES:
        parts = [of.strategies.get(name, Measured(name, reason="not recorded")) for of in chosen]
        ran = [m for m in parts if m.ok]
        if not ran:
            said[name] = Measured(name, reason=parts[0].reason)
        elif name == "baseline":
            said[name] = Measured(name, 1.0, min(m.low for m in ran), max(m.high for m in ran))
        else:
            found = between.said_of(name, traits)
            if isinstance(found, str):
                said[name] = Measured(name, reason=found)
            else:
                log, half = found
                said[name] = Measured(
                    name, math.exp(log), math.exp(log - half), math.exp(log + half)
                )
    return said


def _priced(m: Measured, traits: Traits, twins: Sequence[Twin]) -> Measured:
    """A strategy that several twins answer for, with what it costs a kernel with these traits;
    without a value where its tiles do not fit."""
    device = twins[0].device
    of_kernel = held(m.strategy, traits, device)
    most = device.get("shared_per_block")
    if most and of_kernel.shared_bytes > most:
        return Measured(
            m.strategy,
            reason=f"it needs {of_kernel.shared_bytes} bytes of shared memory, a block can have "
            f"{most}",
        )
    nearby = [twin.strategies.get(m.strategy) for twin in twins]
    own = ""
    if not indivisible(traits):
        registers = registers_of_its_twin(traits)
        of_twin = held(m.strategy, traits, device, registers)
        if of_twin.blocks_per_sm != of_kernel.blocks_per_sm:
            own = f"{of_twin.blocks_per_sm} in its own twin, which may need {registers} registers"
    needed = [of.kernel["registers"] for of in nearby if of is not None and of.kernel]
    ends = (min(needed), max(needed)) if needed else None
    return replace(m, computed=Computed(of_kernel, ends, own))


def _claim(m: Measured, noise: tuple[float, float]) -> str:
    if m.low > max(1, noise[1]):
        return "faster"
    if m.high < min(1, noise[0]):
        return "slower"
    return "not resolved"


def answer(traits: Traits, twins: Sequence[Twin], asked: Mapping[str, str] | None = None) -> Answer:
    """The answer from twins of one GPU. ``asked`` has the traits as they were given, for messages.
    Raises OutsideRangeError outside the measured range, PlotsError where no block with these traits
    fits on that GPU."""
    if twins and (why := beyond(traits, twins[0].device)):
        raise PlotsError(f"no block with these traits fits on {twins[0].gpu}: {why}")
    given, remarks = traits, ()
    exact = [twin for twin in twins if twin.traits == traits]
    if not exact and int(traits.get("registers", LEAST_REGISTERS)) < LEAST_REGISTERS:
        # Whatever a twin is told, it has no more blocks per SM than with those that it may need.
        traits = {**traits, "registers": str(LEAST_REGISTERS)}
        exact = [twin for twin in twins if twin.traits == traits]
        remarks = (
            f"registers is {given['registers']}, taken as {LEAST_REGISTERS}: a twin may need as "
            "many itself. An SM may hold more blocks of the kernel.",
        )
    if exact:
        chosen = exact[-1:]
        unknown = {name: Measured(name, reason="not recorded") for name in NAMES}
        strategies = {name: chosen[0].strategies.get(name, unknown[name]) for name in NAMES}
    else:
        between = _between(tuple(twins))
        if not between.covers(traits):
            why = "; ".join(outside(traits, twins, asked or {}))
            raise OutsideRangeError(f"outside the measured range: {why}")
        chosen = between.nearest(traits, NEIGHBOURS)
        strategies = {
            name: _priced(m, given, chosen) if m.ok else m
            for name, m in _gains(traits, between, chosen).items()
        }
    return _ranked(given, chosen, strategies, bool(exact), remarks)


def _ranked(
    given: Traits,
    chosen: Sequence[Twin],
    strategies: Mapping[str, Measured],
    exact: bool,
    remarks: tuple[str, ...],
) -> Answer:
    """The strategies from the fastest to the slowest. Raises PlotsError without a baseline."""
    base = strategies["baseline"]
    if not base.ok:
        raise PlotsError(f"the twin has no baseline to compare with: {base.reason}")
    noise = (base.low, base.high)
    ran = [m for m in strategies.values() if m.ok and m.strategy != "baseline"]
    # Its own speed-up is the noise.
    reference = replace(base, ratio=1.0, low=1.0, high=1.0)
    ranked = sorted([*ran, reference], key=lambda m: -m.ratio)
    best = ranked[0]
    choices = [
        Choice(
            m,
            "reference" if m is reference else _claim(m, noise),
            m is best or m.high >= best.low,
        )
        for m in ranked
    ]
    return Answer(
        given, chosen[0].gpu, exact, tuple(chosen), tuple(choices),
        tuple(m for m in strategies.values() if not m.ok), noise, remarks,
    )  # fmt: skip


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


@dataclass(frozen=True)
class Accuracy:
    """How well recorded twins answer for unseen ones, which no answer is made from. ``gain_error``
    are the median and the 90th percentile of the absolute relative errors of ``gains`` speed-ups,
    of which ``covered`` were measured inside the interval of the answer. Of the ``claims`` "faster"
    or "slower" some were measured to be not resolved (``unresolved``) or the opposite."""

    asked: int
    unanswered: int
    within: int  # the strategy named first costs at most WITHIN more than the best
    of_baseline: int  # and so does baseline
    gain_error: tuple[float, float]
    gains: int
    covered: int
    claims: int
    unresolved: int
    opposite: int

    def worth(self) -> str:
        """What an interval and a claim of an answer that was not measured are worth."""
        if not self.gains:
            return ""
        text = (
            f"Of {self.asked} random kernels that no answer is made from, {self.covered} of "
            f"{self.gains} gains ({_percent(self.covered, self.gains)}) were measured inside such "
            "an interval. "
        )
        if not self.claims:
            return text + 'No strategy was claimed to be "faster" or "slower".'
        wrong = self.unresolved + self.opposite
        return text + (
            f'Of {self.claims} claims "faster" or "slower" {wrong} '
            f"({_percent(wrong, self.claims)}) were measured otherwise: {self.unresolved} not "
            f"resolved, {self.opposite} the opposite."
        )

    def sentence(self) -> str:
        """What a reader should know before he believes an answer that was not measured."""
        if not self.asked:
            return (
                "How well such answers hold on this GPU is not known: no unseen twins are recorded "
                "(docs/choosing-a-strategy.md)."
            )
        return (
            f"The error of a gain is {100 * self.gain_error[0]:.1f} % in the median and "
            f"{100 * self.gain_error[1]:.1f} % at the 90th percentile. The strategy named first is "
            f"within {100 * WITHIN:.0f} % of the best in {self.within} of {self.asked} "
            f"({_percent(self.within, self.asked)}); always naming baseline scores "
            f"{self.of_baseline} ({_percent(self.of_baseline, self.asked)}). {self.unanswered} "
            "were outside the measured range."
        )


def accuracy(twins: Sequence[Twin], unseen: Sequence[Twin]) -> Accuracy:
    """Of twins of one GPU, by the ``unseen`` ones of it."""
    unseen = [of for of in unseen if twins and of.gpu == twins[0].gpu]
    _between(tuple(twins)).ask_together([of.traits for of in unseen])
    errors: list[float] = []
    counts: Counter[str] = Counter()
    for of in unseen:
        try:
            said = answer(of.traits, twins)
        except PlotsError:
            counts["unanswered"] += 1
            continue
        counts["asked"] += 1
        measured = answer(of.traits, [of])
        true = {c.measured.strategy: c for c in measured.choices}
        for choice in said.choices:
            name, m = choice.measured.strategy, choice.measured
            if name not in true or name == "baseline":
                continue
            ratio, was = true[name].measured.ratio, true[name].claim
            errors.append(abs(m.ratio / ratio - 1))
            counts["covered"] += m.low <= ratio <= m.high
            if choice.claim in ("faster", "slower"):
                counts["claims"] += 1
                counts["unresolved"] += was == "not resolved"
                counts["opposite"] += was not in ("not resolved", choice.claim)
        best = max(c.measured.ratio for c in measured.choices)
        first = true.get(said.first)
        counts["within"] += first is not None and first.measured.ratio * (1 + WITHIN) >= best
        counts["of_baseline"] += best <= 1 + WITHIN
    errors.sort()

    def quantile(q: float) -> float:
        return errors[min(len(errors) - 1, int(q * len(errors)))] if errors else math.nan

    names = ("asked", "unanswered", "within", "of_baseline", "covered", "claims", "unresolved",
             "opposite")  # fmt: skip
    return Accuracy(
        **{name: counts[name] for name in names},
        gain_error=(quantile(0.5), quantile(0.9)), gains=len(errors),
    )  # fmt: skip
