"""A file is believed where its samples bear it out, by the rules of the harness.

The harness computes what follows from the samples (harness/results/summary.cpp) and checks it when
it reads a file (recomputed.cpp). Here it is computed a second time, independently, and checked in
the same way.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from plots.statistics.claims import INVALID, NOT_RESOLVED, claim_of, earlier_claim_of, set_claims
from plots.statistics.intervals import (
    Spread,
    corrected_confidence,
    median_interval,
    spread_of_rounds,
    variance_inflation,
)

Record = dict[str, Any]


class Difference(Exception):
    """A member is not what the rest of the file makes it: one line that names it."""


# --- What follows ---------------------------------------------------------------------------------


NEWEST_RULE = "effective"  # by which every group is judged, whatever its file was written by


def _spreads(series: Sequence[np.ndarray], confidence: float, rule: str | None) -> list[Spread]:
    """Of each, in the order of the rounds, by a rule of intervals; those of one length together."""
    if rule != NEWEST_RULE:
        return [_earlier_spread(values, confidence, rule) for values in series]
    by_length: dict[int, list[int]] = {}
    for i, values in enumerate(series):
        by_length.setdefault(len(values), []).append(i)
    found: dict[int, Spread] = {}
    for places in by_length.values():
        of_length = spread_of_rounds(np.array([series[i] for i in places]), confidence)
        columns = (column.tolist() for column in of_length)
        found.update(zip(places, map(Spread, *columns), strict=True))
    return [found[i] for i in range(len(series))]


def _earlier_spread(values: np.ndarray, confidence: float, rule: str | None) -> Spread:
    inflation = variance_inflation(values) if rule == "widened" else 1
    m = median_interval(values, confidence, inflation)
    ordered = np.sort(values)
    lower, upper, *extremes = (float(ordered[i]) for i in ((m.n - 1) // 2, m.n // 2, 0, m.n - 1))
    return Spread(lower, upper, m.low, m.high, m.coverage, *extremes)


def median_records(
    series: Sequence[np.ndarray], confidence: float, rule: str | None = None
) -> list[Record]:
    """Medians with their intervals as the file has them. Raises ValueError for one without
    values."""
    return [
        {
            "median": of.lower + (of.upper - of.lower) / 2,
            "low": of.low,
            "high": of.high,
            "coverage": of.coverage,
            "n": len(values),
            "minimum": of.minimum,
            "maximum": of.maximum,
        }
        for values, of in zip(series, _spreads(series, confidence, rule), strict=True)
    ]


def median_record(values: Sequence[float] | np.ndarray, confidence: float) -> Record:
    """One of independent values. Raises ValueError without values."""
    return median_records([np.asarray(values)], confidence)[0]


def usable(row: Record, member: str = "samples") -> tuple[np.ndarray, np.ndarray]:
    """Rounds and times (ms) of the samples that count: throttled ones only where there are no
    others."""
    samples = row[member]
    rounds, times = np.asarray(samples["round"]), np.asarray(samples["time_ms"], dtype=float)
    throttled = np.asarray(samples["throttled"], dtype=bool)
    if not throttled.any() or throttled.all():  # as of most rows
        return rounds, times
    return rounds[~throttled], times[~throttled]


def _timed(rows: Sequence[Record]) -> list[tuple[int, np.ndarray]]:
    """The places of the rows that have a time, and their usable samples."""
    times = ((i, usable(row)[1]) for i, row in enumerate(rows) if row["status"] == "ok")
    return [(i, values) for i, values in times if len(values)]


def row_summaries(group: Record, confidence: float, rule: str | None = None) -> list[Record]:
    """What follows from the samples of each row, by member; None where nothing does."""
    work, floor, rows = group["work"], group.get("floor"), group["rows"]
    members = ("time_ms", "floor_fraction", "gflops", "gbytes_per_s")
    summaries: list[Record] = [dict.fromkeys(members) for _ in rows]
    timed = _timed(rows)
    records = median_records([times for _, times in timed], confidence, rule)
    for (i, _), record in zip(timed, records, strict=True):
        summary, median = summaries[i], record["median"]
        summary["time_ms"] = record
        with np.errstate(over="ignore", divide="ignore"):
            per_ms = np.float64(1e-6) / median
            summary["gflops"] = _known(work["operations"] * per_ms)
            moved = work["bytes_read"] + work["bytes_written"]
            summary["gbytes_per_s"] = _known(moved * per_ms)
            if floor:
                summary["floor_fraction"] = _known(np.float64(floor_ms(floor)) / median)
    return summaries


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


_BOUNDS = ("bytes", "operations", "dependency")


def floor_ms(floor: Record) -> float:
    return max(floor[f"{bound}_ms"] for bound in _BOUNDS)


def floor_of(work: Record, ceilings: dict[str, float]) -> Record | None:
    """The least time (ms) that ceilings allow for some work (harness/results/floor.hpp); None when
    one that it needs is not there."""

    def time_for(amount: float, name: str) -> float:
        if amount <= 0:
            return 0.0
        ceiling = ceilings.get(name, 0.0)
        return amount / ceiling if ceiling > 0 else math.nan

    floor = dict.fromkeys((f"{bound}_ms" for bound in _BOUNDS), 0.0)
    total = work["bytes_read"] + work["bytes_written"]
    if total > 0:
        written = work["bytes_written"] / total
        copied = 2 * min(written, 1 - written)
        rest = "read_bandwidth" if written <= 0.5 else "write_bandwidth"
        floor["bytes_ms"] = 1e-6 * (
            time_for(total * copied, "copy_bandwidth") + time_for(total * (1 - copied), rest)
        )
    floor["operations_ms"] = 1e-6 * time_for(work["operations"], f"{work['kind']}_rate")
    if work["dependent_operations"] > 0:
        latency = ceilings.get("dependent_op_ns", 0.0)
        floor["dependency_ms"] = (
            1e-6 * work["dependent_operations"] * latency if latency > 0 else math.nan
        )
    if any(math.isnan(value) for value in floor.values()):
        return None
    floor["floor_ms"] = floor_ms(floor)
    floor["bound_by"] = max(_BOUNDS, key=lambda bound: floor[f"{bound}_ms"])
    return floor


def _baseline(rows: Sequence[Record], row: Record, role: str, schedule: str = "") -> Record | None:
    """The baseline's row in a role, of a schedule if one is named; None unless it is right."""
    variant = row["variant"].split("/", 1)[0] + "/baseline"
    for r in rows:
        if (
            (r["variant"], r["role"], r["repeat"], r["status"]) == (variant, role, 0, "ok")
            and r is not row
            and schedule in ("", r.get("schedule") or "")
        ):
            return r
    return None


