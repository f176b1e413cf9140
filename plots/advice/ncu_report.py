"""A report of NVIDIA's Nsight Compute, of any kernel: its CSV export, or the .ncu-rep file itself
where Nsight Compute is on PATH.

The harness reads the same tables (harness/process/profiler.hpp); both are held to the same
recorded ones, tests/golden/ncu.
"""

import codecs
import csv
import itertools
import math
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plots.errors import PlotsError
from plots.processes import run

# ncu scales by thousands; other units (inst, cycle, %) it leaves.
_UNITS = {
    "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12,
    "nsecond": 1, "usecond": 1e3, "msecond": 1e6, "second": 1e9,
    "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9,
}  # fmt: skip
# The details page has names for people: those of what is asked for here.
_BY_TITLE = {
    "Registers Per Thread": "launch__registers_per_thread",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "Block Size": "launch__block_size",
    "Grid Size": "launch__grid_size",
    "Cluster Size": "launch__cluster_size",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "Achieved Occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Duration": "gpu__time_duration.sum",
}
# What stands between groups of three digits besides a comma or a point: spaces, also those that do
# not break, and apostrophes.
_GAPS = str.maketrans("", "", " \u00a0\u2009\u202f'\u2019")
_ROW = re.compile(r'"\d*"[,;\t]|\d*[,;\t]')  # how a line of a table begins: with its ID, or none
_HEADER = re.compile(r'(?:"ID"|^ID)([,;\t])')
# What has no decimals: a metric, or a sum in one of these units.
_COUNT = re.compile(r"launch__(grid_size|block_size|thread_count)|.*_inst_executed.*\.sum")
_COUNTED = ("byte", "inst", "cycle", "sector", "request", "warp", "block", "thread")


@dataclass
class Counted:
    """One kernel of a report: metric -> value in base units; block and grid as they were
    launched."""

    name: str
    metrics: dict[str, float] = field(default_factory=dict)
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None


def value_of(text: str, unit: str = "", decimal: str = ".") -> float | None:
    """A value in base units: ("1,234.5", "Kbyte") -> 1234500. None for what is no number."""
    digits = text.translate(_GAPS).replace("," if decimal == "." else ".", "")
    try:
        value = float(digits.replace(",", "."))
    except ValueError:
        return None
    # A unit may be per something: "Kbyte/block".
    return value * _UNITS.get(unit.split("/")[0], 1) if math.isfinite(value) else None


_GROUPS = {mark: re.compile(rf"-?[1-9]\d{{0,2}}(\{mark}\d{{3}})+") for mark in ",."}


def _decimal_mark(text: str) -> str:
    """Which mark comes before the decimals of a number by its form: "," of "2,68" and "1.234,5",
    "." of "2.68" and "1,234,567"; "" of "1,234" and "12", which say nothing."""
    digits = text.translate(_GAPS)
    if not re.fullmatch(r"-?\d[\d.,]*", digits):
        return ""
    marks = [c for c in digits if c in ",."]
    if not marks:
        return ""
    last, other = marks[-1], "," if marks[-1] == "." else "."
    if other in marks:  # of both the last one
        return last
    if _GROUPS[last].fullmatch(digits):
        return other if len(marks) > 1 else ""
    return last


def _is_count(metric: str, unit: str) -> bool:
    return bool(_COUNT.fullmatch(metric)) or (metric.endswith(".sum") and unit in _COUNTED)


def _convention(path: Path, numbers: Iterable[tuple[str, str, str]]) -> str:
    """The decimal mark of a table, from all its (metric, number, unit): ncu writes numbers as the
    locale of its shell has them. Raises PlotsError where they contradict each other, or fit both
    "." and ",", a thousandfold apart."""
    found: dict[str, str] = {}  # mark -> the number that says so
    open_ones = []
    for metric, text, unit in numbers:
        mark = _decimal_mark(text)
        digits = text.translate(_GAPS)
        if not mark and any(_GROUPS[m].fullmatch(digits) for m in ",."):
            if _is_count(metric, unit):
                mark = "." if "," in digits else ","
            else:
                open_ones.append(text)
        if mark:
            found.setdefault(mark, text)
    again = "export it again with LC_ALL=C before ncu: LC_ALL=C ncu -i report.ncu-rep --csv"
    if len(found) > 1:
        raise PlotsError(
            f"{path}: has numbers with a decimal point ({found['.']!r}) and with a decimal comma "
            f"({found[',']!r}); {again}"
        )
    if not found and open_ones:
        raise PlotsError(
            f"{path}: {open_ones[0]!r} is a thousand times as much with thousands set apart as "
            f"with decimals, and no other number says which is meant; {again}"
        )
    return next(iter(found), ".")


