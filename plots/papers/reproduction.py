"""docs/reproduction.md: one row per table, figure and claim of the source documents.

A status follows from the figures: judge() says of each value whether it agrees, and status_of()
counts. inputs/published/comparisons.csv has what is compared with what, notes.csv what is told.
"""

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
from plots.errors import PlotsError
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
    located,
    published_row,
    read_csv,
    theory,
)
from plots.prose import plain
from plots.units import amount

STATUSES = {
    "agrees": "every judged value is within its tolerance, or keeps the bound that the document "
    "states",
    "agrees in part": "some are; the reason is shown with the id, and the experiment that decides",
    "differs": "none is; likewise",
    "other hardware": "the published GPU is of another architecture, the value is of that very "
    "model alone, or what this GPU promises is not known: shown beside ours, without a verdict",
    "other method": "what is measured is not what the document measured. How many values are "
    "within their tolerance follows; it does not count as agreement",
    "document against itself": "the document's text beside its own table; nothing was measured",
    "not reproducible here": "no measurement on this GPU can answer; the reason follows",
    "not measured yet": "no recorded file has a value that can be judged; what is missing follows",
}
ROUNDING = 0.005  # of a ratio that is printed with two digits
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
    ONE_ROUND = "one round, not judged"
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

    @property
    def judged(self) -> bool:
        return self.verdict in (Verdict.AGREES, Verdict.DIFFERS)


def _effect_holds(own: Own, low: float, high: float, relation: str, tolerance: float) -> bool:
    """Whether our effect, the distance of a ratio from 1, has the published sign and, with its
    interval, reaches the published effects. The tolerance is a share of the effect."""
    least, most = (own.value - 1 if end is None else end - 1 for end in (own.low, own.high))
    low, high = low - 1, high - 1
    if relation == "at least":
        return least > low
    if relation == "at most":
        return least <= high
    if (low > 0 and least <= 0) or (high < 0 and most >= 0):
        return False
    slack = max(tolerance / 100 * max(abs(low), abs(high)), ROUNDING)
    return most >= low - slack and least <= high + slack


def _holds(own: float, low: float, high: float, relation: str, tolerance: float) -> bool:
    slack = 1 + tolerance / 100 + 1e-9
    above, below = own >= low / slack, own <= high * slack
    return (relation == "at most" or above) and (relation == "at least" or below)


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
    if c.units and own.unit not in c.units:
        raise PlotsError(f"{c.place}: ours is in {own.unit}, not in {' or '.join(c.units)}")
    ours, theirs = (theory(c.theory, gpu) if c.theory else None for gpu in (device, c.gpu))
    theirs = 1.0 if c.kind.endswith("own share") else theirs  # published is a share already
    own_share = own.value / ours if ours else None
    published_share = c.low / theirs if theirs else None
    of_shares = c.kind.endswith("share")
    promised = own_share is not None and published_share is not None
    value, low, high = own.value, c.low, c.high
    if of_shares and promised:
        value, low, high = own_share, c.low / theirs, c.high / theirs
    foreign = bool(c.gpu) and architecture(c.gpu) != device.compute_capability
    other_model = bool(c.gpu) and not device.name.startswith(f"NVIDIA {c.gpu}")
    unlike = {"value": foreign, "share": foreign or not promised, "model": other_model}
    if c.kind.startswith("beside"):
        verdict = Verdict.BESIDE
    elif unlike.get(c.kind.removeprefix("own ")):
        verdict = Verdict.OTHER_HARDWARE
    elif own.n == 1:
        verdict = Verdict.ONE_ROUND
    elif c.kind == "effect":
        fits = _effect_holds(own, low, high, c.relation, c.tolerance)
        verdict = Verdict.AGREES if fits else Verdict.DIFFERS
        if not fits and own.low is not None and own.low <= 1 <= own.high:
            why = "not distinguishable from 1"
        elif not fits and (own.value - 1) * (low - 1) < 0:
            why = "other sign"
    else:
        fits = _holds(value, low, high, c.relation, c.tolerance)
        verdict = Verdict.AGREES if fits else Verdict.DIFFERS
    ratio = value / (min(max(value, low), high) if value > 0 and low < high else low)
    return line(
        verdict, own, why=why, own_share=own_share, published_share=published_share,
        of_shares=c.kind == "share" and promised,
        ratio=None if c.kind.endswith("own share") and not promised else ratio,
    )  # fmt: skip


