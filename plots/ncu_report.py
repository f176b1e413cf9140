"""A report of NVIDIA's Nsight Compute, of any kernel: its CSV export, or the .ncu-rep file itself
where Nsight Compute's Python module is installed.

The harness reads the same tables (harness/process/ncu_output.hpp); both are held to the same
recorded ones, tests/golden/ncu.
"""

from __future__ import annotations

import csv
import importlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
_SHAPE = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)?")


@dataclass
class Counted:
    """One kernel of a report: metric -> value in base units; block and grid as they were
    launched."""

    name: str
    metrics: dict[str, float] = field(default_factory=dict)
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None


def value_of(text: str, unit: str = "") -> float | None:
    """A value in base units: ("1,234.5", "Kbyte") -> 1234500. None for what is no number."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    # A unit may be per something: "Kbyte/block".
    return value * _UNITS.get(unit.split("/")[0], 1) if math.isfinite(value) else None


def _shape(text: str) -> tuple[int, int, int] | None:
    found = _SHAPE.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _tables(path: Path, lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """The tables of a text, each from its header on; what else ncu or the program printed is passed
    over."""
    table: list[str] = []
    for line in lines:
        if line.startswith('"ID"') or line.startswith("ID,"):
            if table:
                yield _parsed(path, table)
            table = [line]
        elif (table and line[:1] in ('"', ",")) or (table and line[:1].isdigit()):
            table.append(line)
    if table:
        yield _parsed(path, table)


def _parsed(path: Path, lines: list[str]) -> list[list[str]]:
    try:
        rows = list(csv.reader(lines, strict=True))
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


def _of_details(rows: list[list[str]]) -> Iterator[Counted]:
    head, *rest = rows
    last, kernel = None, None
    for row in rest:
        line = dict(zip(head, row, strict=True))
        if kernel is None or line["ID"] != last:
            if kernel is not None:
                yield kernel
            last = line["ID"]
            kernel = Counted(
                line.get("Kernel Name", ""), {}, _shape(line.get("Block Size", "")),
                _shape(line.get("Grid Size", "")),
            )  # fmt: skip
        name = _BY_TITLE.get(line["Metric Name"], line["Metric Name"])
        value = value_of(line["Metric Value"], line.get("Metric Unit", ""))
        if value is not None:
            kernel.metrics[name] = value
    if kernel is not None:
        yield kernel


def _of_raw(rows: list[list[str]]) -> Iterator[Counted]:
    head, *rest = rows
    units = dict.fromkeys(head, "")
    for row in rest:
        line = dict(zip(head, row, strict=True))
        if not line["ID"]:
            units = line
            continue
        metrics = {
            name: value
            for name, text in line.items()
            if "__" in name and (value := value_of(text, units[name])) is not None
        }
        yield Counted(
            line.get("Kernel Name", ""), metrics, _shape(line.get("Block Size", "")),
            _shape(line.get("Grid Size", "")),
        )  # fmt: skip


def read_csv(path: Path) -> list[Counted]:
    """The kernels of `ncu --csv`, raw page or details page. Raises PlotsError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise PlotsError(f"{path}: cannot be read ({error.strerror})") from None
    kernels: list[Counted] = []
    for rows in _tables(path, text.splitlines()):
        details = {"Metric Name", "Metric Value"} <= set(rows[0])
        kernels += (_of_details if details else _of_raw)(rows)
    if not kernels:
        said = next((line for line in text.splitlines() if line.startswith("==ERROR==")), "")
        raise PlotsError(
            f"{path}: holds no table of kernels as ncu --csv prints it"
            + (f"; it says: {said.removeprefix('==ERROR==').strip()}" if said else "")
            + ". Export a report with: ncu -i report.ncu-rep --csv --page raw > report.csv"
        )
    return kernels


def _export_instead(path: Path) -> str:
    return f"export it with: ncu -i {path.name} --csv --page raw > {path.stem}.csv, and give that"


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
