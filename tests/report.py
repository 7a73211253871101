"""Summarises the results of a test run: report.py <folder> <start in Unix seconds> <part>...

Prints the failures, the ten slowest tests and one line of counts. Exits with 1 after a failure or without results of a part.
"""

import re
import sys
import time
from pathlib import Path
from xml.etree import ElementTree


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


def read(folder, part):
    """The cases of a part as (seconds, name, outcome)."""
    file = folder / f"{part}.xml"
    cases = []
    for case in written(file):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        cases.append((float(case.get("time", 0)), f"{case.get('classname')} {case.get('name')}", outcome))
    status = folder / f"{part}.status"
    succeeded = status.exists() and status.read_text().strip() == "0"
    if not cases or (not succeeded and all(outcome != "failed" for _, _, outcome in cases)):
        cases.append((0.0, f"{part}: the runner ended with an error; see its output above", "failed"))
    return cases


def main(folder, begun, parts):
    cases = [case for part in parts for case in read(folder, part)]
    print("\nTen slowest:")
    for seconds, name, _ in sorted(cases, reverse=True)[:10]:
        print(f"  {seconds:6.1f} s  {name}")
    for _, name, _ in filter(lambda case: case[2] == "failed", cases):
        print(f"FAILED  {name}")
    counts = {kind: sum(outcome == kind for _, _, outcome in cases) for kind in ("passed", "failed", "skipped")}
    counts["skipped"] += sum(skipped_by_filter(folder / f"{part}.log") for part in parts)
    print(f"\nThe tests took {time.time() - begun:.0f} s.")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
