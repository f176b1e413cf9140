"""docs/reproduction.md: one row per table, figure and claim of the source documents.

A status follows from the figures: judge() says of each value whether it agrees, and status_of()
counts. inputs/published/comparisons.csv has what is compared with what.
"""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any

from plots.data.load import Results
from plots.markdown import plain
from plots.papers.contradictions import contradictions
from plots.papers.ours import Files, Own, filled, own_value, row_of, selectors
from plots.papers.published import (
    FOLDER,
    Comparison,
    Inconsistency,
    Item,
    architecture,
    comparisons,
    inconsistencies,
    inventory,
    published_row,
    read_csv,
    theory,
)
from plots.tree import ROOT
from plots.units import amount

REASONS = FOLDER / "reasons.csv"
ADDRESSES = {
    "Luo et al. 2024": "https://arxiv.org/abs/2402.13499",
    "Abdelkhalik et al. 2022": "https://arxiv.org/abs/2208.11174",
    "Hopper Tuning Guide 13.2": "https://docs.nvidia.com/cuda/hopper-tuning-guide/index.html",
    "Svedin et al. 2021": "https://arxiv.org/abs/2106.04979",
}


class Verdict(Enum):
    """What follows from a value of ours beside a published one."""

    AGREES = "agrees"
    DIFFERS = "differs"
    OTHER_HARDWARE = "other hardware"
    BESIDE = "beside"
    NOT_PROMISED = "promise not known"
    NOT_RECORDED = "not recorded"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Line:
    """A value of an id: ours and the published one, as shares of what the GPUs promise where the
    comparison has such (``of_shares``), and the machine code of both where the document prints it.
    ``ratio``: ours over the published value, or share over share; of a range, over its nearer
    end, 1 within it."""

    label: str
    gpu: str
    verdict: Verdict
    own: Own | None = None
    low: float | None = None
    high: float | None = None
    relation: str = "equal"
    tolerance: float = 0
    basis: str = ""
    own_share: float | None = None
    published_share: float | None = None
    of_shares: bool = False
    ratio: float | None = None
    code: str = ""
    published_code: str = ""
    why: str = ""
    command: str = ""


def _holds(own: float, low: float, high: float, relation: str, tolerance: float) -> bool:
    slack = 1 + tolerance / 100 + 1e-9
    least = low / slack if low > 0 else low * slack
    most = high * slack if high > 0 else high / slack
    return (relation == "at most" or own >= least) and (relation == "at least" or own <= most)


def judge(c: Comparison, own: Own | None, device: Any, why: str = "") -> Line:
    """The line of a comparison: what follows from ``own`` on the GPU ``device``."""
    line = partial(
        Line, c.label, c.gpu, low=c.low, high=c.high, relation=c.relation, tolerance=c.tolerance,
        basis=c.kind,
    )  # fmt: skip
    if own is None:
        first = selectors(c.own)[0]
        command = first.command() if not why and first.kind == "speedup" else ""
        verdict = Verdict.NOT_APPLICABLE if why else Verdict.NOT_RECORDED
        return line(verdict, why=why, command=command)
    ours = theory(c.theory, device) if c.theory else None
    theirs = theory(c.theory, c.gpu) if c.theory else None
    theirs = 1.0 if c.kind == "own share" else theirs  # published is a share already
    own_share = own.value / ours if ours else None
    published_share = c.low / theirs if theirs else None
    of_shares = c.kind in ("share", "own share")
    promised = own_share is not None and published_share is not None
    value, low, high = own.value, c.low, c.high
    if of_shares and promised:
        value, low, high = own_share, c.low / theirs, c.high / theirs
    foreign = bool(c.gpu) and architecture(c.gpu) != device.compute_capability
    if c.kind == "beside":
        verdict = Verdict.BESIDE
    elif foreign and (of_shares or c.kind == "value"):
        verdict = Verdict.OTHER_HARDWARE
    elif of_shares and not promised:
        verdict = Verdict.NOT_PROMISED
    else:
        fits = _holds(value, low, high, c.relation, c.tolerance)
        verdict = Verdict.AGREES if fits else Verdict.DIFFERS
    ratio = value / (min(max(value, low), high) if value > 0 and low < high else low)
    return line(
        verdict, own, own_share=own_share, published_share=published_share,
        of_shares=c.kind == "share" and promised,
        ratio=None if c.kind == "own share" and not promised else ratio,
    )  # fmt: skip


