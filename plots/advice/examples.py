"""What advice was worth for real kernels: three that are not in the suite. The twins were asked of
each before it was measured.

An example is a folder of examples/ with traits.toml. ``results/examples/<example>/`` has a result
file for each GPU, and ``advice.json``: what was asked and answered before that, once and for good.
Twins answer about movement at one schedule. A user gets the whole gain, a strategy at its best over
baseline at its best: the strategy named first is a hit where it is within 5 % of the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from plots.advice import twin
from plots.data.load import load
from plots.errors import PlotsError
from plots.judge.gains import Gain, gains_of
from plots.tree import ROOT

RECORDED = ROOT / "results" / "examples"
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
    """What was asked of the recorded twins, when, and the answer."""

    asked: str
    gpu: str
    traits: dict[str, str]
    first: str
    strategies: tuple[Advised, ...]

    def of(self, strategy: str) -> Advised | None:
        """The answer for one strategy, if it was named."""
        return next((a for a in self.strategies if a.strategy == strategy), None)


def names(folder: Path = RECORDED) -> list[str]:
    """The examples, by name."""
    return sorted(path.parent.name for path in folder.glob("*/advice.json"))


def read_advice(path: Path) -> list[Advice]:
    """What advice.json holds: an answer from the twins of each GPU that was asked, in that order.
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
    """The answer of a GPU's own twins; where those were not asked, the first answer there is."""
    return next((a for a in answers if a.gpu == gpu), answers[0])


def result_files(name: str, folder: Path = RECORDED) -> list[Path]:
    """What was measured of an example."""
    return sorted(p for p in folder.joinpath(name).glob("*.json*") if p.name != "advice.json")


@dataclass(frozen=True)
class Case:
    """An example at one size in one launch mode on one GPU, caches cold."""

    gpu: str
    size_label: str
    launch: str
    gains: tuple[Gain, ...]

    def hit(self, first: str) -> bool:
        """Whether the strategy that was named first is as good as the best, baseline included."""
        totals = {"baseline": 1.0, **{g.strategy: g.total.ratio for g in self.gains}}
        return totals.get(first, 0.0) * (1 + WITHIN) >= max(totals.values())


def cases_of(name: str, folder: Path = RECORDED) -> list[Case]:
    """By GPU, size and launch mode; none while nothing was measured. Raises ResultFileError."""
    files = result_files(name, folder)
    groups: dict[tuple[str, str, str], list[Gain]] = {}
    for gain in gains_of(load(files)) if files else ():
        if (gain.app, gain.cache) == (name, "cold"):
            groups.setdefault((gain.gpu, gain.size_label, gain.launch), []).append(gain)
    return [Case(*key, tuple(of)) for key, of in sorted(groups.items())]


def inside(gain: Gain, advised: Advised | None) -> bool | None:
    """Whether the measured interval of the gain by movement meets the one that was advised; None
    where none was."""
    if advised is None or advised.low is None or advised.high is None:
        return None
    return gain.by_movement.high >= advised.low and gain.by_movement.low <= advised.high


@dataclass(frozen=True)
class Worth:
    """What advice was worth for the examples on one GPU: of ``gains`` by movement how many were
    inside the advised interval; in how many ``cases`` the strategy named first was a hit, and
    baseline would have been."""

    gpu: str
    gains: int
    inside: int
    cases: int
    hits: int
    of_baseline: int

    def text(self) -> str:
        """The clause of one GPU in real_kernels()."""
        return (
            f"on {self.gpu} {self.inside} of {self.gains} gains "
            f"({100 * self.inside / self.gains:.0f} %) were measured inside the interval, and the "
            f"strategy named first was within {100 * WITHIN:.0f} % of the best in {self.hits} of "
            f"{self.cases} cases, where always naming baseline scores {self.of_baseline}"
        )


def worth_of(folder: Path = RECORDED) -> list[Worth]:
    """What advice was worth for the examples, by GPU. Raises PlotsError, ResultFileError."""
    judged: dict[str, list[tuple[Case, Advice]]] = {}
    for name in names(folder):
        answers = read_advice(folder / name / "advice.json")
        for case in cases_of(name, folder):
            judged.setdefault(case.gpu, []).append((case, advice_for(case.gpu, answers)))
    found = []
    for gpu, of_gpu in sorted(judged.items()):
        placed = [inside(g, advice.of(g.strategy)) for case, advice in of_gpu for g in case.gains]
        known = [p for p in placed if p is not None]
        hits = sum(case.hit(advice.first) for case, advice in of_gpu)
        plain = sum(case.hit("baseline") for case, _ in of_gpu)
        found.append(Worth(gpu, len(known), sum(known), len(of_gpu), hits, plain))
    return found


def real_kernels(folder: Path = RECORDED) -> str:
    """The same in a sentence, for wherever the accuracy of advice is given; "" where no example was
    measured."""
    worth = [of for of in worth_of(folder) if of.gains]
    if not worth:
        return ""
    count = len(names(folder))
    return (
        f"Of {count} real kernels outside the suite (examples/), asked before they were "
        f"measured: {'; '.join(of.text() for of in worth)}."
    )
