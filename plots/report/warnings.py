"""What a reader must know before believing a number, by kind, the gravest first."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from plots.data.load import Results
from plots.figures.registry import mode_name


@dataclass(frozen=True)
class Kind:
    """Warnings of one kind: what they say, and each of them with where it holds."""

    text: str
    each: tuple[str, ...]


# What is told by which words, the gravest first: what may make a number wrong, what makes it less
# certain than it looks, what widens it and says so, and what is only to be known. The harness
# writes these words (harness/session, harness/results); a warning in others stands behind those
# that may make a number wrong, because nobody has judged it.
_NOT_JUDGED = "other"
_KINDS: tuple[tuple[str, str], ...] = (
    (r"right before timing and wrong after", "variants were right before timing and wrong after"),
    (r"^no row could run", "no row of a group could run"),
    (r"^nothing was verified|^what a run writes is verified", "outputs were not wholly verified"),
    (_NOT_JUDGED, ""),
    (r"^no A/A control", "no A/A control: differences may be noise of the machine"),
    (r"differs from itself by .* %", "a row differs from itself: no smaller difference counts "
     "beside it"),
    (r"^too many launches to queue", "too many launches to queue behind the blocking kernel; gaps "
     "between launches are part of the time"),
    (r"printing is part of what is timed", "a variant prints, which is part of what is timed"),
    (r"^fell back: ", "a variant fell back to other code than it is named for"),
    (r"^measured on another ", "measured on another GPU of the model than the first file's"),
    (r"^made from sources with uncommitted changes", "made from sources with uncommitted changes"),
    (r"the interval allows for it", "an interval is wider, because rounds resemble the one before"),
    (r"^[0-9]+ samples were throttled", "samples were throttled and repeated"),
    (r"ran throttled in most rounds", "rows ran throttled in most rounds, which is their usual "
     "state there: all samples count"),
    (r"^local memory is used", "local memory is used (spills)"),
    (r"^Nsight Compute counted", "rows have no counters"),
    (r"^the output of .* was not written", "an output was not written to its file"),
)  # fmt: skip

# What differs between warnings of one kind that nobody gave words above: numbers, which GPU of a
# model it was, and of which variant it is said.
_PARTICULAR = re.compile(r"\b[0-9a-f]{12}\b|\b[0-9]+(\.[0-9]+)?\b|\b[\w-]+/[\w-]+\b")


def _rank_and_kind(text: str) -> tuple[int, str]:
    for rank, (words, kind) in enumerate(_KINDS):
        if words != _NOT_JUDGED and re.search(words, text):
            return rank, kind
    return [words for words, _ in _KINDS].index(_NOT_JUDGED), _PARTICULAR.sub("…", text)


def by_kind(found: list[tuple[str, str]]) -> list[Kind]:
    """(warning, where it holds) by kind, the gravest first; of the same gravity the more frequent
    first. Every warning is in one kind, in its own words where they differ from the kind's."""
    kinds: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
    for text, where in found:
        kinds[_rank_and_kind(text)].append((text, where))
    ordered = sorted(kinds.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1]))
    return [
        Kind(
            kind,
            tuple(where if text == kind else f"{where}: {text}" for text, where in of_kind),
        )
        for (_, kind), of_kind in ordered
    ]


def warnings(results: Results) -> list[Kind]:
    """Those of the files, groups and rows."""
    found: list[tuple[str, str]] = []
    for f in results.files.itertuples():
        if f.dirty:
            found.append(("made from sources with uncommitted changes", f.path))
    groups = list(results.groups.itertuples())
    if results.cross is not None:
        groups += results.cross.groups.itertuples()
    for g in groups:
        where = f"{g.app}, {g.size_label}, {mode_name(g.cache, g.launch)}"
        found += [(text, where) for text in g.warnings]
        if not g.launch_blocked:
            found.append(
                ("too many launches to queue behind the blocking kernel; gaps between launches are "
                 "part of the time", where)
            )  # fmt: skip
    controlled = set(results.comparisons.loc[results.comparisons["control"], "group"])
    found += [
        ("no A/A control: differences may be noise of the machine",
         f"{g.app}, {g.size_label}, {mode_name(g.cache, g.launch)}")
        for g in results.groups.itertuples()
        if g.group not in controlled
    ]  # fmt: skip
    for row in results.rows[results.rows["fallback"] != ""].drop_duplicates("variant").itertuples():
        found.append((f"fell back: {row.fallback}", row.variant))
    spilled = results.rows[results.rows["local_bytes"] > 0].drop_duplicates(["variant", "config"])
    for row in spilled.itertuples():
        found.append(
            ("local memory is used (spills)",
             f"{row.variant} ({row.config}), {row.local_bytes:.0f} B a thread")
        )  # fmt: skip
    return by_kind(found)


def summary(kinds: list[Kind]) -> str:
    """All of them in a line: how many, of how many kinds, and which is the gravest."""
    if not kinds:
        return "no warnings"
    total = sum(len(kind.each) for kind in kinds)
    if total == 1:
        return f"1 warning: {kinds[0].text}"
    of = f"of {len(kinds)} kinds, the gravest" if len(kinds) > 1 else "of one kind"
    return f"{total} warnings {of}: {kinds[0].text} ({len(kinds[0].each)})"
