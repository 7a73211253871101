"""Writes kubernetes/base/monitoring/rules.yaml: deploy/alerts, as Prometheus' operator takes them.

deploy/alerts is where alerts are written: promtool, the tests and a Prometheus without an operator read them there. With --check
nothing is written, and the exit code says whether the file is as it would be. --runbooks URL: where you have proto-docs/runbooks, for
people whom an alert has called; it is put into deploy/alerts first, and stays there.
"""

import argparse
import re
import sys
from pathlib import Path

DEPLOY = Path(__file__).resolve().parents[1]
TARGET = DEPLOY / "kubernetes/base/monitoring/rules.yaml"

HEADER = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {name}
spec:
"""


RUNBOOK = re.compile(r"^( +runbook_url: )(\S*/)?(\w+\.md)$", re.MULTILINE)


def runbook_places() -> set[str]:
    """Where the alerts say that their runbooks are: one place."""
    return {found.group(2) for file in (DEPLOY / "alerts").glob("*.yaml") for found in RUNBOOK.finditer(file.read_text())}


def lead_to(place: str):
    place = place.rstrip("/") + "/"
    for file in (DEPLOY / "alerts").glob("*.yaml"):
        file.write_text(RUNBOOK.sub(lambda found: found.group(1) + place + found.group(3), file.read_text()))


def rules() -> str:
    parts = ["# Written by ../../../tools/rules.py from deploy/alerts (`make alerts`): change them there.\n"]
    for file in sorted((DEPLOY / "alerts").glob("*.yaml")):
        parts.append("---\n" + HEADER.format(name=file.stem))
        # As text rather than as data, so that comments stay.
        parts += [f"  {line}" if line.strip() else line for line in file.read_text().splitlines(keepends=True)]
    return "".join(parts)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--runbooks", metavar="URL", type=is_url)
    given = arguments.parse_args()
    if given.check:
        if TARGET.read_text() == rules():
            return 0
        print(f"{TARGET.relative_to(DEPLOY.parent)} is not what deploy/alerts says: run `make alerts`", file=sys.stderr)
        return 1
    if given.runbooks:
        lead_to(given.runbooks)
    TARGET.write_text(rules())
    return 0


def is_url(text: str) -> str:
    if not re.fullmatch(r"https?://\S+", text):
        raise argparse.ArgumentTypeError(f"{text} is no address that a browser opens (https://…)")
    return text


if __name__ == "__main__":
    sys.exit(main())