_OPCODE = re.compile(r"\b[A-Z][A-Z0-9]{2,}(?:\.[A-Za-z0-9]+)*")


def opcodes(text: str) -> set[str]:
    """The machine instructions that a text names."""
    return {name for name in _OPCODE.findall(text) if name != "SASS"}


def code_of(row: Any, counted: str = "") -> str:
    """The machine code of a row as its remark has it, else the instructions counted as its proof;
    of ``counted`` alone, how many there are."""
    proof = {p.instruction: p.found for p in row.proof}
    if counted:
        return f"{proof[counted]} {counted}" if proof.get(counted) else "(none)"
    remark, found, listed = row.remark.partition("SASS: ")
    if found:
        return f"{listed} ({remark.rstrip('; ')})" if remark else listed
    names = " + ".join(name for name in proof if name != "total")
    return f"{names} ({remark})" if remark else names


def _same_code(ours: str, printed: str) -> bool:
    """Whether ours has an alternative of the printed code, with all that is printed of the shape
    and type of each instruction."""
    if "(none)" in (printed, ours):
        return printed == ours
    if "(emulated" in ours:  # in several steps: the same only as a whole
        return opcodes(ours.partition(" (")[0]) == opcodes(printed)
    own = [f"{name}." for name in opcodes(ours)]
    return any(
        all(any(name.startswith(f"{wanted}.") for name in own) for wanted in opcodes(part))
        for part in re.split(" or |; ", printed)
    )


def _code_lines(item: Item, files: Files) -> list[Line]:
    lines = []
    for place, row in located(FOLDER / "opcodes.csv"):
        if row["id"] != item.id:
            continue
        printed = row["printed"]
        if row["file"]:
            printed = published_row(row["file"], row["where"], place)[row["column"]]
        why = row["own"].partition("none: ")[2]
        own, _, counted = row["own"].partition("?")
        code, verdict = "", Verdict.NOT_APPLICABLE if why else Verdict.NOT_RECORDED
        if not why and (recorded := row_of(files, own)):
            code = code_of(recorded, counted)
            verdict = Verdict.AGREES if _same_code(code, printed) else Verdict.DIFFERS
            names = _OPCODE.sub(lambda opcode: opcode[0].split(".")[0], printed)
            if "SASS: " not in recorded.remark and names != printed and _same_code(code, names):
                verdict = Verdict.NOT_RECORDED  # only the name was
            if architecture(row["gpu"]) != files[0].device.compute_capability:
                verdict = Verdict.OTHER_HARDWARE
        of = Line(row["label"], row["gpu"], verdict, code=code, published_code=printed, why=why)
        lines.append(of)
    return lines


def _with_code(line: Line, c: Comparison, files: Files) -> Line:
    """The machine code beside the cycles where the printed row has a column for it."""
    printed = published_row(c.file, c.where, c.place).get("sass") if " / " not in c.where else None
    if not printed or c.relation != "equal" or not (row := row_of(files, c.own)):
        return line
    return replace(line, code=code_of(row), published_code=printed)


@dataclass(frozen=True)
class Note:
    """What is told of an id; the head of notes.csv explains the words."""

    id: str
    claim: str = ""
    reason: str = ""
    decides: str = ""
    waits: str = ""
    outside: str = ""
    source: str = ""


@cache
def notes() -> dict[str, Note]:
    """By id; figures of ours are in braces (filled)."""
    return {row["id"]: Note(**row) for row in read_csv(FOLDER / "notes.csv")}


@dataclass(frozen=True)
class Entry:
    """An id with its status, why, and its values."""

    item: Item
    status: str
    why: str
    lines: list[Line]
    link: str
    note: Note = Note("")

    @property
    def counted(self) -> str:
        """The status without what follows it: one of STATUSES."""
        return self.status.partition(":")[0].partition(";")[0]