def reference_of(rows: Sequence[Record], row: Record) -> Record | None:
    """The row that a row is compared with; None when there is none, or it is not right."""
    schedule = row.get("schedule") or ""
    match row["role"]:
        case "iso" | "best" as role:
            return _baseline(rows, row, role)
        case "comparator":
            return _baseline(rows, row, "best")
        case "cross":
            return _baseline(rows, row, "cross", schedule)
        case "matched":
            best = _baseline(rows, row, "best")
            if row["variant"].endswith("/baseline"):
                return best
            if best is not None and (best.get("schedule") or "") == schedule:
                return best
            return _baseline(rows, row, "matched", schedule)
    return None


def _counterpart(rows: Sequence[Record], row: Record) -> Record | None:
    """The strategy that a comparator spells, in the config of the same name."""
    if not row.get("spells"):
        return None
    wanted = (row["variant"].split("/", 1)[0] + "/" + row["spells"], row["config"], 0, "ok")
    for r in rows:
        found = (r["variant"], r["config"], r["repeat"], r["status"])
        if found == wanted and r["role"] != "cross":
            return r
    return None


def pairs_of(rows: Sequence[Record]) -> Iterator[tuple[Record, Record, str]]:
    """What is compared: a row, its reference, and the role of the comparison."""
    for row in rows:
        if row["status"] != "ok":
            continue
        reference = reference_of(rows, row)
        if reference is not None:
            yield row, reference, row["role"]
        schedule = row.get("schedule")
        if row["role"] == "best" and schedule and not row["variant"].endswith("/baseline"):
            same = _baseline(rows, row, "matched", schedule)
            if same is not None:
                yield row, same, "matched"
        spelled = _counterpart(rows, row)
        if spelled is not None:
            yield row, spelled, "counterpart"


