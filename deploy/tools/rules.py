"""Writes kubernetes/base/monitoring/rules.yaml: deploy/alerts, as Prometheus' operator takes them.

deploy/alerts is where alerts are written: promtool, the tests and a Prometheus without an operator read them there. With --check
nothing is written, and the exit code says whether the file is as it would be.
"""

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


def rules() -> str:
    parts = ["# Written by ../../../tools/rules.py from deploy/alerts (`make alerts`): change them there.\n"]
    for file in sorted((DEPLOY / "alerts").glob("*.yaml")):
        parts.append("---\n" + HEADER.format(name=file.stem))
        # As text rather than as data, so that comments stay.
        parts += [f"  {line}" if line.strip() else line for line in file.read_text().splitlines(keepends=True)]
    return "".join(parts)


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text() == rules():
            return 0
        print(f"{TARGET.relative_to(DEPLOY.parent)} is not what deploy/alerts says: run `make alerts`", file=sys.stderr)
        return 1
    TARGET.write_text(rules())
    return 0


if __name__ == "__main__":
    sys.exit(main())
