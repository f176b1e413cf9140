"""A report of NVIDIA's Nsight Compute, of any kernel: its CSV export, or the .ncu-rep file itself
where Nsight Compute's Python module is installed.

The harness reads the same tables (harness/process/ncu_output.hpp); both are held to the same
recorded ones, tests/golden/ncu.
"""

from __future__ import annotations

import codecs
import csv
import importlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plots import shell
from plots.errors import PlotsError

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


def _name(line: dict[str, str]) -> str:
    return _BY_TITLE.get(line["Metric Name"], line["Metric Name"])


def _of_details(path: Path, rows: list[list[str]]) -> Iterator[Counted]:
    head, *rest = rows
    lines = [dict(zip(head, row, strict=True)) for row in rest]
    decimal = _convention(
        path,
        ((_name(line), line["Metric Value"], line.get("Metric Unit", "")) for line in lines),
    )
    last, kernel = None, None
    for line in lines:
        if kernel is None or line["ID"] != last:
            if kernel is not None:
                yield kernel
            last = line["ID"]
            kernel = Counted(
                line.get("Kernel Name", ""), {}, _shape(line.get("Block Size", "")),
                _shape(line.get("Grid Size", "")),
            )  # fmt: skip
        value = value_of(line["Metric Value"], line.get("Metric Unit", ""), decimal)
        if value is not None:
            kernel.metrics[_name(line)] = value
    if kernel is not None:
        yield kernel


def _of_raw(path: Path, rows: list[list[str]]) -> Iterator[Counted]:
    head, *rest = rows
    measured: list[tuple[dict[str, str], dict[str, str]]] = []  # a line, and the units before it
    units = dict.fromkeys(head, "")
    for row in rest:
        line = dict(zip(head, row, strict=True))
        if line["ID"]:
            measured.append((line, units))
        else:
            units = line
    metrics = [name for name in head if "__" in name]
    decimal = _convention(path, ((m, line[m], of[m]) for line, of in measured for m in metrics))
    for line, of in measured:
        values = {m: value_of(line[m], of[m], decimal) for m in metrics}
        yield Counted(
            line.get("Kernel Name", ""),
            {metric: value for metric, value in values.items() if value is not None},
            _shape(line.get("Block Size", "")),
            _shape(line.get("Grid Size", "")),
        )


def read_csv(path: Path) -> list[Counted]:
    """The kernels of `ncu --csv`, raw page or details page. Raises PlotsError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # as PowerShell's >
    text = content.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace")
    if "\0" in text:
        raise PlotsError(f"{path}: is no text in UTF-8 or, with its byte-order mark, UTF-16")
    kernels: list[Counted] = []
    for rows in _tables(path, text.splitlines()):
        details = {"Metric Name", "Metric Value"} <= set(rows[0])
        kernels += (_of_details if details else _of_raw)(path, rows)
    if not kernels:
        said = next((line for line in text.splitlines() if line.startswith("==ERROR==")), "")
        raise PlotsError(
            f"{path}: holds no table of kernels as ncu --csv prints it"
            + (f"; it says: {said.removeprefix('==ERROR==').strip()}" if said else "")
            + ". Export a report with: ncu -i report.ncu-rep --csv --page raw > report.csv"
        )
    return kernels


def _export_instead(path: Path) -> str:
    export = shell.command("ncu", "-i", path.name, "--csv", "--page", "raw")
    return f"export it with: {export} > {shell.command(path.stem + '.csv')}, and give that"


def read_binary(path: Path) -> list[Counted]:
    """The kernels of a .ncu-rep file, by Nsight Compute's Python module. Raises PlotsError."""
    if not path.is_file():
        raise PlotsError(f"{path}: expected a report, found nothing")
    try:
        module: Any = importlib.import_module("ncu_report")
    except ImportError:
        raise PlotsError(
            f"{path}: Nsight Compute's Python module ncu_report is not installed (its folder "
            f"extras/python on PYTHONPATH); {_export_instead(path)}"
        ) from None
    try:
        return [_of_action(action) for range_ in module.load_report(str(path)) for action in range_]
    except Exception as error:  # whatever another version's module raises
        raise PlotsError(
            f"{path}: this Nsight Compute's module cannot read it ({error}), maybe because another "
            f"version wrote it; {_export_instead(path)}"
        ) from None


def _of_action(action: Any) -> Counted:
    metrics = {}
    for name in action.metric_names():
        metric = action[name]
        value = metric.value()
        if isinstance(value, (int, float)) and math.isfinite(value):
            metrics[name] = value * _UNITS.get(str(metric.unit() or "").split("/")[0], 1)

    def shape(of: str) -> tuple[int, int, int] | None:
        sides = [metrics.get(f"launch__{of}_dim_{axis}") for axis in "xyz"]
        if any(side is None for side in sides):
            return None
        x, y, z = (int(side) for side in sides if side is not None)
        return x, y, z

    return Counted(action.name(), metrics, shape("block"), shape("grid"))


def read_report(path: Path) -> list[Counted]:
    """The kernels of a report, by the kind of file. Raises PlotsError."""
    return read_binary(path) if path.suffix == ".ncu-rep" else read_csv(path)
