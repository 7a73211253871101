"""Checks deploy/ against Kubernetes' schemas and Waybill's own rules, and writes the rendered overlays for other linters.

`make lint-deploy` runs it.
"""

import argparse
import sys
from pathlib import Path

import compose
import images
import manifests
import policies
import rules
import schemas


class Report:
    def __init__(self):
        self.sections = self.faults = 0

    def section(self, name: str, faults):
        self.sections += 1
        for fault in dict.fromkeys(faults):
            self.faults += 1
            print(f"FAILED  {name}: {fault}")


def check_overlay(report: Report, overlay: str, resources: list):
    builtin = [one for one in resources if schemas.is_builtin(one["apiVersion"])]
    custom = [one for one in resources if not schemas.is_builtin(one["apiVersion"])]
    report.section(f"overlays/{overlay}: {len(builtin)} resources, against the schemas of Kubernetes {', '.join(schemas.versions())}",
                   [fault for one in builtin for fault in schemas.builtin(one)])
    report.section(f"overlays/{overlay}: {len(custom)} custom resources, against custom-resources.yaml",
                   [fault for one in custom for fault in schemas.custom(one)])
    for check in policies.OF_ALL + (policies.OF_CLUSTERS if overlay != "local" else []):
        report.section(f"overlays/{overlay}: {check.__name__.replace('_', ' ')}", check(resources))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rendered", metavar="FOLDER", type=Path, help="write the rendered overlays there")
    given = arguments.parse_args()
    report = Report()

    report.section("every manifest is used", policies.unused_manifests(manifests.KUBERNETES))
    report.section("kubernetes/base/monitoring/rules.yaml is current", [] if rules.TARGET.read_text() == rules.rules() else ["run `make alerts`"])
    report.section("all alerts have the same runbook URL", rules.runbook_faults())
    report.section("the Containerfile", images.checks())
    backup = manifests.documents((manifests.KUBERNETES / "restore/backup.yaml").read_text())
    report.section("restore/backup.yaml, against custom-resources.yaml", [fault for one in backup for fault in schemas.custom(one)])
    for name, faults in compose.checks():
        report.section(name, faults)
    for overlay in manifests.OVERLAYS:
        text = manifests.rendered(overlay)
        check_overlay(report, overlay, manifests.documents(text))
        if given.rendered:
            given.rendered.mkdir(parents=True, exist_ok=True)
            (given.rendered / f"{overlay}.yaml").write_text(text)
    print(f"{report.sections} checks, {report.faults} faults")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