def _shape(text: str) -> tuple[int, int, int] | None:
    """(256, 1, 1), also with thousands set apart: (1.024, 1, 1)."""
    sides = re.split(r",\s+", text.strip().strip("()"))
    if len(sides) != 3:
        sides = text.strip().strip("()").split(",")
    digits = [re.sub(r"\D", "", side) for side in sides]
    if len(digits) != 3 or not all(digits):
        return None
    x, y, z = map(int, digits)
    return x, y, z


def _tables(path: Path, lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """The tables of a text, each from its header on; what else ncu or the program printed, before
    them, between their lines or behind them, is passed over."""
    table: list[str] = []
    mark = ","
    for line in lines:
        # Behind what a program printed without an end of line.
        if header := _HEADER.search(line):
            if table:
                yield _parsed(path, table, mark)
            table, mark = [line[header.start() :]], header[1]
        # Of a table in quotes, as ncu writes it, each line begins with one.
        elif table and _ROW.match(line) and (line[0] == '"') == (table[0][0] == '"'):
            table.append(line)
    if table:
        yield _parsed(path, table, mark)


def _parsed(path: Path, lines: list[str], mark: str) -> list[list[str]]:
    try:
        rows = list(csv.reader(lines, delimiter=mark, strict=True))
    except csv.Error as error:
        raise PlotsError(f"{path}: expected a table as ncu --csv prints it: {error}") from None
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise PlotsError(
                f"{path}: expected {width} fields in line {number} of the table, found {len(row)}: "
                "the file is cut off or damaged; export it again"
            )
    return rows


Cell = tuple[str, str, str]  # metric, number, unit


def _launches(rows: list[list[str]]) -> Iterator[tuple[dict[str, str], list[Cell]]]:
    """Of each launch in a table the line that names it, and its cells. The raw page has a line for
    a launch and units in lines without an ID, the details page a line for a metric."""
    head, *rest = rows
    lines = [dict(zip(head, row, strict=True)) for row in rest]
    if {"Metric Name", "Metric Value"} <= set(head):
        for _, of in itertools.groupby(lines, key=lambda line: line["ID"]):
            named = [(m, m["Metric Name"]) for m in of]
            yield (
                named[0][0],
                [
                    (_BY_TITLE.get(name, name), m["Metric Value"], m.get("Metric Unit", ""))
                    for m, name in named
                ],
            )
        return
    units = dict.fromkeys(head, "")
    for line in lines:
        if line["ID"]:
            yield line, [(name, line[name], units[name]) for name in head if "__" in name]
        else:
            units = line


def _kernels(path: Path, rows: list[list[str]]) -> Iterator[Counted]:
    launches = list(_launches(rows))
    decimal = _convention(path, (cell for _, cells in launches for cell in cells))
    for line, cells in launches:
        values = {metric: value_of(text, unit, decimal) for metric, text, unit in cells}
        yield Counted(
            line.get("Kernel Name", ""),
            {metric: value for metric, value in values.items() if value is not None},
            _shape(line.get("Block Size", "")),
            _shape(line.get("Grid Size", "")),
        )


def _text_of(path: Path) -> str:
    """Of a .ncu-rep file what Nsight Compute exports, else the file. Raises PlotsError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    if path.suffix == ".ncu-rep":
        export = ["ncu", "-i", str(path), "--csv", "--page", "raw"]
        try:
            return run(export, LC_ALL="C")
        except PlotsError as error:
            file = shlex.quote(path.stem + ".csv")
            raise PlotsError(
                f"{path}: {error}; export it with the Nsight Compute that wrote it: "
                f"{shlex.join(export)} > {file}, and give that"
            ) from None
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # as PowerShell's >
    text = content.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace")
    if "\0" in text:
        raise PlotsError(f"{path}: is no text in UTF-8 or, with its byte-order mark, UTF-16")
    return text


def read_report(path: Path) -> list[Counted]:
    """The kernels of a .ncu-rep file or of `ncu --csv`, raw or details page. Raises PlotsError."""
    text = _text_of(path)
    kernels: list[Counted] = []
    for rows in _tables(path, text.splitlines()):
        kernels += _kernels(path, rows)
    if not kernels:
        said = next((line for line in text.splitlines() if line.startswith("==ERROR==")), "")
        raise PlotsError(
            f"{path}: holds no table of kernels as ncu --csv prints it"
            + (f"; it says: {said.removeprefix('==ERROR==').strip()}" if said else "")
            + ". Export a report with: ncu -i report.ncu-rep --csv --page raw > report.csv"
        )
    return kernels
