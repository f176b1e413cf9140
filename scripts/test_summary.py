"""Prints the sum of JUnit reports as `N passed, N failed, N skipped`.

    python scripts/test_summary.py [--programs CTEST.xml FOLDER] [REPORT.xml...]

Reads reports of ctest, pytest and GoogleTest. With --programs, programs that are one test to ctest
count by their cases: FOLDER holds each program's own report, `<name of the test>.xml`. A program
without a report is one failure: it died, or reached its time limit, before it could write one. So
is a program that failed although its cases did not.

Exit code 1 if a test failed, if none passed, or if a report is missing or cut off (its runner
died). The reasons and the names of what failed go to stderr.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

counts: Counter[str] = Counter(passed=0, failed=0, skipped=0)
problems: list[str] = []


def outcome(case: ElementTree.Element) -> str:
    """Return passed, failed or skipped for one <testcase>.

    ctest says in the attribute `status` what pytest says with child elements alone: `run`, `fail`,
    `notrun` (skipped, or its executable is missing) and `disabled`. GoogleTest says `notrun` of a
    disabled case, too, and `suppressed` as its result.
    """
    children, status = {child.tag for child in case}, case.get("status")
    if children & {"failure", "error"} or status == "fail":
        return "failed"
    if status == "notrun" and case.get("result") != "suppressed":
        # A test whose executable was not built has not been skipped on purpose.
        skipped = case.find("skipped[@message]")
        on_purpose = skipped is not None and skipped.attrib["message"].startswith("SKIP_")
        return "skipped" if on_purpose else "failed"
    return "skipped" if "skipped" in children or status in ("notrun", "disabled") else "passed"


def cases_of(report: Path, failure: str) -> list[ElementTree.Element]:
    """The cases of a report; none, and a problem, where there are none."""
    try:
        if cases := list(ElementTree.parse(report).iter("testcase")):
            return cases
        problems.append(f"{failure}: {report} has no cases")
    except (OSError, ElementTree.ParseError) as error:
        problems.append(f"{failure}: {error}")
    return []


def count(cases: list[ElementTree.Element]) -> None:
    for case in cases:
        counts[result := outcome(case)] += 1
        if result == "failed":
            problems.append(f"failed: {case.get('classname')}.{case.get('name')}")


def count_program(program: ElementTree.Element, folder: Path) -> None:
    name, before = program.get("name"), counts["failed"]
    count(cases := cases_of(folder / f"{name}.xml", f"failed: {name} ended without a report"))
    if not cases:
        counts["failed"] += 1
    elif outcome(program) == "failed" and counts["failed"] == before:
        counts["failed"] += 1
        problems.append(f"failed: {name}, but none of its cases")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=Path, nargs=2, metavar=("CTEST.xml", "FOLDER"))
    parser.add_argument("reports", type=Path, nargs="*", metavar="REPORT.xml")
    options = parser.parse_args()
    if options.programs:
        report, folder = options.programs
        for program in cases_of(report, "no test ran"):
            count_program(program, folder)
    for report in options.reports:
        count(cases_of(report, "no test ran"))
    for problem in problems:
        print(f"test_summary: {problem}", file=sys.stderr)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if problems or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
