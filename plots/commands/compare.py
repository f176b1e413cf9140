"""``python -m plots compare``: two sets of results, OLD then NEW."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from plots.commands import MISTAKE, OK, OUTPUT, command
from plots.commands.options import print_or_write
from plots.data.load import Results, load
from plots.data.selection import among, tell
from plots.errors import PlotsError
from plots.judge.compare import (
    REPEATED,
    Comparison,
    Filter,
    Outcome,
    Value,
    compare,
    kind_of,
    tally,
)
from plots.papers.expect import expectations
from plots.units import amount, claimed_ratio, times

_FORMATS = ("text", "csv")
_SLOWER, _DIFFERENT = "slower", "different"
_KINDS = {"time": "Times", "speed-up": "Speed-ups", "point": "Points"}
_MOST_NAMED = 2


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a share in percent, 0 or more, found '{text}'")
    return value / 100


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", help="a result file, or a folder of them, of one GPU")
    parser.add_argument("new", help="the results that are judged, likewise")
    parser.add_argument("--app", help="one app, or one microbenchmark (default: all)")
    parser.add_argument("--strategy", help="one strategy (default: all)")
    parser.add_argument(
        "--only",
        action="append",
        metavar="GLOB",
        help="the cases and microbenchmarks whose whole name matches: 'nw * cold stream' "
        "(repeatable; default: all)",
    )
    parser.add_argument(
        "--sessions",
        action="append",
        metavar="FILE",
        help="files of repeated runs: they show how far values move between runs (repeatable; "
        "default: OLD and NEW alone)",
    )
    parser.add_argument(
        "--threshold",
        type=_percent,
        default=0.0,
        metavar="PERCENT",
        help="ignore smaller changes",
    )
    parser.add_argument(
        "--fail-on",
        choices=[_SLOWER, _DIFFERENT],
        help="exit with 1 when a time or point became slower or failed; or when anything is not "
        "the same",
    )
    parser.add_argument("--format", choices=_FORMATS, default="text", help="format of the values")
    parser.add_argument("--out", "-o", type=Path, help="output file (default: stdout)")


def _one_gpu(results: Results, name: str) -> Results:
    if len(results.gpus) > 1:
        found = ", ".join(results.gpus)
        raise PlotsError(f"{name} holds several GPUs ({found}): name the files or folder of one")
    if not results.gpus:
        raise PlotsError(f"{name} holds no result")
    return results


def _ratio(value: Value) -> str:
    if not value.is_judged:
        return "–"
    if math.isfinite(value.high) and value.low > 0:
        return claimed_ratio(value.ratio, value.low, value.high)
    return times(value.ratio)


_HEAD = ("outcome", "row", "case", "old", "new", "unit", "ratio", "GB/s", "of floor", "cause")


def _cells(value: Value) -> list[str]:
    return [
        value.outcome,
        value.name if kind_of(value) != "point" else f"{value.name} {value.quantity}",
        value.at,
        amount(value.old),
        amount(value.new),
        value.unit,
        _ratio(value),
        amount(value.gb_s),
        f"{100 * value.of_floor:.0f} %" if math.isfinite(value.of_floor) else "–",
        value.cause,
    ]


def _columns_of(values: Sequence[Value]) -> pd.DataFrame:
    """What a person reads, without the columns that say nothing here."""
    frame = pd.DataFrame([_cells(v) for v in values], columns=list(_HEAD))
    return frame.loc[:, ~frame.isin(["", "–"]).all()]


def _tables(found: Comparison) -> list[tuple[str, pd.DataFrame]]:
    by_kind = {kind: [v for v in found.values if kind_of(v) == kind] for kind in _KINDS}
    return [(_KINDS[kind], _columns_of(of)) for kind, of in by_kind.items() if of]


def _text(found: Comparison) -> str:
    parts = []
    for title, frame in _tables(found):
        for name in (n for n in ("outcome", "row", "cause") if n in frame):
            frame[name] = frame[name].str.ljust(frame[name].str.len().max())
        lines = frame.drop(columns="case", errors="ignore").to_string(index=False).splitlines()
        parts += [title, lines[0]]
        # The name of a case is longer than the line of a row: it is a heading.
        case = ""
        for at, line in zip(frame.get("case", [""] * len(frame)), lines[1:], strict=True):
            parts += [at] if at != case else []
            parts.append(line.rstrip())
            case = at
        parts.append("")
    return "\n".join(parts) + "\n"


def _named(what: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"only in {what}: {', '.join(names[:_MOST_NAMED])}{more}"


def _summary(found: Comparison) -> list[str]:
    """Means and the tally."""
    lines = [
        f"{app}: NEW is {times(mean, 3)} as fast as OLD (geometric mean of {n} times, "
        f"{least:.3f} to {most:.3f})"
        for app, mean, n, least, most in found.means()
    ]
    counts = []
    for kind, title in _KINDS.items():
        of = [v for v in found.values if kind_of(v) == kind]
        if of:
            counts.append(f"of {len(of)} {title.lower()} {tally(of)}")
    lines.append(f"NEW against OLD: {'; '.join(counts)}")
    changed = [v for v in found.of(Outcome.FASTER, Outcome.SLOWER) if v.is_judged]
    if changed:
        most = max(changed, key=lambda v: max(v.ratio, 1 / v.ratio))
        lines.append(f"most: {most.name} {most.at}: {_ratio(most)}")
    return lines


def _fails(found: Comparison, on: str | None) -> bool:
    if on == _SLOWER:
        return bool(found.of(Outcome.SLOWER, Outcome.FAILED))
    return on == _DIFFERENT and any(v.outcome not in REPEATED for v in found.values)


@command(
    "two sets of results, OLD then NEW: what became faster or slower, what is the same, why",
    _arguments,
    (
        "compare results/h200/quick-nw.json.gz out/h200-quick.json.gz",
        "this machine against the recorded one",
    ),
    (
        "compare OLD NEW --app nw --threshold 2 --fail-on slower",
        "for a CI: status 1 when a time of nw became more than 2 % slower",
    ),
    order=15,
    statuses=(OK, "1 what --fail-on names was found", MISTAKE, OUTPUT),
)
def _run(options: argparse.Namespace) -> int:
    names = (options.old, options.new, *(options.sessions or ()))
    loaded = [load([name]) for name in names]
    tell(list(dict.fromkeys(note for results in loaded for note in results.notes)))
    old = _one_gpu(loaded[0], options.old)
    new = _one_gpu(loaded[1], options.new)
    more = loaded[2:]
    wanted = Filter(options.app, options.strategy, tuple(options.only or ()))
    apps = sorted({*old.groups["app"], *old.points["microbenchmark"]})
    among(options.app, apps, "app")
    among(options.strategy, sorted(set(old.rows["strategy"])), "strategy")
    found = compare(new, old, more=more, wanted=wanted, threshold=options.threshold)
    said = [f"differs: {what}" for what in found.differences]
    said += [f"warning: {text}" for text in found.warnings]
    said += [
        _named(what, names)
        for what, names in (("OLD", found.only_old), ("NEW", found.only_new))
        if names
    ]
    if found.new_gpu != found.old_gpu:
        sources = ("data sheets", "measured ceilings")
        for source, expected in zip(sources, expectations(new, old), strict=True):
            if expected is not None:
                said.append(f"expected of {found.new_gpu} by the {source}: {expected}")
    # Before the rows, which are many.
    for line in (*said, *_summary(found)):
        print(line, file=sys.stderr if options.format != "text" else sys.stdout)
    print(end="\n" if options.format == "text" and options.out is None else "")
    csv = options.format == "csv"
    print_or_write(found.frame().to_csv(index=False) if csv else _text(found), options.out)
    return int(_fails(found, options.fail_on))
