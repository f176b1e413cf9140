"""Three kernels that are not in the suite: what the twin said of them before they were measured,
and what was measured.

An example is a folder of examples/ with traits.toml. ``results/examples/<example>/`` has a result
file for each GPU, and ``advice.json``: what was asked and answered before that, once and for good.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plots.advice import twin
from plots.data.load import load
from plots.errors import PlotsError
from plots.judge.gains import Gain, gains_of
from plots.markdown import MADE, table
from plots.tree import ROOT
from plots.units import times

RECORDED = ROOT / "results" / "examples"
WITHIN = twin.WITHIN  # a choice that costs no more than this share is as good as the best


# --- Advice ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Advised:
    """What was said of one strategy: the speed-up over baseline at equal schedule, ``claim``
    "faster", "slower", "not resolved" or "reference"; ``reason`` says why there is none."""

    strategy: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    claim: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Advice:
    """What was asked of the recorded twins, and the answer."""

    asked: str  # date
    gpu: str
    traits: dict[str, str]
    first: str
    strategies: tuple[Advised, ...]

    def of(self, strategy: str) -> Advised | None:
        """What was said of one strategy; None when it was not named."""
        return next((a for a in self.strategies if a.strategy == strategy), None)


def names(folder: Path = RECORDED) -> list[str]:
    """The examples, by name."""
    return sorted(path.parent.name for path in folder.glob("*/advice.json"))


def _advised(found: twin.Answer) -> tuple[Advised, ...]:
    """What an answer says of each strategy."""
    said = [
        Advised(c.measured.strategy, c.measured.ratio, c.measured.low, c.measured.high, c.claim)
        for c in found.choices
    ]
    return (*said, *(Advised(m.strategy, reason=m.reason) for m in found.absent))


def read_advice(path: Path) -> list[Advice]:
    """What advice.json holds: an answer from the twins of each GPU that was asked, in that order.
    Raises PlotsError."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        answers = [
            Advice(
                record["asked"], record["gpu"], record["traits"], record["first"],
                tuple(Advised(**a) for a in record["strategies"]),
            )
            for record in records
        ]  # fmt: skip
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError) as error:
        raise PlotsError(f"{path}: no advice is recorded there ({error!r})") from None
    if not answers:
        raise PlotsError(f"{path}: no advice is recorded there")
    return answers


def advice_for(gpu: str, answers: Sequence[Advice]) -> Advice:
    """The answer of a GPU's own twins; where those were not asked, the first answer there is."""
    return next((a for a in answers if a.gpu == gpu), answers[0])


# --- Outcome --------------------------------------------------------------------------------------


def result_files(name: str, folder: Path = RECORDED) -> list[Path]:
    """What was measured of an example."""
    return sorted(p for p in folder.joinpath(name).glob("*.json*") if p.name != "advice.json")


@dataclass(frozen=True)
class Outcome:
    """What was measured of an example, caches cold. ``floors``: of each group the share of the
    floor that baseline at its best reaches."""

    gains: tuple[Gain, ...] = ()
    floors: Mapping[str, float] = field(default_factory=dict)


def outcome(name: str, folder: Path = RECORDED) -> Outcome:
    """Without gains while nothing was measured. Raises ResultFileError."""
    files = result_files(name, folder)
    if not files:
        return Outcome()
    results = load(files)
    gains = [g for g in gains_of(results) if g.app == name and g.cache == "cold"]
    rows = results.rows
    of_baseline = rows[
        (rows["strategy"] == "baseline") & (rows["role"] == "best") & (rows["repeat"] == 0)
    ]
    floors = dict(zip(of_baseline["group"], of_baseline["floor_fraction"], strict=True))
    return Outcome(tuple(gains), floors)


