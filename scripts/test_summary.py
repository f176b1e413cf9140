"""Prints the sum of JUnit reports as `N passed, N failed, N skipped`.

    python scripts/test_summary.py REPORT.xml...

Reads the dialects of ctest and of pytest. Exit code 1 if a test failed, if none passed, or if a
report is missing or cut off (its runner died); the reason goes to stderr.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def outcome(case: ElementTree.Element) -> str:
    """Return passed, failed or skipped for one <testcase>.

    ctest says in the attribute `status` what pytest says with child elements alone: `run`, `fail`,
    `notrun` (skipped, or its executable is missing) and `disabled`.
    """
    children = {child.tag for child in case}
    if children & {"failure", "error"} or case.get("status") == "fail":
        return "failed"
    skipped = case.find("skipped")
    if case.get("status") == "notrun":
        # A test whose executable was not built has not been skipped on purpose.
        message = (skipped.get("message") or "") if skipped is not None else ""
        return "skipped" if message.startswith("SKIP_") else "failed"
    if skipped is not None or case.get("status") == "disabled":
        return "skipped"
    return "passed"


def summarise(reports: list[Path]) -> tuple[Counter[str], list[str]]:
    """Count the outcomes over all reports; the second value names the unreadable ones."""
    counts: Counter[str] = Counter(passed=0, failed=0, skipped=0)
    problems = []
    for report in reports:
        try:
            root = ElementTree.parse(report).getroot()
        except (OSError, ElementTree.ParseError) as error:
            problems.append(f"{report}: {error}")
            continue
        cases = list(root.iter("testcase"))
        if not cases:
            problems.append(f"{report}: no test ran")
        counts.update(outcome(case) for case in cases)
    return counts, problems


def main(arguments: list[str]) -> int:
    counts, problems = summarise([Path(argument) for argument in arguments])
    for problem in problems:
        print(f"test_summary: {problem}", file=sys.stderr)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if problems or counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