Samples = tuple[np.ndarray, np.ndarray]  # rounds, times


def _ratios(over: Samples, under: Samples) -> np.ndarray:
    """Over / under in the rounds that both have, in their order."""
    above, below = over[1], under[1]
    if not np.array_equal(over[0], under[0]):
        _, in_above, in_below = np.intersect1d(
            over[0], under[0], assume_unique=True, return_indices=True
        )
        above, below = above[in_above], below[in_below]
    with np.errstate(over="ignore", divide="ignore"):
        ratios = above / below
        if not np.isfinite(np.log(ratios)).all():
            raise ValueError("times without a quotient")
    return ratios


def _ratio_records(
    series: Sequence[np.ndarray], confidence: float, rule: str | None = None
) -> list[Record]:
    """The intervals of ratios as the file has them."""
    return [
        {
            "ratio": math.sqrt(of.lower) * math.sqrt(of.upper),
            "low": of.low,
            "high": of.high,
            "coverage": of.coverage,
            "n": len(ratios),
            "resolved": of.coverage >= confidence and (of.low > 1 or of.high < 1),
        }
        for ratios, of in zip(series, _spreads(series, confidence, rule), strict=True)
    ]


def _compared(rows: Sequence[Record]) -> tuple[int, list[tuple[Record, Record, str]], Any]:
    """How many pairs there are; those with common rounds, and the ratios of their times."""
    pairs = list(pairs_of(rows))
    of_row: dict[int, Samples] = {}
    for row in (row for pair in pairs for row in pair[:2]):
        if id(row) not in of_row:
            of_row[id(row)] = usable(row)
    ratios = [_ratios(of_row[id(reference)], of_row[id(row)]) for row, reference, _ in pairs]
    both = [(pair, values) for pair, values in zip(pairs, ratios, strict=True) if len(values)]
    return len(pairs), [pair for pair, _ in both], [values for _, values in both]


def _verdict(speedup: Record) -> str:
    if not speedup["resolved"]:
        return NOT_RESOLVED
    return "faster" if speedup["ratio"] > 1 else "slower"


def _against_itself(row: Record, confidence: float) -> Record | None:
    if not row.get("repeat_samples"):
        return None
    ratios = _ratios(usable(row), usable(row, "repeat_samples"))
    return _ratio_records([ratios], confidence)[0] if len(ratios) else None


def comparisons_of(
    rows: Sequence[Record], joint_confidence: float, rule: str | None = None
) -> list[Record]:
    """The comparisons of a group as the file has them, in its order. ``rule``: of its intervals."""
    count, pairs, ratios = _compared(rows)
    confidence = corrected_confidence(joint_confidence, count)
    comparisons: list[Record] = []
    # A row stands in several pairs, the baseline in most.
    own_ratios: dict[int, Record | None] = {}
    speedups = _ratio_records(ratios, confidence, rule)
    for (row, reference, role), speedup in zip(pairs, speedups, strict=True):
        if id(row) not in own_ratios:
            own_ratios[id(row)] = _against_itself(row, confidence)
        itself = own_ratios[id(row)]
        schedules = {
            name: r["schedule"]
            for name, r in (("schedule", row), ("against_schedule", reference))
            if r.get("schedule")
        }
        comparisons.append(
            {
                "variant": row["variant"],
                "role": role,
                "against": reference["variant"],
                **schedules,
                "control": row["repeat"] > 0,
                "speedup": speedup,
                **({"itself": itself} if itself else {}),
                "verdict": _verdict(speedup),
            }
        )
    for c in comparisons:
        c["claim"] = claim_of(comparisons, c)
    return comparisons


# What warnings of earlier rules say of an interval whose rounds resemble the ones before.
_EARLIER = re.compile("the interval (is widened for it|takes rounds for independent)[^;]*")