@dataclass(frozen=True)
class Case:
    """An example at one size in one launch mode on one GPU."""

    gpu: str
    size_label: str
    launch: str
    gains: tuple[Gain, ...]
    floor: float = math.nan  # share of it that baseline at its best reaches

    def total(self, strategy: str) -> float | None:
        """A strategy at its best against baseline at its best; None where it was not measured."""
        if strategy == "baseline":
            return 1.0
        return next((g.total.ratio for g in self.gains if g.strategy == strategy), None)

    @property
    def best(self) -> str:
        """The fastest, each at its best."""
        every = ["baseline", *(g.strategy for g in self.gains)]
        return max(every, key=lambda name: self.total(name) or 0)

    def hit(self, first: str) -> bool:
        """Whether the strategy that was named first is as good as the best."""
        return (self.total(first) or 0) * (1 + WITHIN) >= (self.total(self.best) or 0)


def cases_of(measured: Outcome) -> list[Case]:
    """The cases, by GPU, size and launch mode."""
    groups: dict[tuple[str, str, str], list[Gain]] = {}
    for g in measured.gains:
        groups.setdefault((g.gpu, g.size_label, g.launch), []).append(g)
    return [
        Case(*key, tuple(of), measured.floors.get(of[0].group, math.nan))
        for key, of in sorted(groups.items(), key=lambda item: item[0])
    ]


Examples = Mapping[str, tuple[list[Advice], list[Case]]]  # by name: answers, outcomes


def inside(gain: Gain, advised: Advised | None) -> str:
    """Whether what movement gained lies where the advice said: "inside", "above", "below", or "–"
    where nothing was said."""
    if advised is None or advised.ratio is None or advised.low is None or advised.high is None:
        return "–"
    part = gain.by_movement
    if part.high < advised.low:
        return "below"
    return "above" if part.low > advised.high else "inside"


@dataclass(frozen=True)
class Claims:
    """What became of the strategies that were advised as one thing, "faster" or "slower": how many
    were measured so by movement, not resolved, or the other way."""

    advised: str
    kept: int = 0
    unresolved: int = 0
    opposite: int = 0

    @property
    def made(self) -> int:
        """How many there were."""
        return self.kept + self.unresolved + self.opposite

    def text(self) -> str:
        """In words; of none nothing is counted."""
        if not self.made:
            return f'none was advised as "{self.advised}"'
        return (
            f'of {self.made} advised as "{self.advised}" {self.kept} were measured so, '
            f"{self.unresolved} not resolved, {self.opposite} the other way"
        )


def claims_of(judged: Sequence[tuple[Case, Advice]], advised: str) -> Claims:
    """Of the strategies that were measured, each in each case."""
    found = {"kept": 0, "unresolved": 0, "opposite": 0}
    for case, advice in judged:
        for gain in case.gains:
            said = advice.of(gain.strategy)
            if said is None or said.claim != advised:
                continue
            was = gain.by_movement.claim
            opposite = {"faster": "slower", "slower": "faster"}[advised]
            found[
                "kept" if was == advised else "opposite" if was == opposite else "unresolved"
            ] += 1
    return Claims(advised, **found)


@dataclass(frozen=True)
class Worth:
    """What advice was worth for the examples on one GPU: of ``gains`` by movement how many lay
    where the advice said; in how many of the ``cases`` the strategy named first was a hit, and
    baseline would have been."""

    gpu: str
    gains: int
    inside: int
    cases: int
    hits: int
    of_baseline: int

    def text(self) -> str:
        """ "NVIDIA H200: 12 of 28 gains inside; first named 7 of 7, always baseline 6"."""
        return (
            f"on {self.gpu} {self.inside} of {self.gains} gains "
            f"({100 * self.inside / self.gains:.0f} %) were measured inside the interval, and the "
            f"strategy named first was within {100 * WITHIN:.0f} % of the best in {self.hits} of "
            f"{self.cases} cases, where always naming baseline scores {self.of_baseline}"
        )


def _found(folder: Path) -> dict[str, tuple[list[Advice], list[Case]]]:
    return {
        name: (read_advice(folder / name / "advice.json"), cases_of(outcome(name, folder)))
        for name in names(folder)
    }


