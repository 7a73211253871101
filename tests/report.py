"""Summarises the results of a test run: report.py <folder> <start in Unix seconds> <part>...

Prints the ten slowest tests, the failures with their first lines, and one line of counts. Exits with 1 after a failure or
without results of a part.
"""

import re
import sys
import time
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

FAILURES = {"failure", "error"}
ERROR_LINES = 10


class Case(NamedTuple):
    seconds: float
    name: str
    outcome: str
    error: list[str]


def skipped_by_filter(log):
    """The number of tests that the runner's default filter excluded. Its JUnit file does not list them."""
    found = re.findall(r"(\d+) skipped", log.read_text()) if log.exists() else []
    return int(found[-1]) if found else 0


def written(file):
    """The cases in a JUnit file. Empty when the runner ended without writing it."""
    try:
        return list(ElementTree.parse(file).iter("testcase"))
    except (FileNotFoundError, ElementTree.ParseError):
        return []


def first_lines(case):
    """The first lines of a case's error. Some runners write them as an attribute, some as text, some as both."""
    errors = [child for child in case if child.tag in FAILURES]
    texts = [text for error in errors for text in (error.get("message"), error.text) if text]
    lines = dict.fromkeys(line.rstrip() for text in texts for line in text.splitlines() if line.strip())
    return list(lines)[:ERROR_LINES]


def read(folder, part):
    """The cases of a part."""
    file = folder / f"{part}.xml"
    cases = []
    for case in written(file):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & FAILURES else "skipped" if "skipped" in kinds else "passed"
        name = f"{case.get('classname')} {case.get('name')}"
        cases.append(Case(float(case.get("time", 0)), name, outcome, first_lines(case)))
    status = folder / f"{part}.status"
    succeeded = status.exists() and status.read_text().strip() == "0"
    if not cases or (not succeeded and all(case.outcome != "failed" for case in cases)):
        cases.append(Case(0.0, f"{part}: the runner ended with an error; see its output above", "failed", []))
    return cases


def main(folder, begun, parts):
    cases = [case for part in parts for case in read(folder, part)]
    print("\nTen slowest:")
    for case in sorted(cases, key=attrgetter("seconds"), reverse=True)[:10]:
        print(f"  {case.seconds:6.1f} s  {case.name}")
    for case in filter(lambda case: case.outcome == "failed", cases):
        print(f"FAILED  {case.name}")
        for line in case.error:
            print(f"        {line}")
    counts = {kind: sum(case.outcome == kind for case in cases) for kind in ("passed", "failed", "skipped")}
    counts["skipped"] += sum(skipped_by_filter(folder / f"{part}.log") for part in parts)
    print(f"\nThe tests took {time.time() - begun:.0f} s.")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