def _answered(item: Item, files: Files) -> tuple[str, str]:
    """The file that has what answers the item; else why what ran has nothing on this machine."""
    wanted, why = set(item.answers()), ""
    for file in files:
        names = {f"app {group.key.app}" for group in file.document.groups}
        names |= {"ceilings"} if file.document.ceilings else set()
        for m in (m for m in file.document.microbenchmarks if m.name in wanted):
            names |= {m.name} if any(row.status == "ok" for row in m.rows) else set()
            why = why or next((row.reason for row in m.rows if row.status == "skipped"), "")
        if names & wanted:
            return file.path, ""
    return "", why


def status_of(item: Item, lines: Sequence[Line], waits: str = "") -> str:
    """What the lines of an id say together: one of STATUSES and what belongs to it."""
    count = Counter(line.verdict for line in lines)
    agree, judged = count[Verdict.AGREES], sum(line.judged for line in lines)
    missing = count[Verdict.NOT_RECORDED] + count[Verdict.ONE_ROUND]
    waits = waits if missing else ""
    of = f": {agree} of {judged}" if judged else ""
    if item.kind == "self":
        return f"document against itself{of} agree"
    if item.kind == "other" and judged + count[Verdict.OTHER_HARDWARE] + count[Verdict.BESIDE]:
        status = f"other method{of}" + (" within tolerance" if of else "")
    elif judged:
        status = f"agrees in part{of}"
        status = status if 0 < agree < judged else "agrees" if agree else "differs"
    elif count[Verdict.OTHER_HARDWARE] or (count[Verdict.BESIDE] and not missing):
        status = "other hardware"
    elif count[Verdict.NOT_APPLICABLE]:
        return f"not reproducible here: {next(line.why for line in lines if line.why)}"
    else:
        status = ""
    waits = waits or (f"{missing} of {len(lines)} values" if missing and status else "")
    text = f"not measured yet: {waits}" if waits else "" if status else "not measured yet"
    return "; ".join(part for part in (status, text) if part)


def entry_of(item: Item, of_item: list[Comparison], files: Files) -> Entry:
    kind, _, how = item.method.partition(": ")
    if kind == "none":
        return Entry(item, f"not reproducible here: {how}", item.remark, [], "")
    device = files[0].device if files else None
    note = notes().get(item.id, Note(item.id))
    note = replace(note, outside=filled(note.outside, files))
    lines, link = [], ""
    for c in of_item:
        try:
            own, why = own_value(files, c.own)
        except PlotsError as error:
            raise PlotsError(f"{c.place}: {error}") from error
        link = link or (own.file if own else "")
        line = judge(c, own, device, why) if own is None or device or not own.file else None
        if line is not None:
            lines.append(_with_code(line, c, files))
    lines += _code_lines(item, files)
    measured, skipped = _answered(item, files)
    link = link or (measured if any(line.code for line in lines) else "")
    text = "; ".join(t for t in (how, item.remark) if t)
    recorded = any(line.verdict is not Verdict.NOT_RECORDED for line in lines)
    if not recorded and skipped:
        return Entry(item, f"not reproducible here: {skipped}", text, lines, "", note)
    if not lines:
        status = "not reproducible here: measured, but the document prints no number"
        return Entry(item, status if measured else "not measured yet", text, [], measured, note)
    if recorded and any(line.verdict is Verdict.DIFFERS for line in lines):
        note = replace(note, reason=filled(note.reason, files))
    else:
        note = replace(note, reason="", decides="")
    waits = note.waits if recorded else ""
    return Entry(item, status_of(item, lines, waits), text, lines, link, note)


def entries(files: Files) -> list[Entry]:
    by_id: dict[str, list[Comparison]] = {}
    for c in comparisons():
        by_id.setdefault(c.id, []).append(c)
    return [entry_of(item, by_id.get(item.id, []), files) for item in inventory()]


def _prose(text: str) -> str:
    """A sentence of ours as Markdown: it may hold code, and no HTML."""
    return html.escape(text, quote=False).replace("*", "\\*")