def _with_advice(found: Examples) -> dict[str, list[tuple[Case, Advice]]]:
    """GPU -> its cases, each with the advice that was given before it was measured."""
    judged: dict[str, list[tuple[Case, Advice]]] = {}
    for answers, cases in found.values():
        for case in cases:
            judged.setdefault(case.gpu, []).append((case, advice_for(case.gpu, answers)))
    return {gpu: judged[gpu] for gpu in sorted(judged)}


def worth_of(folder: Path = RECORDED) -> list[Worth]:
    """What advice was worth for the examples, by GPU. Raises PlotsError, ResultFileError."""
    found = []
    for gpu, judged in _with_advice(_found(folder)).items():
        placed = [inside(g, advice.of(g.strategy)) for case, advice in judged for g in case.gains]
        said = [p for p in placed if p != "–"]
        hits = sum(case.hit(advice.first) for case, advice in judged)
        plain = sum(case.hit("baseline") for case, _ in judged)
        found.append(Worth(gpu, len(said), said.count("inside"), len(judged), hits, plain))
    return found


def real_kernels(folder: Path = RECORDED) -> str:
    """The same in a sentence, to stand wherever the accuracy of advice is said; "" where no example
    was measured."""
    worth = [of for of in worth_of(folder) if of.gains]
    if not worth:
        return ""
    count = len(names(folder))
    return (
        f"Of {count} real kernels outside the suite (examples/), asked before they were "
        f"measured: {'; '.join(of.text() for of in worth)}."
    )


# --- The page -------------------------------------------------------------------------------------

_INTRO = f"""\
# Three kernels that are not in the suite

{MADE} Of `results/examples/` and of the recorded twins; no number here was typed.

Each example is an app outside the suite, built on what is installed and nothing else
([your-own-app.md](your-own-app.md)), with a baseline that has the same care as the strategies.
Its traits were written down and the [twin](twin.md) was asked which strategy suits them before it
was measured on that GPU for the first time. The twin's answer is about movement at one schedule.
What a user gets is the whole gain, strategy at its best against baseline at its best: the strategy
that was named first is a *hit* where it is within 5 % of the fastest. A hit does not say that the
claim was true: a strategy said to be faster that is 2 % slower is one, too. So the claims "faster"
and "slower" are counted by themselves, each strategy in each case, against its gain by movement.
"""


_AGAIN = """\
## Asked again

The advice above was given from the twins and by the method of its day, four nearest points of a
grid. What the twins that are recorded now say of the same traits is held against the same outcome
here. It was asked after the measurement and proves less: no time of an example is in the answer,
but how far an interval reaches for a kernel that has more blocks than its twin was decided with
these outcomes in sight.
"""


def _interval(advised: Advised) -> str:
    if advised.ratio is None:
        return advised.reason
    if advised.claim == "reference":
        return "1, the reference"
    return f"{times(advised.ratio)} [{advised.low:.2f}, {advised.high:.2f}] {advised.claim}"


def _advice_table(answers: Sequence[Advice]) -> list[str]:
    names = dict.fromkeys(a.strategy for advice in answers for a in advice.strategies)
    head = ["strategy", *(f"twins of {advice.gpu}" for advice in answers)]
    lines = []
    for name in names:
        said = [advice.of(name) for advice in answers]
        lines.append([name, *("–" if a is None else _interval(a) for a in said)])
    return table(head, lines, texts=len(head)).splitlines()


def _judged(gain: Gain, advice: Advice) -> str:
    """What became of the claim of one strategy in one case."""
    said = advice.of(gain.strategy)
    if said is None or said.claim not in ("faster", "slower"):
        return "–"
    was = gain.by_movement.claim
    if was == said.claim:
        return f"{said.claim}: so"
    return f"{said.claim}: {'the other way' if was in ('faster', 'slower') else 'not resolved'}"


def _case_table(case: Case, advice: Advice) -> list[str]:
    head = ("strategy", "by movement, at its schedule", "where the advice said", "its claim",
            "in all")  # fmt: skip
    lines = [
        (g.strategy, f"{g.by_movement.text()} ({g.schedule})", inside(g, advice.of(g.strategy)),
         _judged(g, advice), g.total.text())
        for g in sorted(case.gains, key=lambda g: -g.total.ratio)
    ]  # fmt: skip
    return table(head, lines, texts=len(head)).splitlines()


