"""Checks deploy/ against Kubernetes' schemas, the operators' types and Waybill's own rules, and writes the rendered manifests.

`make lint-deploy` runs it.
"""

import argparse
import sys
from pathlib import Path

import manifests
import policies
import schemas


class Report:
    def __init__(self):
        self.sections = self.faults = 0

    def section(self, name: str, faults):
        self.sections += 1
        for fault in dict.fromkeys(faults):
            self.faults += 1
            print(f"FAILED  {name}: {fault}")


def check_installation(report: Report, name: str, resources: list, modules: Path):
    builtin = [one for one in resources if schemas.is_builtin(one)]
    typed = [one for one in resources if schemas.group(one) in schemas.PACKAGES]
    custom = [one for one in resources if one not in builtin and one not in typed]
    report.section(f"{name}: {len(builtin)} resources, against the schemas of Kubernetes {', '.join(schemas.versions())}",
                   [fault for one in builtin for fault in schemas.builtin(one)])
    report.section(f"{name}: {len(typed)} resources, against their types", schemas.typed(typed, modules))
    report.section(f"{name}: {len(custom)} resources, against custom-resources.yaml", [fault for one in custom for fault in schemas.custom(one)])
    for rule in policies.ALL:
        report.section(f"{name}: {rule.__name__.replace('_', ' ')}", rule(resources))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rendered", metavar="FOLDER", type=Path, required=True, help="write the rendered manifests there")
    arguments.add_argument("--modules", metavar="FOLDER", type=lambda folder: Path(folder).resolve(), required=True, help="node_modules with typescript and @kubernetes-models")
    given = arguments.parse_args()
    report = Report()

    for name in manifests.PRESETS:
        manifests.write_kustomization(given.rendered / name, manifests.preset(name), "delivery")
        check_installation(report, name, manifests.rendered(manifests.preset(name)), given.modules)
    print(f"{report.sections} checks, {report.faults} faults")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