def _cell(text: str) -> str:
    """Text of ours or of a document as one cell of a table."""
    return _prose(text).replace("|", "\\|").replace("\n", " ")


def _link(path: str, base: Path) -> str:
    if not path:
        return ""
    return f"[{Path(path).name}]({os.path.relpath(path, base)})"


def contradictions(found: Sequence[Entry]) -> list[str]:
    """One paragraph for each claim that these results, of one GPU, contradict."""
    return [
        f"{e.item.id}, {e.note.claim}: {e.note.reason} What decides: {e.note.decides}"
        for e in found
        if e.note.claim and e.note.reason
    ]


def _summary(entry: Entry) -> str:
    """Ours over the published values in a few words: the judged ones, else all."""
    judged = [x for x in entry.lines if x.judged]
    shown = [x for x in judged or entry.lines if x.ratio is not None]
    if not shown:
        return ""
    ends = dict.fromkeys(f"{of(x.ratio for x in shown):.2f}" for of in (min, max))
    shares = " of shares" if all(x.of_shares for x in shown) else ""
    return " to ".join(ends) + shares + (f" ({len(shown)})" if len(shown) > 1 else "")


def counts(found: Sequence[Entry]) -> str:
    """How many rows have which status, in a sentence."""
    of = Counter(e.counted for e in found)
    listed = ", ".join(f"{status} {of[status]}" for status in STATUSES if of[status])
    return f"{len(found)} rows: {listed}."


def _outside(note: Note) -> str:
    """What others published, with its source: "owner/repository@commit path" on GitHub."""
    if not note.outside:
        return ""
    repository, commit, path = re.split("[@ ]", note.source)
    address = f"https://github.com/{repository}/blob/{commit}/{path}"
    return f"{_cell(note.outside)} ([{repository}]({address}))"


