"""Prints the sum of JUnit reports as `N passed, N failed, N skipped`.

    python scripts/test_summary.py [--programs CTEST.xml FOLDER] [REPORT.xml...]

Reads the dialects of ctest, of pytest and of GoogleTest. --programs is for what ctest runs as one
test each and has many cases: FOLDER holds the report that each program wrote of its cases, named
`<name of the test>.xml`, and these are counted instead of the program. A program without a report
is one failure: it died, or was ended at its time limit, before it could write one. So is a program
that failed although its cases did not.

Exit code 1 if a test failed, if none passed, or if a report is missing or cut off (its runner
died). The reasons and the names of what failed go to stderr.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def outcome(case: ElementTree.Element) -> str:
    """Return passed, failed or skipped for one <testcase>.

    ctest says in the attribute `status` what pytest says with child elements alone: `run`, `fail`,
    `notrun` (skipped, or its executable is missing) and `disabled`. GoogleTest says `notrun` of a
    disabled case, too, and `suppressed` as its result.
    """
    children = {child.tag for child in case}
    if children & {"failure", "error"} or case.get("status") == "fail":
        return "failed"
    skipped = case.find("skipped")
    if case.get("result") == "suppressed":
        return "skipped"
    if case.get("status") == "notrun":
        # A test whose executable was not built has not been skipped on purpose.
        message = (skipped.get("message") or "") if skipped is not None else ""
        return "skipped" if message.startswith("SKIP_") else "failed"
    if skipped is not None or case.get("status") == "disabled":
        return "skipped"
    return "passed"


def name_of(case: ElementTree.Element) -> str:
    """Suite and name, as their runner prints them: `Suite.case`, or `module::case` of pytest."""
    suite, name = case.get("classname") or "", case.get("name") or "?"
    if not suite or suite == name:  # ctest repeats the name
        return name
    return f"{suite}::{name}" if suite.startswith("tests.") else f"{suite}.{name}"


def cases_of(report: Path) -> list[ElementTree.Element]:
    """The cases of one report. Raises OSError or ElementTree.ParseError."""
    return list(ElementTree.parse(report).getroot().iter("testcase"))


class Summary:
    """Outcomes by kind, and what failed or could not be read, a line each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(passed=0, failed=0, skipped=0)
        self.problems: list[str] = []

    def add_failure(self, what: str) -> None:
        self.counts["failed"] += 1
        self.problems.append(f"failed: {what}")

    def add_case(self, case: ElementTree.Element) -> None:
        result = outcome(case)
        if result == "failed":
            self.add_failure(name_of(case))
        else:
            self.counts[result] += 1

    def add_program(self, program: ElementTree.Element, folder: Path) -> None:
        """Count the cases of one test of ctest."""
        name = program.get("name") or "?"
        try:
            cases = cases_of(folder / f"{name}.xml")
        except (OSError, ElementTree.ParseError) as error:
            self.add_failure(f"{name} ended without a report of its cases: {error}")
            return
        failed_before = self.counts["failed"]
        for case in cases:
            self.add_case(case)
        if not cases:
            self.add_failure(f"{name} has no cases")
        elif outcome(program) == "failed" and self.counts["failed"] == failed_before:
            self.add_failure(f"{name}, but none of its cases")

    def add_report(self, report: Path, folder: Path | None = None) -> None:
        """Count the cases of a report, or with `folder` those of the programs that it names."""
        try:
            tests = cases_of(report)
        except (OSError, ElementTree.ParseError) as error:
            self.problems.append(f"{report}: {error}")
            return
        if not tests:
            self.problems.append(f"{report}: no test ran")
        for test in tests:
            if folder is None:
                self.add_case(test)
            else:
                self.add_program(test, folder)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=Path, nargs=2, metavar=("CTEST.xml", "FOLDER"))
    parser.add_argument("reports", type=Path, nargs="*", metavar="REPORT.xml")
    options = parser.parse_args(arguments)
    summary = Summary()
    if options.programs:
        summary.add_report(*options.programs)
    for report in options.reports:
        summary.add_report(report)
    for problem in summary.problems:
        print(f"test_summary: {problem}", file=sys.stderr)
    counts = summary.counts
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if summary.problems or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
