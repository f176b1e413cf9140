"""Stands for Nsight Compute's ncu where there is none. It takes ncu's options, runs the program
once for each pass, and prints a table in ncu's form. The table has one result for each row that the
stub device was asked to count between two marks (a line "count <variant> <config>" of its log).

FAKE_NCU controls it: a JSON object whose members are all optional.

  `passes`:  how often the program is run (2).
  `values`:  {"<variant> <config>": {metric: text as printed}}; "n/a" is a metric it does not know.
  `results`: how many of the results it prints (all).
  `errors`:  lines that it prints behind "==ERROR==".
  `refuses`: its output instead of running anything.
  `log`:     the stub's log.
  `seen`:    a file that receives its own arguments, one to a line.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

SAID = json.loads(os.environ.get("FAKE_NCU", "{}"))
FIXED = ["Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
         "Block Size", "Grid Size", "Device", "CC"]  # fmt: skip
OF_A_RANGE = ["4242", "amasia-stub", "127.0.0.1", "range", "1", "7", "(0, 0, 0)", "(0, 0, 0)",
              "0", "9.0"]  # fmt: skip


def counted() -> list[str]:
    """The rows that the last pass counted."""
    path = Path(SAID.get("log", "log"))
    lines = path.read_text().splitlines() if path.exists() else []
    opened = max((i for i, line in enumerate(lines) if line.startswith("open ")), default=0)
    return [line.removeprefix("count ") for line in lines[opened:] if line.startswith("count ")]


def table(rows: list[str], metrics: list[str]) -> str:
    """As ncu prints it: every field quoted, thousands set apart, units in a line of their own."""
    text = io.StringIO()
    write = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow
    values = [
        [SAID.get("values", {}).get(row, {}).get(m, f"{1000 * (i + 1) + j:,}")
         for j, m in enumerate(metrics)]
        for i, row in enumerate(rows)
    ]  # fmt: skip
    write(["ID", *FIXED, *metrics])
    write([""] * (1 + len(FIXED) + len(metrics)))
    for i, of_row in enumerate(values):
        write([i, *OF_A_RANGE, *of_row])
    return text.getvalue()


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler")
        print("Copyright (c) 2018-2025 NVIDIA Corporation")
        print("Version 2025.3.1.0 (build 36398880) (public-release)")
        return 0
    if "refuses" in SAID:
        print(f"==ERROR== {SAID['refuses']}")
        return 1
    if "seen" in SAID:
        Path(SAID["seen"]).write_text("\n".join(arguments))
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        name = rest.pop(0)
        options[name] = "" if name == "--csv" else rest.pop(0)
    log = ["==PROF== Connected to process 4242 (/build/amasia-stub)"]
    status = 0
    for _ in range(SAID.get("passes", 2)):
        status = subprocess.run(rest, stdin=subprocess.DEVNULL, check=False).returncode
        if status != 0:
            log.append(f"==ERROR== The application returned an error code ({status}).")
            break
    rows = counted() if status == 0 else []
    log += [f'==PROF== Profiling "range" - {i}: 0%....50%....100% - 2 passes' for i in rows]
    log.append("==PROF== Disconnected from process 4242")
    log += [f"==ERROR== {error}" for error in SAID.get("errors", [])]
    rows = rows[: SAID.get("results", len(rows))]
    if rows and not SAID.get("errors"):
        log.append(table(rows, options["--metrics"].split(",")).rstrip("\n"))
    Path(options["--log-file"]).write_text("\n".join(log) + "\n")
    return status or (1 if SAID.get("errors") else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