_OPCODE = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:\.[A-Za-z0-9]+)*")


def opcodes(text: str) -> set[str]:
    """The machine instructions that a text names, without what follows their first point."""
    return {name.split(".")[0] for name in _OPCODE.findall(text) if name != "SASS"}


def code_of(row: Any, counted: str = "") -> str:
    """The machine code of a row as its remark has it, else the instructions counted as its proof;
    of ``counted`` alone, how many there are."""
    proof = {p.instruction: p.found for p in row.proof}
    if counted:
        return f"{proof[counted]} {counted}" if proof.get(counted) else "(none)"
    remark, found, listed = row.remark.partition("SASS: ")
    if found:
        return listed
    names = " + ".join(name for name in proof if name != "total")
    return f"{names} ({remark})" if remark else names


def _same_code(ours: str, printed: str) -> bool:
    if "(none)" in (printed, ours):
        return printed == ours
    return any(opcodes(part) <= opcodes(ours) for part in printed.split(" or "))


def _code_lines(item: Item, files: Files) -> list[Line]:
    lines = []
    for row in read_csv(FOLDER / "opcodes.csv"):
        if row["id"] != item.id:
            continue
        printed = row["printed"]
        if row["file"]:
            printed = published_row(row["file"], row["where"], row["id"])[row["column"]]
        own, _, counted = row["own"].partition("?")
        recorded = row_of(files, own)
        code = code_of(recorded, counted) if recorded else ""
        verdict = Verdict.NOT_RECORDED
        if recorded:
            device = files[0].device
            verdict = Verdict.AGREES if _same_code(code, printed) else Verdict.DIFFERS
            if architecture(row["gpu"]) != device.compute_capability:
                verdict = Verdict.OTHER_HARDWARE
        lines.append(
            Line(row["label"], row["gpu"], verdict, code=code, published_code=printed, basis="code")
        )
    return lines


def _with_code(line: Line, c: Comparison, files: Files) -> Line:
    """The machine code beside the cycles of Abdelkhalik et al., Table V."""
    if c.id != "001-05" or (row := row_of(files, c.own)) is None:
        return line
    printed = published_row(c.file, c.where, c.id)["sass"]
    return replace(line, code=code_of(row), published_code=printed)


@dataclass(frozen=True)
class Entry:
    """An id with its status, why, and its values."""

    item: Item
    status: str
    why: str
    lines: list[Line]
    link: str
    reason: str = ""


def _measured_by(item: Item, files: Files) -> str:
    """The file that has what answers the item, for an item without published numbers."""
    for file in files:
        names = {f"app {group.key.app}" for group in file.document.groups}
        names |= {"ceilings"} if file.document.ceilings else set()
        for m in file.document.microbenchmarks:
            names |= {m.name} if any(row.status == "ok" for row in m.rows) else set()
        if names & set(item.answers()):
            return file.path
    return ""


def _skipped_because(item: Item, files: Files) -> str:
    """The reason where what answers the item ran and had no row that this machine can measure."""
    for m in (m for file in files for m in file.document.microbenchmarks):
        reasons = [row.reason for row in m.rows if row.status == "skipped"]
        if m.name in item.answers() and reasons and all(row.status != "ok" for row in m.rows):
            return reasons[0]
    return ""