def _table(found: list[Entry], base: Path, again: Sequence[Entry] = ()) -> list[str]:
    """A line per entry, its id linked to the values behind it: the first, or those of ``again``."""
    lines = [
        "| id | where | what | status | here / published | outside evidence | data |",
        "|---|---|---|---|--:|---|---|",
    ]
    for e in found:
        name = f"[{e.item.id}](#{e.item.id}{'-2' * (e in again)})"
        cells = [name, _cell(e.item.where), _cell(e.item.what), _cell(e.status), _summary(e)]
        cells += [_outside(e.note), _link(e.link, base)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _here(line: Line) -> str:
    """Our value; where effects are compared, with its effect."""
    if line.own is None:
        return "" if line.low is None else "–"
    effect = f" ({100 * (line.own.value - 1):+.2f} %)" if line.basis == "effect" else ""
    return f"{amount(line.own.value)} {line.own.unit}{effect}"


def _published(line: Line) -> str:
    if line.low is None:
        return ""
    ends = [line.low] if line.high in (line.low, None) else [line.low, line.high]
    text = " to ".join(map(amount, ends))
    if line.basis == "effect":
        text += f" ({' to '.join(f'{100 * (end - 1):+.1f}' for end in ends)} %)"
    return f"{line.relation} {text}" if line.relation in ("at least", "at most") else text


def _figure(value: float | None, digits: str) -> str:
    return "" if value is None else format(value, digits)


def _verdict(line: Line) -> str:
    word = line.verdict.value
    if line.verdict is Verdict.AGREES and line.tolerance:
        word += f" within {line.tolerance:g} %" + " of the effect" * (line.basis == "effect")
    because = plain(line.why) or (f"`amasia {line.command}`" if line.command else "")
    return f"{word}: {because}" if because else word


def _values(entry: Entry, base: Path) -> list[str]:
    """The table of an entry's values, without columns that are empty."""
    own = ("by the table", "stated", "table / stated")
    heads = own if entry.item.kind == "self" else ("here", "published", "here / published")
    columns = {
        "value": lambda x: _cell(x.label),
        "GPU": lambda x: x.gpu,
        **dict(zip(heads, (_here, _published, lambda x: _figure(x.ratio, ".3f")), strict=True)),
        "share here": lambda x: _figure(x.own_share, ".3g"),
        "share published": lambda x: _figure(x.published_share, ".3g"),
        "SASS here": lambda x: _cell(x.code),
        "SASS published": lambda x: _cell(x.published_code),
        "verdict": _verdict,
        "cell": lambda x: (
            x.own and x.own.cell and f"{_link(x.own.file, base)}: {_cell(x.own.cell)}"
        ),
    }
    cells = {head: [of(x) or "" for x in entry.lines] for head, of in columns.items()}
    cells = {head: column for head, column in cells.items() if any(column)}
    rows = [list(cells), ["--:" if head in heads else "---" for head in cells]]
    rows += zip(*cells.values(), strict=True)
    return [f"| {' | '.join(row)} |" for row in rows]


def _details(entry: Entry, told: Sequence[Inconsistency], base: Path, again: str = "") -> list[str]:
    """The values behind a row, folded; ``again`` where the page has the row before."""
    e = entry
    title = f"{e.item.id}, {e.item.where}: {html.escape(e.item.what, quote=False)}"
    text = [f'<a id="{e.item.id}{again}"></a>', f"<details><summary>{title}</summary>", ""]
    if e.why:
        text += [f"How: {plain(e.why)}.".replace("..", "."), ""]
    for head, what in (("Why it differs", e.note.reason), ("What decides", e.note.decides)):
        text += [f"{head}: {_prose(what)}", ""] if what else []
    text += [f"The document: {_prose(i.text)}\n" for i in told if i.id == e.item.id]
    text += [*_values(e, base), ""] if e.lines else []
    return [*text, "</details>", ""]


def _head() -> list[str]:
    tolerances = sorted({f"{c.tolerance:g}" for c in comparisons()}, key=float)
    return [
        "# What of the source documents is reproduced",
        "",
        "Generated from `inputs/published/` and the recorded results by",
        "`python -m plots docs results`; a test fails when it is stale. One row per table, figure",
        "and claim of the four documents; behind its id, every value with its tolerance. A value",
        "that several files have is that of the study `paper`, else of the newest file. Each GPU",
        "is judged on its own hardware.",
        "",
        "| status | meaning |",
        "|---|---|",
        *(f"| {status} | {meaning} |" for status, meaning in STATUSES.items()),
        "",
        f"Tolerances are {', '.join(tolerances)} %; the head of `inputs/published/comparisons.csv`",
        "says what is compared as a value, a share or an effect. A single round is never judged.",
        "Outside evidence, code or logs that others published, decides what was measured, never",
        "whether we agree.",
    ]


def render(results: Results, base: Path) -> str:
    """The page as Markdown, links relative to ``base``."""
    told = inconsistencies()
    text = _head()
    shown: list[Entry] = []
    for place, gpu in enumerate(results.gpus or [""]):
        mine = [f for f in results.recorded if not gpu or f.device.name == gpu]
        found = entries(mine)
        text += ["", f"## {plain(gpu) or 'No results recorded'}", "", counts(found)]
        if against := contradictions(found):
            text += ["", "### Claims that these results contradict", ""]
            text += [f"- {_prose(paragraph)}" for paragraph in against]
        if place:  # the values behind a row are listed again where they lead to another status
            first = {e.item.id: e.status for e in shown}
            found = [e for e in found if _summary(e) and e.item.kind != "self"]
            text += ["", "Rows with a value of this GPU."]
            text += ["Listed again behind an id: the values of a row with another status.", ""]
            other = [e for e in found if e.status != first[e.item.id]]
            text += _table(found, base, other)
            text.append("")
            text += (line for e in other for line in _details(e, (), base, "-2"))
        else:
            shown = found
            for source in dict.fromkeys(e.item.source for e in found):
                of_source = [e for e in found if e.item.source == source]
                text += ["", f"### {source}", "", f"<{ADDRESSES[source]}>", ""]
                text += _table(of_source, base)
                text.append("")
                text += (line for e in of_source for line in _details(e, told, base))
    text += ["", "## Where the documents contradict themselves or each other", ""]
    text += [f"- {i.id}, {i.source}: {_prose(i.text)}" for i in told]
    return "\n".join(text).rstrip("\n") + "\n"
