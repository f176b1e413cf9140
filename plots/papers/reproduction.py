"""docs/reproduction.md: one row per table, figure and claim of the source documents.

A status follows from the figures: judge() says of each value whether it agrees, and status_of()
counts. What may be compared with what is said in inputs/published/comparisons.csv.
"""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from plots.data.recorded import Recorded
from plots.markdown import plain
from plots.papers.contradictions import contradictions
from plots.papers.derived import own_value
from plots.papers.inconsistencies import Inconsistency, inconsistencies
from plots.papers.published import (
    FOLDER,
    Comparison,
    Item,
    Own,
    architecture,
    comparisons,
    gpus_of,
    inventory,
    published_row,
    read_csv,
    row_of,
    selectors,
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
    comparison has such, and the machine code of both where the document prints it."""

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
    code: str = ""
    published_code: str = ""
    why: str = ""
    command: str = ""

    def of_shares(self) -> bool:
        """Whether ratio() is of what each GPU reaches of its promise, and not of the values, as
        where a promise is not known."""
        return self.basis == "share" and bool(self.own_share and self.published_share)

    def ratio(self) -> float | None:
        """What is judged: ours over the published value, or share over share. Of a range, over its
        nearer end; 1 within it."""
        if self.own is None or not self.low:
            return None
        own, low, high = self.own.value, self.low, self.high or self.low
        if self.basis == "own share":
            if self.own_share is None:
                return None
            own = self.own_share
        if self.of_shares():
            return self.own_share / self.published_share
        return own / min(max(own, low), high) if own > 0 and low < high else own / low


def _holds(own: float, low: float, high: float, relation: str, tolerance: float) -> bool:
    slack = 1 + tolerance / 100 + 1e-9
    least = low / slack if low > 0 else low * slack
    most = high * slack if high > 0 else high / slack
    return (relation == "at most" or own >= least) and (relation == "at least" or own <= most)


def judge(c: Comparison, own: Own | None, device: dict[str, Any], why: str = "") -> Line:
    """The line of a comparison: what follows from ``own`` on the GPU ``device``."""
    if own is None:
        verdict = Verdict.NOT_APPLICABLE if why else Verdict.NOT_RECORDED
        command = ""
        if not why and (s := selectors(c.own)[0]).kind == "speedup":
            command = s.command()
        return Line(c.label, c.gpu, verdict, None, c.low, c.high, c.relation, c.tolerance, c.kind,
                    why=why, command=command)  # fmt: skip
    ours = theory(c.theory, device) if c.theory else None
    theirs = theory(c.theory, c.gpu) if c.theory and c.kind != "own share" else None
    own_share = own.value / ours if ours else None
    published_share = c.low / theirs if theirs else None
    foreign = bool(c.gpu) and architecture(c.gpu) != device["compute_capability"]
    value, low, high = own.value, c.low, c.high
    promised = True
    if c.kind == "share":
        promised = own_share is not None and theirs is not None
        if own_share is not None and theirs is not None:
            value, low, high = own_share, c.low / theirs, c.high / theirs
    elif c.kind == "own share":
        promised = own_share is not None
        value = own_share if own_share is not None else value
        published_share = c.low
    if c.kind == "beside":
        verdict = Verdict.BESIDE
    elif foreign and c.kind in ("value", "share", "own share"):
        verdict = Verdict.OTHER_HARDWARE
    elif not promised:
        verdict = Verdict.NOT_PROMISED
    else:
        fits = _holds(value, low, high, c.relation, c.tolerance)
        verdict = Verdict.AGREES if fits else Verdict.DIFFERS
    return Line(c.label, c.gpu, verdict, own, c.low, c.high, c.relation, c.tolerance, c.kind,
                own_share, published_share)  # fmt: skip


_OPCODE = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:\.[A-Za-z0-9]+)*")


def opcodes(text: str) -> set[str]:
    """The machine instructions that a text names, without what follows their first point."""
    return {name.split(".")[0] for name in _OPCODE.findall(text) if name != "SASS"}


def code_of(row: dict[str, Any], counted: str = "") -> str:
    """The machine code of a row as its remark has it, else the instructions counted as its proof;
    of ``counted`` alone, how many there are."""
    proof = {p["instruction"]: p["found"] for p in row.get("proof") or []}
    if counted:
        return f"{proof[counted]} {counted}" if proof.get(counted) else "(none)"
    remark, found, listed = (row.get("remark") or "").partition("SASS: ")
    if found:
        return listed
    names = " + ".join(name for name in proof if name != "total")
    return f"{names} ({remark})" if remark else names


def _same_code(ours: str, printed: str) -> bool:
    if "(none)" in (printed, ours):
        return printed == ours
    return any(opcodes(part) <= opcodes(ours) for part in printed.split(" or "))


def _code_lines(item: Item, files: Sequence[Recorded]) -> list[Line]:
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
            if architecture(row["gpu"]) != device["compute_capability"]:
                verdict = Verdict.OTHER_HARDWARE
        lines.append(
            Line(row["label"], row["gpu"], verdict, code=code, published_code=printed, basis="code")
        )
    return lines


def _with_code(line: Line, c: Comparison, files: Sequence[Recorded]) -> Line:
    """The machine code beside the cycles of Abdelkhalik et al., Table V."""
    if c.id != "001-05" or (row := row_of(files, c.own)) is None:
        return line
    printed = published_row(c.file, c.where, c.id)["sass"]
    return Line(**{**vars(line), "code": code_of(row), "published_code": printed})


@dataclass(frozen=True)
class Entry:
    """An id with its status, why, and its values."""

    item: Item
    status: str
    why: str
    lines: list[Line]
    link: str
    reason: str = ""


def _has_value(microbenchmark: dict[str, Any]) -> bool:
    return any(row["status"] == "ok" for row in microbenchmark["rows"])


def _measured_by(item: Item, files: Sequence[Recorded]) -> str:
    """The file that has what answers the item, for an item without published numbers."""
    for file in files:
        names = {m["name"] for m in file.document.get("microbenchmarks") or [] if _has_value(m)}
        apps = {f"app {g['key']['app']}" for g in file.document["groups"]}
        ceilings = {"ceilings"} if file.document["ceilings"] else set()
        if (names | apps | ceilings) & set(item.answers()):
            return file.path
    return ""


def _skipped_because(item: Item, files: Sequence[Recorded]) -> str:
    """The reason where what answers the item ran and had no row that this machine can measure."""
    for file in files:
        for m in file.document.get("microbenchmarks") or []:
            reasons = [row["reason"] for row in m["rows"] if row["status"] == "skipped"]
            if m["name"] in item.answers() and reasons and not _has_value(m):
                return str(reasons[0])
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


_PLACE = re.compile(r"\{([^{}]*?)(?::([^{}:]*))?\}")


def filled(text: str, files: Sequence[Recorded]) -> str:
    """``text`` with our values in place of {selector:format}; empty when a file lacks one."""
    missing = False

    def fill(match: re.Match[str]) -> str:
        nonlocal missing
        own, _ = own_value(files, match[1])
        missing = missing or own is None
        return "" if own is None else format(own.value, match[2] or ".3g")

    result = _PLACE.sub(fill, text)
    return "" if missing else result


@cache
def reasons() -> dict[str, str]:
    """Why the values of an id differ, by id; figures of ours are in braces (filled)."""
    return {row["id"]: row["reason"] for row in read_csv(REASONS)}


def entry_of(item: Item, of_item: list[Comparison], files: Sequence[Recorded]) -> Entry:
    if not item.by and not of_item:
        status = "needs another GPU" if item.method.startswith("gpus") else "nothing to measure"
        return Entry(item, status, item.remark, [], "")
    if item.by and not item.built():
        return Entry(item, "not yet built", "", [], "")
    device = files[0].device if files else {}
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


def entries(files: Sequence[Recorded]) -> list[Entry]:
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
    shown = [x for x in judged or entry.lines if x.ratio() is not None]
    if not shown:
        return ""
    ratios = [r for x in shown if (r := x.ratio()) is not None]
    shares = " of shares" if all(x.of_shares() for x in shown) else ""
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
    ratio = line.ratio()
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
        "| status | what it says |",
        "|---|---|",
        "| agrees | every value that can be compared is within its tolerance ("
        + ", ".join(tolerances)
        + " %, stated beside it), or keeps the bound that the document states |",
        "| differs; n of m agree | none, or not all of them; the reason, or the experiment that "
        "would find it, is behind the id |",
        "| other method | what is measured is not quite what the document measured |",
        "| other hardware | the published GPU is of another architecture: shown beside ours, and "
        "nothing follows. Of the same architecture, rates are compared as shares of what each GPU "
        "promises (`inputs/published/theory.csv`) |",
        "| promise not known | rates of the same architecture, but `theory.csv` lacks what one of "
        "the GPUs promises: what stands there is the ratio of the rates, and nothing follows |",
        "| measured | recorded here, but the document prints no number |",
        "| not recorded | could be measured, and no recorded file has it |",
        "| needs another GPU; nothing to measure | as it says |",
    ]


def _name_of(command: str) -> str:
    """The file for what a command records: "run lud --size n=16384 --roles iso ... --launch stream"
    is iso-lud-16384-stream.json."""
    what, app, *options = command.split()
    given = dict(zip(options[::2], options[1::2], strict=True))
    sizes = [part.split("=")[1] for part in given["--size"].split(",")]
    return "-".join([given.get("--roles", what), app, *sizes, given["--launch"]]) + ".json"


def _preset_of(compute_capability: int) -> str:
    """The preset whose build folder run.sh makes on such a GPU."""
    return f"sm{compute_capability}" if compute_capability in (70, 80, 90) else "native"


def render(files: Sequence[Recorded], base: Path) -> str:
    """The page as Markdown, links relative to ``base``."""
    told = inconsistencies()
    text = _head()
    for place, gpu in enumerate(gpus_of(files) or [""]):
        mine = [f for f in files if not gpu or f.device["name"] == gpu]
        found = entries(mine)
        text += ["", f"## {plain(gpu) or 'No results recorded'}", "", _counts(found)]
        against = contradictions(mine)
        if against:
            text += ["", "### Claims that these results contradict", ""]
            text += [f"- {_prose(paragraph)}" for paragraph in against]
        if place:  # what the values are is told once: a row and its ratios, where it has any
            text += ["", "Rows with a value of this GPU; what each compares is told above.", ""]
            text += _table([e for e in found if _summary(e)], base, linked=False)
            continue
        commands = dict.fromkeys(x.command for e in found for x in e.lines if x.command)
        if gpu and commands:
            folder = os.path.dirname(mine[0].path)
            if Path(folder).is_relative_to(ROOT):
                folder = Path(folder).relative_to(ROOT).as_posix()
            preset = _preset_of(mine[0].device["compute_capability"])
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
