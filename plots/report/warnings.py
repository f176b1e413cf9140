"""What a reader must know before believing a number, by kind, the gravest first."""

import re
from collections import defaultdict
from dataclasses import dataclass

from plots.data.load import Results
from plots.figures import mode_name


@dataclass(frozen=True)
class Kind:
    """Warnings of one kind: what they say, and each of them with where it holds."""

    text: str
    each: tuple[str, ...]


# What may make a number wrong, or less certain than it looks, the gravest first, by words of the
# warning. All others are below, the more frequent first.
_GRAVE = (
    "right before timing and wrong after",
    "no row could run",
    "verified",
    "no A/A control",
    "differs from itself",
    "too many launches to queue",
    "fell back",
    "uncommitted changes",
)

# What differs between warnings of one kind: numbers, the GPU of a model, and the variant.
_PARTICULAR = re.compile(r"\b[0-9a-f]{12}\b|\b[0-9]+(\.[0-9]+)?\b|\b[\w-]+/[\w-]+\b")


def by_kind(found: list[tuple[str, str]]) -> list[Kind]:
    """(warning, where it holds) by kind, the gravest first. Every warning is in one kind, in its
    own words where they differ from the kind's."""
    kinds: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for text, where in found:
        kinds[_PARTICULAR.sub("…", text)].append((text, where))

    def rank(kind: str) -> tuple[int, int, str]:
        grave = [i for i, words in enumerate(_GRAVE) if words in kind]
        return min(grave, default=len(_GRAVE)), -len(kinds[kind]), kind

    return [
        Kind(
            kind,
            tuple(where if text == kind else f"{where}: {text}" for text, where in kinds[kind]),
        )
        for kind in sorted(kinds, key=rank)
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
    """All of them in a line: how many, of how many kinds, and the first of the gravest kind."""
    if not kinds:
        return "no warnings"
    total = sum(len(kind.each) for kind in kinds)
    gravest = kinds[0]
    shown = gravest.each[0] if "…" in gravest.text else gravest.text
    if total == 1:
        return f"1 warning: {shown}"
    of = f"of {len(kinds)} kinds, the gravest" if len(kinds) > 1 else "of one kind"
    return f"{total} warnings {of} ({len(gravest.each)}): {shown}"