def status_of(item: Item, lines: Sequence[Line]) -> str:
    """What the lines of an id say together."""
    count = Counter(line.verdict for line in lines)
    agree, judged = count[Verdict.AGREES], count[Verdict.AGREES] + count[Verdict.DIFFERS]
    other = item.method.startswith("other: ")
    if judged:
        word = "agrees" if agree == judged else f"{agree} of {judged} agree" if agree else "differs"
        status = f"other method: {word}" if other else word
    elif count[Verdict.NOT_PROMISED]:
        word = Verdict.NOT_PROMISED.value
        status = f"other method: {word}" if other else word
    elif count[Verdict.OTHER_HARDWARE] + count[Verdict.BESIDE]:
        status = "other method" if other else "other hardware"
    elif count[Verdict.NOT_APPLICABLE]:
        return "not applicable"
    else:
        return "not recorded"
    missing = count[Verdict.NOT_RECORDED]
    return f"{status}; {missing} not recorded" if missing else status


@cache
def reasons() -> dict[str, str]:
    """Why the values of an id differ, by id; figures of ours are in braces (filled)."""
    return {row["id"]: row["reason"] for row in read_csv(REASONS)}


def entry_of(item: Item, of_item: list[Comparison], files: Files) -> Entry:
    if not item.by and not of_item:
        status = "needs another GPU" if item.method.startswith("gpus") else "nothing to measure"
        return Entry(item, status, item.remark, [], "")
    if item.by and not item.built():
        return Entry(item, "not yet built", "", [], "")
    device = files[0].device if files else None
    lines, link = [], ""
    for c in of_item:
        own, why = own_value(files, c.own)
        link = link or (own.file if own else "")
        line = judge(c, own, device, why) if own is None or device or not own.file else None
        if line is not None:
            lines.append(_with_code(line, c, files))
    code = _code_lines(item, files)
    lines += code
    if any(line.code for line in code):
        link = link or _measured_by(item, files)
    text = "; ".join(t for t in (item.method.partition(": ")[2], item.remark) if t)
    if not lines:
        link = _measured_by(item, files)
        if not link and (why := _skipped_because(item, files)):
            return Entry(item, "not applicable", why, [], "")
        return Entry(item, "measured" if link else "not recorded", text, [], link)
    if all(line.verdict is Verdict.NOT_RECORDED for line in lines) and (
        why := _skipped_because(item, files)
    ):
        return Entry(item, "not applicable", why, lines, "")
    status = status_of(item, lines)
    if status == "not applicable":
        text = next(line.why for line in lines if line.why)
    differs = any(line.verdict is Verdict.DIFFERS for line in lines)
    reason = filled(reasons().get(item.id, ""), files) if differs else ""
    return Entry(item, status, text, lines, link, reason)


def entries(files: Files) -> list[Entry]:
    by_id: dict[str, list[Comparison]] = {}
    for c in comparisons():
        by_id.setdefault(c.id, []).append(c)
    return [entry_of(item, by_id.get(item.id, []), files) for item in inventory()]


def _cell(text: str) -> str:
    """Text of ours or of a document as one cell of a table."""
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", " ").replace("*", "\\*")


def _prose(text: str) -> str:
    """A sentence of ours as Markdown: it may hold code, and no HTML."""
    return html.escape(text, quote=False).replace("*", "\\*")


def _link(path: str, base: Path) -> str:
    if not path:
        return ""
    return f"[{Path(path).name}]({os.path.relpath(path, base)})"


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _summary(entry: Entry) -> str:
    """Ours over the published values in a few words: the judged ones, else all."""
    judged = [x for x in entry.lines if x.verdict in (Verdict.AGREES, Verdict.DIFFERS)]
    shown = [x for x in judged or entry.lines if x.ratio is not None]
    if not shown:
        return ""
    ratios = [x.ratio for x in shown]
    shares = " of shares" if all(x.of_shares for x in shown) else ""
    return _range(ratios) + shares + (f" ({len(ratios)})" if len(ratios) > 1 else "")


def _counts(found: Sequence[Entry]) -> str:
    """How many rows have which status, in a sentence."""
    counts = Counter(e.status.split(";")[0].replace("other method: ", "") for e in found)
    some = sum(n for s, n in counts.items() if s.endswith(" agree"))
    words = {s: n for s, n in counts.items() if not s.endswith(" agree")}
    words |= {"agree in part": some} if some else {}
    listed = sorted(words.items(), key=lambda w: -w[1])
    return f"{len(found)} rows: " + ", ".join(f"{s} {n}" for s, n in listed) + "."


