"""What a comparison says, made of the result file that it is; and what can keep ``compare`` from an
answer. Exceptions of a callable come back as they are, and bad arguments as ValueError and
TypeError."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plots.output import opened_whole


@dataclass(frozen=True)
class Interval:
    """A value with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Timing:
    """An implementation on its own: the median time of a run in ms, and why there is none.

    ``samples`` are all that were taken, throttled ones included, in the order of the rounds.
    """

    name: str
    status: str  # "ok", "failed", "crashed", "skipped"
    reason: str
    median_ms: Interval | None
    samples: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True)
class Comparison:
    """An implementation against the first: ``ratio`` is how many times as fast it is, with the
    interval that holds for all comparisons together at the confidence asked for.

    ``claim`` is "faster", "slower", "not resolved", "within A/A noise" or "measurement invalid".
    """

    name: str
    against: str
    ratio: float
    interval: tuple[float, float]
    claim: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Result:
    """What was measured: ``comparisons`` of each implementation with the first, ``control`` of the
    first with itself (the noise), the ``timings`` by name, ``warnings``, and in ``invalid`` why
    nothing may be claimed. ``text`` is the result file."""

    timings: Mapping[str, Timing]
    comparisons: tuple[Comparison, ...]
    control: Comparison | None
    warnings: tuple[str, ...]
    invalid: tuple[str, ...]
    rounds: int
    text: str = field(repr=False)

    @property
    def document(self) -> dict[str, Any]:
        """The members of the result file (schema/result.schema.json)."""
        return json.loads(self.text)

    def __getitem__(self, name: str) -> Comparison:
        """The comparison of this implementation with the first. Raises KeyError."""
        for comparison in self.comparisons:
            if comparison.name == name:
                return comparison
        raise KeyError(name)

    def _only(self) -> Comparison:
        if len(self.comparisons) != 1:
            names = ", ".join(c.name for c in self.comparisons) or "none"
            raise ValueError(f"there is not one comparison: take one by its name ({names})")
        return self.comparisons[0]

    @property
    def ratio(self) -> float:
        """Of two implementations: how many times as fast the second is."""
        return self._only().ratio

    @property
    def interval(self) -> tuple[float, float]:
        """Of two implementations: the interval of ``ratio``."""
        return self._only().interval

    @property
    def claim(self) -> str:
        """Of two implementations: what may be said of the second."""
        return self._only().claim

    @property
    def sentence(self) -> str:
        """Of two implementations: the claim as a sentence."""
        return self._only().sentence

    def __str__(self) -> str:
        lines = [c.sentence for c in self.comparisons]
        lines += [f"warning: {text}" for text in self.warnings]
        lines += [f"invalid: {text}" for text in self.invalid]
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the result file, whole or not at all; ``python -m plots`` and ``amasia merge``
        read it. A name that ends with .gz is of a compressed file. Of a link the target is written;
        a device is written to. Raises OSError."""
        target = Path(path)
        with opened_whole(target) as file:
            file.write(self.text)
        return target


def _timing(name: str, row: Mapping[str, Any]) -> Timing:
    time = row.get("time_ms")
    return Timing(
        name=name,
        status=row["status"],
        reason=row.get("reason", ""),
        median_ms=None if time is None else Interval(time["median"], time["low"], time["high"]),
        samples=tuple(row["samples"]["time_ms"]),
    )


def from_text(text: str, answers: Sequence[str], names: Sequence[str]) -> Result:
    """The result of a file of one group whose baseline is the first of ``names``. ``answers`` has a
    sentence for each of its comparisons."""
    (group,) = json.loads(text)["groups"]
    first = names[0]

    def name_of(variant: str) -> str:
        name = variant.split("/", 1)[1]
        return first if name == "baseline" else name

    found, control = [], None
    for c, sentence in zip(group["comparisons"], answers, strict=True):
        speedup = c["speedup"]
        comparison = Comparison(
            name=name_of(c["variant"]),
            against=first,
            ratio=speedup["ratio"],
            interval=(speedup["low"], speedup["high"]),
            claim=c["claim"],
            sentence=sentence,
        )
        if c["control"]:
            control = comparison
        else:
            found.append(comparison)
    rows = {name_of(row["variant"]): row for row in group["rows"] if not row.get("repeat")}
    return Result(
        timings={name: _timing(name, rows[name]) for name in names},
        comparisons=tuple(found),
        control=control,
        warnings=tuple(group["warnings"]),
        invalid=tuple(
            f"{i['kind']}: {i['reason']}; {i['remedy']}" for i in group.get("invalid", [])
        ),
        rounds=group["rounds"],
        text=text,
    )


# --- Errors ---------------------------------------------------------------------------------------


class AmasiaError(RuntimeError):
    """Any of the below."""


class LibraryMissing(AmasiaError):
    """libamasia_compare was not found, or is of another version than this package."""


class NoDevice(AmasiaError):
    """No GPU that can be measured on; the message has the reason."""


class NotMeasured(AmasiaError):
    """An implementation has no time: its work is not on the stream, or it took the device down.
    ``result`` has what was measured of the others."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class WrongResult(NotMeasured):
    """The verification refused the outputs of an implementation."""


class NotSaved(AmasiaError):
    """All was measured, and ``out`` could not be written. ``result`` has everything, ``path`` is
    where it was written instead, None where that was not possible either."""

    def __init__(self, message: str, result: Result, path: Path | None) -> None:
        super().__init__(message)
        self.result = result
        self.path = path
