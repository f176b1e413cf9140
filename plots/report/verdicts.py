"""The answer in one line: which strategy wins an app on a GPU, and one sentence for the GPU.

README, the report and (in the same words) the closing lines of a run show these verdicts. They are
made of the judged comparisons (plots/advice/advise.py), at each app's main size and mode.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from plots.advice.advise import Advice, advise
from plots.data.load import Results, main_cache, main_launch, main_size, strategy_order
from plots.units import claimed_ratio

_MOST_NAMES = 3  # of strategies listed; a line has at most 20 words


@dataclass(frozen=True)
class Verdict:
    """What won one app at one size. ``label`` is the app, with its arithmetic where several were
    measured ("gemm bf16")."""

    label: str
    advice: Advice

    @property
    def winners(self) -> tuple[str, ...]:
        """The fastest strategy ("baseline" included) and those that are not distinguishable from
        it; empty where none was found faster than baseline and baseline does not win."""
        if self.advice.outcome == "baseline":
            return ("baseline",)
        if self.advice.strategy is None:
            return ()
        return (self.advice.strategy, *self.advice.rivals)

    @property
    def text(self) -> str:
        """The verdict without its label, at most 18 words."""
        a = self.advice
        base = "the tuned baseline" if a.role == "best" else "the baseline"
        match a.outcome:
            case "faster":
                ratio = claimed_ratio(a.ratio, a.low, a.high)
                ties = f"; ties with {_named(a.rivals)}" if a.rivals else ""
                return f"{a.strategy} {ratio} faster than {base}{ties} ({a.runs})"
            case "baseline":
                return f"{base} wins: every other strategy is slower"
            case "schedule" if a.gain is not None:
                ratio = claimed_ratio(a.gain.total.ratio, a.gain.total.low, a.gain.total.high)
                return f"{a.gain.strategy} {ratio} faster than {base} by its schedule alone"
            case "not resolved" if a.tie:
                most = f"{math.ceil(1000 * a.tie) / 10:.1f} %"
                return f"a tie: {_named(a.undecided)} and {base} differ by at most {most}"
            case "not resolved":
                return f"not resolved between {_named(a.undecided)} and {base}"
            case _:
                return "not compared with baseline"

    @property
    def line(self) -> str:
        """The verdict with its label, at most 20 words."""
        return f"{self.label}: {self.text}"


def _named(names: Sequence[str]) -> str:
    """ "tma", "tma, dsm", or "tma, dsm, overlap, 2 more"."""
    shown, more = list(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    return ", ".join([*shown, f"{more} more"] if more > 0 else shown)


def _labels(results: Results) -> dict[tuple[str, str], str]:
    """The label of each (app, size) that gets a verdict: the main size, and the sizes that differ
    from it in the arithmetic (``mode``) alone."""
    labels = {}
    for app in sorted(set(results.groups["app"])):
        main = main_size(results.groups, app)
        if main is None:
            continue
        of_app = results.groups[results.groups["app"] == app]
        sizes = dict(zip(of_app["size"], of_app["parameters"], strict=True))
        wanted = {**sizes[main]}
        mode = wanted.pop("mode", None)
        for size, parameters in {main: sizes[main], **sizes}.items():
            other = {**parameters}
            found = other.pop("mode", None)
            if size == main or (mode and found and other == wanted):
                labels[app, size] = f"{app} {found}" if found else app
    return labels


def verdicts(results: Results, advice: Sequence[Advice] | None = None) -> list[Verdict]:
    """A verdict per app, for ``results`` of one GPU, in the cache and launch mode that single
    pictures show. ``advice`` is ``advise(results)`` where the caller has it."""
    cache, launch = main_cache(results.groups), main_launch(results.groups)
    labels = _labels(results.where(cache=cache, launch=launch))
    found = {
        (a.app, a.size): a
        for a in (advise(results) if advice is None else advice)
        if (a.cache, a.launch) == (cache, launch)
    }
    return [Verdict(label, found[key]) for key, label in labels.items() if key in found]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def _of_all_cases(advice: Sequence[Advice], cache: str | None, launch: str | None) -> str:
    """In how many cases (app and size) a strategy beats baseline, each case in one mode."""
    cases: dict[tuple[str, str], Advice] = {}
    for a in sorted(advice, key=lambda a: (a.cache != cache, a.launch != launch)):
        cases.setdefault((a.app, a.size), a)
    gains = [a.ratio for a in cases.values() if a.outcome == "faster"]
    beats = "a strategy beats the tuned baseline in"
    if not gains:
        return f"{beats} none of {len(cases)} cases"
    return f"{beats} {len(gains)} of {len(cases)} cases, by {median(gains):.2f}× (median)"


def overall(results: Results, advice: Sequence[Advice] | None = None) -> str:
    """Sentences for ``results`` of one GPU: in how many cases a strategy beats baseline, then who
    wins which app at its main size, which strategies tie, and where nobody wins."""
    advice = advise(results) if advice is None else advice
    cache, launch = main_cache(results.groups), main_launch(results.groups)
    won: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for verdict in verdicts(results, advice):
        won[tuple(strategy_order(verdict.winners))].append(verdict.label)
    by_number = sorted(won.items(), key=lambda item: (len(item[0]), -len(item[1])))
    wins = [f"{by[0]} wins {_listed(labels)}" for by, labels in by_number if len(by) == 1]
    ties = [f"{_listed(by)} tie for {_listed(labels)}" for by, labels in by_number if len(by) > 1]
    said = ["; ".join(sentence) for sentence in (wins, ties) if sentence]
    if () in won:
        said.append(f"{'No' if said else 'no'} strategy wins {_listed(won[()])}")
    if said:
        said[0] = f"At the main size {said[0]}"
    all_cases = f"{results.gpus[0]}: {_of_all_cases(advice, cache, launch)}"
    return " ".join(f"{sentence}." for sentence in (all_cases, *said))