def _table(found: list[Entry], base: Path, *, linked: bool = True) -> list[str]:
    """A line per entry, its id ``linked`` to the values behind it where the page has them."""
    lines = [
        "| id | where | what | status | here / published | data |",
        "|---|---|---|---|--:|---|",
    ]
    for e in found:
        name = f"[{e.item.id}](#{e.item.id})" if linked and _detailed(e) else e.item.id
        cells = [name, _cell(e.item.where), _cell(e.item.what), e.status, _summary(e)]
        lines.append("| " + " | ".join([*cells, _link(e.link, base)]) + " |")
    return lines


def _published(line: Line) -> str:
    if line.low is None:
        return ""
    text = amount(line.low)
    if line.high is not None and line.high != line.low:
        text += f" to {amount(line.high)}"
    return f"{line.relation} {text}" if line.relation in ("at least", "at most") else text


def _ratio(line: Line) -> str:
    """Ours over the published value, in as many digits as what differs needs not to read as 1."""
    ratio = line.ratio
    if ratio is None:
        return "–"
    digits = 2
    while line.verdict is Verdict.DIFFERS and digits < 5 and float(f"{ratio:.{digits}f}") == 1:
        digits += 1
    return f"{ratio:.{digits}f}"


def _detailed(entry: Entry) -> bool:
    return bool(entry.lines or entry.why or entry.reason)


def _verdict(line: Line) -> str:
    if line.verdict is Verdict.AGREES and line.basis != "code":
        return "agrees" if not line.tolerance else f"agrees within {line.tolerance:g} %"
    return line.verdict.value


def _details(entry: Entry, told: Sequence[Inconsistency], base: Path) -> list[str]:
    """The values behind a row, folded."""
    e = entry
    title = f"{e.item.id}, {e.item.where}: {html.escape(e.item.what, quote=False)}"
    text = [f'<a id="{e.item.id}"></a>', f"<details><summary>{title}</summary>", ""]
    if e.why:
        text += [f"How: {plain(e.why)}.".replace("..", "."), ""]
    if e.reason:
        text += [f"Why it differs: {_prose(e.reason)}", ""]
    text += [f"The document: {_prose(i.text)}\n" for i in told if i.id == e.item.id]
    numbers = [x for x in e.lines if x.low is not None]
    if numbers:
        share = any(x.own_share is not None or x.published_share is not None for x in numbers)
        code = any(x.code for x in numbers)
        cell = any(x.own and x.own.cell for x in numbers)
        table = all(x.basis == "table" for x in numbers)
        head = ["value", "GPU", "by the table", "stated", "table / stated"]
        head = head if table else ["value", "GPU", "here", "published", "here / published"]
        head += ["share here", "share published"] if share else []
        head += ["SASS here", "SASS published"] if code else []
        head += ["verdict"] + (["cell"] if cell else [])
        text += ["| " + " | ".join(head) + " |", "|---|---|--:|--:|--:|" + "---|" * (len(head) - 5)]
        for x in numbers:
            cells = [_cell(x.label), x.gpu,
                     f"{amount(x.own.value)} {x.own.unit}" if x.own else "–",
                     _published(x), _ratio(x)]  # fmt: skip
            if share:
                cells += ["" if s is None else f"{s:.3g}" for s in (x.own_share, x.published_share)]
            if code:
                cells += [_cell(x.code), _cell(x.published_code)]
            cells.append(_verdict(x) + (f": {plain(x.why)}" if x.why else ""))
            if cell:
                cells.append(
                    f"{_link(x.own.file, base)}: {_cell(x.own.cell)}"
                    if x.own and x.own.cell
                    else ""
                )
            text.append("| " + " | ".join(cells) + " |")
        text.append("")
    listed = [x for x in e.lines if x.basis == "code"]
    if listed:
        text += ["| machine code | GPU | here | published | verdict |", "|---|---|---|---|---|"]
        text += [
            f"| {_cell(x.label)} | {x.gpu} | {_cell(x.code)} | {_cell(x.published_code)} | "
            f"{_verdict(x)} |"
            for x in listed
        ]
        text.append("")
    return [*text, "</details>", ""]


