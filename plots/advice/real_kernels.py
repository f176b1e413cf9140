"""What advice was worth for real kernels: the examples, which are not in the suite, and apps that
came into it later. The twins were asked of each before it was measured.

Such a kernel has traits.toml in its folder, and ``results/advice/<name>.json`` keeps what was asked
and answered, once and for good. An example was measured into a file for each GPU, an app at the
sizes of the preset paper. Twins answer about movement at one schedule. A user gets the whole gain,
a strategy at its best over baseline at its best: the strategy named first is a hit where it is
within 5 % of the fastest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from plots.advice import twin
from plots.data.load import load
from plots.errors import PlotsError
from plots.judge.gains import Gain, gains_of
from plots.tree import ROOT

RECORDED = ROOT / "results"
WITHIN = twin.WITHIN  # a choice that costs no more than this share is as good as the best


class Advised(msgspec.Struct, frozen=True):
    """The answer for one strategy: speed-up over baseline at the same schedule; ``claim`` is
    "faster", "slower", "not resolved" or "reference"; ``reason`` says why there is no speed-up."""

    strategy: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    claim: str = ""
    reason: str = ""


class Advice(msgspec.Struct, frozen=True):
    """What was asked of the recorded twins, when, and the answer. ``nearest``: by which traits the
    kernel differs that was answered for, where the one asked about was outside the record."""

    asked: str
    gpu: str
    traits: dict[str, str]
    first: str
    strategies: tuple[Advised, ...]
    nearest: dict[str, str] = {}

    def of(self, strategy: str) -> Advised | None:
        """The answer for one strategy, if it was named."""
        return next((a for a in self.strategies if a.strategy == strategy), None)


def names(folder: Path = RECORDED) -> list[str]:
    """The kernels, by name."""
    return sorted(path.stem for path in folder.glob("advice/*.json"))


def read_advice(path: Path) -> list[Advice]:
    """What such a file holds: an answer from the twins of each GPU that was asked, in that order.
    Raises PlotsError."""
    try:
        answers = msgspec.json.decode(path.read_bytes(), type=list[Advice])
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    except msgspec.DecodeError as error:
        raise PlotsError(f"{path}: no advice is recorded there ({error})") from None
    if not answers:
        raise PlotsError(f"{path}: no advice is recorded there")
    return answers


def advice_for(gpu: str, answers: Sequence[Advice]) -> Advice:
    """The answer for a GPU: one about the kernel itself before one about the nearest, then that of
    the GPU's own twins, then the first there is."""
    return min(answers, key=lambda a: (bool(a.nearest), a.gpu != gpu))


def result_files(name: str, folder: Path = RECORDED) -> list[Path]:
    """What was measured of a kernel."""
    found = [*folder.glob(f"examples/{name}/*.json*"), *folder.glob(f"*/paper-{name}.json*")]
    return sorted(found)


@dataclass(frozen=True)
class Case:
    """A kernel at one size in one launch mode on one GPU, caches cold; what was advised for it."""

    name: str
    gpu: str
    size_label: str
    launch: str
    gains: tuple[Gain, ...]
    advice: Advice

    @property
    def best(self) -> Gain | None:
        """Of the strategy that ran fastest; None where that is baseline."""
        faster = [g for g in self.gains if g.total.ratio > 1]
        return max(faster, key=lambda g: g.total.ratio, default=None)

    def cost(self, strategy: str) -> float | None:
        """By which share this choice was slower than the best, baseline included; None where it was
        not measured."""
        totals = {"baseline": 1.0, **{g.strategy: g.total.ratio for g in self.gains}}
        return max(totals.values()) / totals[strategy] - 1 if strategy in totals else None

    def hit(self, strategy: str) -> bool:
        """Whether this choice is as good as the best."""
        cost = self.cost(strategy)
        return cost is not None and cost <= WITHIN

    @property
    def placed(self) -> list[bool]:
        """Of each gain by movement that was advised, whether it was measured inside."""
        found = [inside(g, self.advice.of(g.strategy)) for g in self.gains]
        return [place for place in found if place is not None]


def inside(gain: Gain, advised: Advised | None) -> bool | None:
    """Whether the measured interval of the gain by movement meets the one that was advised; None
    where none was."""
    if advised is None or advised.low is None or advised.high is None:
        return None
    return gain.by_movement.high >= advised.low and gain.by_movement.low <= advised.high


def cases_of(name: str, folder: Path = RECORDED) -> list[Case]:
    """By GPU, size and launch mode; none while nothing was measured. Raises ResultFileError,
    PlotsError."""
    answers = read_advice(folder / "advice" / f"{name}.json")
    files = result_files(name, folder)
    groups: dict[tuple[str, str, str], list[Gain]] = {}
    for gain in gains_of(load(files)) if files else ():
        if (gain.app, gain.cache) == (name, "cold"):
            groups.setdefault((gain.gpu, gain.size_label, gain.launch), []).append(gain)
    return [
        Case(name, *key, tuple(of), advice_for(key[0], answers))
        for key, of in sorted(groups.items())
    ]


def all_cases(folder: Path = RECORDED) -> list[Case]:
    """Of every kernel that advice was asked for."""
    return [case for name in names(folder) for case in cases_of(name, folder)]


@dataclass(frozen=True)
class Worth:
    """What advice was worth for the kernels on one GPU: of ``gains`` by movement how many were
    inside the advised interval; in how many ``cases`` the strategy named first was a hit, and
    baseline would have been."""

    gpu: str
    gains: int
    inside: int
    cases: int
    hits: int
    of_baseline: int

    def text(self) -> str:
        """The clause of one GPU in sentence()."""
        return (
            f"on {self.gpu} {self.inside} of {self.gains} gains "
            f"({100 * self.inside / self.gains:.0f} %) were measured inside the interval, and the "
            f"strategy named first was within {100 * WITHIN:.0f} % of the best in {self.hits} of "
            f"{self.cases} cases, where always naming baseline scores {self.of_baseline}"
        )


def worth_of(cases: Sequence[Case]) -> list[Worth]:
    """What advice was worth, by GPU; none of a GPU on which no gain was advised."""
    found = []
    for gpu in sorted({case.gpu for case in cases}):
        mine = [case for case in cases if case.gpu == gpu]
        placed = [place for case in mine for place in case.placed]
        hits = sum(case.hit(case.advice.first) for case in mine)
        plain = sum(case.hit("baseline") for case in mine)
        if placed:
            found.append(Worth(gpu, len(placed), sum(placed), len(mine), hits, plain))
    return found


def sentence(cases: Sequence[Case]) -> str:
    """The same in a sentence, for wherever the accuracy of advice is given, which says first where
    it is worth nothing; "" where no kernel was measured."""
    worth = worth_of(cases)
    if not worth:
        return ""
    kernels = sorted({case.name for case in cases})
    said = (
        f"Of {len(kernels)} real kernels ({', '.join(kernels)}), asked before they were measured: "
        f"{'; '.join(of.text() for of in worth)}."
    )
    if sum(of.hits for of in worth) <= sum(of.of_baseline for of in worth):
        return f"For real kernels this is no better than always naming baseline. {said}"
    return said