def _verdict(case: Case, advice: Advice) -> str:
    first = case.total(advice.first)
    best = case.best
    if first is None:
        return f"{advice.first}, which was named first, was not measured; the fastest is {best}."
    word = "**hit**" if case.hit(advice.first) else "**miss**"
    text = f"{word}: {advice.first}, which was named first, is the fastest."
    if best != advice.first:
        ahead = (case.total(best) or 1) / first - 1
        text = f"{word}: {advice.first} was named first, {best} is {100 * ahead:.1f} % faster."
    if math.isfinite(case.floor):
        text += f" Baseline at its best reaches {100 * case.floor:.0f} % of the floor."
    return text


def _placed(judged: Sequence[tuple[Case, Advice]]) -> str:
    """Where the gains of all cases lie beside what was said of them, and what became of claims."""
    placed = [inside(g, advice.of(g.strategy)) for case, advice in judged for g in case.gains]
    said = [p for p in placed if p != "–"]
    return (
        f"Of the gains by movement {said.count('inside')} of {len(said)} lie where the advice "
        f"said, {said.count('above')} above, {said.count('below')} below.\n"
        f"Claims by movement, apart from hits: {claims_of(judged, 'faster').text()}; "
        f"{claims_of(judged, 'slower').text()}.\n"
    )


def _again(found: Examples, results: Sequence[Path | str]) -> str:
    """The same of the answers that the twins recorded now give, for each GPU with an outcome."""
    twins = twin.recorded_twins(results)
    parts: list[str] = []
    for gpu in sorted({case.gpu for _, cases in found.values() for case in cases}):
        of_gpu = [t for t in twins if t.gpu == gpu]
        judged = []
        for answers, cases in found.values() if of_gpu else ():
            asked = advice_for(gpu, answers)
            try:
                answer = twin.answer(asked.traits, of_gpu)
            except twin.OutsideRangeError:
                continue  # then nothing is said
            now = replace(asked, first=answer.first, strategies=_advised(answer))
            judged += [(case, now) for case in cases if case.gpu == gpu]
        if judged:
            parts.append(f"On {gpu}, in {len(judged)} cases. {_placed(judged)}")
    return "\n".join([_AGAIN, *parts]) if parts else ""


def _sums(gpu: str, judged: Sequence[tuple[Case, Advice]]) -> str:
    hits = [case.hit(advice.first) for case, advice in judged]
    plain = sum(case.hit("baseline") for case, _ in judged)
    return (
        f"On {gpu} the strategy named first was a hit in {sum(hits)} of {len(hits)} cases; whoever "
        f"had named baseline each time would have had {plain}.\n{_placed(judged)}"
    )


def page(folder: Path = RECORDED, results: Sequence[Path | str] = (ROOT / "results",)) -> str:
    """The page. Raises PlotsError, ResultFileError."""
    found = _found(folder)
    judged = _with_advice(found)
    lines = [_INTRO, *(_sums(gpu, of_gpu) for gpu, of_gpu in judged.items())]
    lines.append(_again(found, results) if judged else "Not measured yet.\n")
    for name, (answers, cases) in found.items():
        of_example = f"../examples/{name}"
        named = " and ".join(f"**{a.first}** by those of {a.gpu}" for a in answers)
        lines.append(f"## {name}\n")
        lines.append(
            f"[What it is]({of_example}/README.md) · [traits]({of_example}/traits.toml). "
            f"Named first by the twins: {named}.\n"
        )
        lines += [*_advice_table(answers), ""]
        for case in cases:
            advice = advice_for(case.gpu, answers)
            lines.append(f"### {name} on {case.gpu}, {case.size_label}, {case.launch}\n")
            lines += [_verdict(case, advice), "", *_case_table(case, advice), ""]
        if not cases:
            lines.append("Not measured yet.\n")
    return "\n".join(lines).rstrip() + "\n"