def _head() -> list[str]:
    tolerances = sorted({f"{c.tolerance:g}" for c in comparisons()}, key=float)
    return [
        "# What of the source documents is reproduced",
        "",
        "Generated from `inputs/published/` and the recorded results by",
        "`python -m plots docs results`; a test fails when it is stale. One row per table, figure",
        "and claim of the four documents; behind its id, every value with its tolerance. A value",
        "that several files have is that of the study `paper`, else of the newest file.",
        "",
        "| status | meaning |",
        "|---|---|",
        "| agrees | every value that can be compared is within its tolerance ("
        + ", ".join(tolerances)
        + " %, stated beside it), or keeps the bound that the document states |",
        "| differs; n of m agree | none, or not all of them; the reason, or the experiment that "
        "would find it, is shown with the id |",
        "| other method | what is measured is not quite what the document measured |",
        "| other hardware | the published GPU is of another architecture: shown beside ours, "
        "without a verdict. Of the same architecture, rates are compared as shares of what each "
        "GPU promises (`inputs/published/theory.csv`) |",
        "| promise not known | rates of the same architecture, but `theory.csv` lacks what one of "
        "the GPUs promises: the ratio of the rates is shown, without a verdict |",
        "| measured | recorded here, but the document prints no number |",
        "| not recorded | could be measured, and no recorded file has it |",
        "| needs another GPU; nothing to measure | no measurement on this GPU can answer |",
    ]


def _name_of(command: str) -> str:
    """The file for what a command records: "run lud --size n=16384 --roles iso ... --launch stream"
    is iso-lud-16384-stream.json."""
    _, app, *options = command.split()
    given = dict(zip(options[::2], options[1::2], strict=True))
    sizes = [part.split("=")[1] for part in given["--size"].split(",")]
    return "-".join([given["--roles"], app, *sizes, given["--launch"]]) + ".json"


def _preset_of(compute_capability: int) -> str:
    """The preset whose build folder run.sh makes on such a GPU."""
    return f"sm{compute_capability}" if compute_capability in (70, 80, 90) else "native"


def render(results: Results, base: Path) -> str:
    """The page as Markdown, links relative to ``base``."""
    told = inconsistencies()
    text = _head()
    for place, gpu in enumerate(results.gpus or [""]):
        mine = [f for f in results.recorded if not gpu or f.device.name == gpu]
        found = entries(mine)
        text += ["", f"## {plain(gpu) or 'No results recorded'}", "", _counts(found)]
        against = contradictions(mine)
        if against:
            text += ["", "### Claims that these results contradict", ""]
            text += [f"- {_prose(paragraph)}" for paragraph in against]
        if place:  # the values behind a row are listed once, for the first GPU
            text += ["", "Rows with a value of this GPU; what each compares is listed above.", ""]
            text += _table([e for e in found if _summary(e)], base, linked=False)
            continue
        commands = dict.fromkeys(x.command for e in found for x in e.lines if x.command)
        if gpu and commands:
            folder = os.path.dirname(mine[0].path)
            if Path(folder).is_relative_to(ROOT):
                folder = Path(folder).relative_to(ROOT).as_posix()
            preset = _preset_of(mine[0].device.compute_capability)
            lines = [f"build/{preset}/amasia {c} --out {_name_of(c)}" for c in commands]
            text += ["", f"Not recorded yet, and how to record it, for {folder}/:"]
            text += ["", "```sh", *lines, "```"]
        for source in dict.fromkeys(e.item.source for e in found):
            of_source = [e for e in found if e.item.source == source]
            text += ["", f"### {source}", "", f"<{ADDRESSES[source]}>", ""]
            text += _table(of_source, base)
            text.append("")
            for e in of_source:
                if _detailed(e):
                    text += _details(e, told, base)
    text += ["", "## Where the documents contradict themselves or each other", ""]
    text += [f"- {i.id}, {i.source}: {_prose(i.text)}" for i in told]
    return "\n".join(text).rstrip("\n") + "\n"