def judge_anew(group: Record, joint_confidence: float) -> None:
    """Judges a group that was found sound, by whatever rule of intervals, as it would be judged
    now: intervals, verdicts and claims, in place."""
    compares = any(row["role"] != "candidate" and row.get("time_ms") for row in group["rows"])
    if compares and group.get("interval_rule") != NEWEST_RULE:
        group["interval_rule"] = NEWEST_RULE
        timed = _timed(group["rows"])
        times = median_records([values for _, values in timed], joint_confidence, NEWEST_RULE)
        for (i, _), record in zip(timed, times, strict=True):
            group["rows"][i]["time_ms"] = record
        count, _, ratios = _compared(group["rows"])
        confidence = corrected_confidence(joint_confidence, count)
        speedups = _ratio_records(ratios, confidence, NEWEST_RULE)
        for comparison, speedup in zip(group["comparisons"], speedups, strict=True):
            comparison["speedup"], comparison["verdict"] = speedup, _verdict(speedup)
        group["warnings"] = [
            _EARLIER.sub("the interval allows for it", text) for text in group["warnings"]
        ]
    set_claims(group)  # of an earlier program: as it is now


# --- Whether the file says the same ---------------------------------------------------------------


def _same(a: float, b: float) -> bool:
    """Sums and logarithms of another program may differ in the last bits."""
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def _text(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case dict():
            return f"a median of {value['median']:.6g}"
        case bool():
            return str(value).lower()
    return str(value)


def _refuse(expected: Any, found: Any, source: str, at: str, whose: str) -> Difference:
    return Difference(
        f"expected {_text(expected)}, as {source} have it, at {at} ({whose[:300]}), "
        f"found {_text(found)}"
    )


def _check_number(found: Any, expected: Any, at: str, whose: str, source: str) -> None:
    equal = found is None if expected is None else found is not None and _same(found, expected)
    if not equal:
        raise _refuse(expected, found, source, at, whose)


def _check_median(found: Record | None, expected: Record | None, at: str, whose: str) -> None:
    if not found or not expected:
        if found or expected:
            raise _refuse(expected, found, "the samples", at, whose)
        return
    for name, value in expected.items():
        _check_number(found[name], value, f"{at}.{name}", whose, "the samples")


def asked_confidence(provenance: Record) -> float:
    """The joint confidence that was asked for. Raises Difference for what is no confidence."""
    text = provenance["settings"].get("confidence", "0.95")  # as the program has it
    try:
        confidence = float(text)
    except (TypeError, ValueError):
        confidence = math.nan
    if not 0 < confidence < 1:
        raise Difference(
            "expected a number between 0 and 1 at provenance.settings.confidence, "
            f"found {str(text)[:40]}"
        )
    return confidence


def _check_ceilings(ceilings: Sequence[Record]) -> None:
    for i, ceiling in enumerate(ceilings):
        at = f"ceilings[{i}].value"
        if not ceiling["samples"]:
            raise _refuse("no ceiling", ceiling["value"], "the samples", at, ceiling["name"])
        median = float(np.median(ceiling["samples"]))
        _check_number(ceiling["value"], median, at, ceiling["name"], "the samples")


def _check_floor(group: Record, ceilings: Sequence[Record], at: str, whose: str) -> None:
    """The floors of a merged file are those of its parts, each from the ceilings of its part, and
    the file has the samples of all parts together: each number must lie between what the lowest and
    the highest of them allow."""
    floor = group.get("floor")
    if not floor:
        return
    ends = []
    for pick in (min, max):
        first: dict[str, float] = {}
        for ceiling in ceilings:
            first.setdefault(ceiling["name"], pick(ceiling["samples"]))
        ends.append(floor_of(group["work"], first))
    if ends[0] is None or ends[1] is None:
        raise _refuse(None, f"a floor of {floor_ms(floor)} ms", "the ceilings", at, whose)
    for name in (f"{bound}_ms" for bound in _BOUNDS):
        least, most = sorted((ends[0][name], ends[1][name]))
        if not _same(floor[name], min(max(floor[name], least), most)):
            wanted = str(least) if least == most else f"{least} to {most}"
            raise _refuse(wanted, floor[name], "the ceilings", f"{at}.{name}", whose)
    beside = "the members beside it"
    if floor.get("floor_ms") is not None:
        _check_number(floor["floor_ms"], floor_ms(floor), f"{at}.floor_ms", whose, beside)
    bound = max(_BOUNDS, key=lambda b: floor[f"{b}_ms"])
    if floor.get("bound_by") not in (None, bound):
        raise _refuse(bound, floor["bound_by"], beside, f"{at}.bound_by", whose)


def _rounds_in(samples: Record, at: str) -> int:
    """The round after the last of these samples, which are to be in order, one in a round."""
    rounds = np.asarray(samples["round"])
    wrong = np.flatnonzero(np.diff(rounds) <= 0)
    if len(wrong):
        i = int(wrong[0]) + 1
        raise Difference(
            f"expected at least {rounds[i - 1] + 1}, because rounds ascend, at {at}.round[{i}], "
            f"found {rounds[i]}"
        )
    return int(rounds[-1]) + 1 if len(rounds) else 0


def _check_rounds(group: Record, at: str, whose: str) -> None:
    """Each round once, in order, and as many as the group says: pairing relies on the one, the
    choice between two files of one group on the other."""
    rounds = 0
    for r, row in enumerate(group["rows"]):
        own = _rounds_in(row["samples"], f"{at}.rows[{r}].samples")
        second = f"{at}.rows[{r}].repeat_samples"
        if row.get("repeat_samples") and _rounds_in(row["repeat_samples"], second) > own:
            raise Difference(
                f"expected no round beyond those of samples, {own}, at {second} ({whose})"
            )
        rounds = max(rounds, own)
    if rounds and rounds != group["rounds"]:
        raise _refuse(rounds, group["rounds"], "the samples", f"{at}.rounds", whose)


def _name(c: Record) -> str:
    """ "nw/tma matched tall against nw/baseline wide"."""
    mine, theirs = (c.get(member) or "" for member in ("schedule", "against_schedule"))
    left = " ".join(filter(None, (c["variant"], c["role"], mine)))
    return f"{left} against {' '.join(filter(None, (c['against'], theirs)))}" + (
        " (the control)" if c["control"] else ""
    )


def _ends_at_one(interval: Record) -> bool:
    return _same(interval["low"], 1) or _same(interval["high"], 1)


def _check_interval(found: Record, expected: Record, at: str, whose: str) -> None:
    for name in ("ratio", "low", "high", "coverage", "n"):
        _check_number(found[name], expected[name], f"{at}.{name}", whose, "the samples")
    # Where an end of the interval is 1 but for the last bits, another program may see either side.
    if not _ends_at_one(found) and found["resolved"] != expected["resolved"]:
        raise _refuse(
            expected["resolved"], found["resolved"], "the samples", f"{at}.resolved", whose
        )


def _check_comparison(found: Record, expected: Record, earlier: str, at: str, group: str) -> None:
    if _name(found) != _name(expected):
        raise _refuse(_name(expected), _name(found), "the rows", at, group)
    whose = f"{group}, {_name(expected)}"
    _check_interval(found["speedup"], expected["speedup"], f"{at}.speedup", whose)
    itself, own = found.get("itself"), expected.get("itself")
    if (itself is None) != (own is None):
        is_, implied = ("an interval" if i else "nothing" for i in (itself, own))
        raise _refuse(implied, is_, "the samples", f"{at}.itself", whose)
    if itself and own:
        _check_interval(itself, own, f"{at}.itself", whose)
    if _ends_at_one(found["speedup"]):
        return
    for member in ("verdict", "claim"):
        if found[member] != expected[member]:
            if member == "claim" and found[member] == earlier:
                return
            raise _refuse(expected[member], found[member], "the samples", f"{at}.{member}", whose)
        if itself and _ends_at_one(itself):
            return


def _check_group(group: Record, ceilings: Sequence[Record], confidence: float, at: str) -> None:
    key = group["key"]
    size = ",".join(f"{name}={value}" for name, value in key["size"].items())
    whose = f"{key['app']} {size} {key['cache']} {key['launch']}"
    rule = group.get("interval_rule")
    _check_floor(group, ceilings, f"{at}.floor", whose)
    _check_rounds(group, at, whose)
    summaries = row_summaries(group, confidence, rule)
    for r, row in enumerate(group["rows"]):
        place = f"{at}.rows[{r}]"
        row_name = " ".join(filter(None, (row["variant"], row["role"], row.get("schedule"))))
        of_row = f"{whose}, {row_name}"
        verdict = row.get("verdict")
        if row["status"] == "ok" and verdict and not verdict["passed"]:
            raise _refuse("failed", "ok", "its verdict and samples", f"{place}.status", of_row)
        taken = len(row["samples"]["round"]) + len(
            (row.get("repeat_samples") or {"round": ()})["round"]
        )
        if row["status"] != "ok" and taken:
            raise Difference(
                f"expected no samples of a row that is {row['status']} at {place}.samples "
                f"({of_row}), found {taken}"
            )
        summary = summaries[r]
        _check_median(row.get("time_ms"), summary.pop("time_ms"), f"{place}.time_ms", of_row)
        for name, value in summary.items():
            _check_number(row.get(name), value, f"{place}.{name}", of_row, "the samples")
    again = comparisons_of(group["rows"], confidence, rule)
    for expected in again if group.get("invalid") else ():
        expected["claim"] = INVALID
    for c, (found, expected) in enumerate(zip(group["comparisons"], again, strict=False)):
        earlier = INVALID if group.get("invalid") else earlier_claim_of(again, expected)
        _check_comparison(found, expected, earlier, f"{at}.comparisons[{c}]", whose)
    if len(group["comparisons"]) != len(again):
        count, place = len(group["comparisons"]), f"{at}.comparisons"
        raise _refuse(f"{len(again)} of them", count, "the rows", place, whose)


def _check_microbenchmark(m: Record, confidence: float, at: str) -> None:
    for r, row in enumerate(m["rows"]):
        place = f"{at}.rows[{r}]"
        coordinates = ",".join(f"{name}={value}" for name, value in row["at"].items())
        whose = f"{m['name']}, {row['quantity']} at {coordinates}"
        if len({len(column) for column in row["samples"].values()}) > 1:
            raise Difference(f"expected columns of one length at {place}.samples")
        values = row["samples"]["value"]
        measured = row["status"] == "ok" and len(values) > 0
        value = median_record(values, confidence) if measured else None
        _check_median(row.get("value"), value, f"{place}.value", whose)
        for name in ("cycles", "time_ns", "clock_mhz"):
            column = row["samples"][name]
            whole = len(column) > 0 and None not in column
            median = float(np.median(column)) if whole else None
            _check_number(row.get(name), median, f"{place}.{name}", whose, "the samples")


def _check_sessions(provenance: Record, results: Sequence[Record], member: str) -> None:
    """Every group names one of the sessions, where there are any, and nothing has a case twice: a
    row of two sessions must be two measurements."""
    count = len(provenance.get("sessions") or [])
    seen = set()
    for i, result in enumerate(results):
        at, session = f"{member}[{i}].session", result.get("session")
        if (session is not None) != (count > 0) or (session is not None and session >= count):
            wanted = (
                f"one of the {count} sessions of the provenance"
                if count
                else "nothing, because the provenance has no sessions"
            )
            raise Difference(f"expected {wanted} at {at}, found {_text(session)}")
        case = json.dumps(result["key"] if "key" in result else result["name"])
        if (session, case) in seen:
            raise Difference(
                f"expected another session at {at}, because {session} has {case}"
                if count
                else f"expected a case that is not there yet at {member}[{i}], found {case} again"
            )
        seen.add((session, case))


def check(document: Record) -> None:
    """Recomputes all that follows from the samples of a document that is valid by the schema:
    ceilings, medians with their intervals, rates, floors and shares of them, comparisons with
    verdict and claim, and which comparisons there are. (Not the findings of a microbenchmark: those
    follow by its code.) Raises Difference at the first that is something else."""
    confidence = asked_confidence(document["provenance"])
    for member in ("groups", "microbenchmarks"):
        _check_sessions(document["provenance"], document.get(member) or [], member)
    _check_ceilings(document["ceilings"])
    for g, group in enumerate(document["groups"]):
        at = f"groups[{g}]"
        try:
            _check_group(group, document["ceilings"], confidence, at)
        except ValueError as error:
            raise Difference(f"expected samples that can be compared at {at}: {error}") from None
    for m, microbenchmark in enumerate(document.get("microbenchmarks") or []):
        _check_microbenchmark(microbenchmark, confidence, f"microbenchmarks[{m}]")
