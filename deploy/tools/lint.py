"""Holds deploy/ against Kubernetes' schemas, the operators' and our own rules: `make lint-deploy`.

--definitions FOLDER: the operators' published CustomResourceDefinitions, which custom resources are held against as well.
"""

import argparse
import sys
import time
from pathlib import Path

import yaml

import compose
import images
import manifests
import policies
import rules
import schemas


class Report:
    def __init__(self):
        self.faults = 0

    def section(self, name: str, faults: list[str]):
        print(f"{'ok     ' if not faults else 'FAILED '} {name}")
        for fault in dict.fromkeys(faults):
            self.faults += 1
            print(f"        {fault}")

    def not_run(self, name: str, why: str):
        print(f"not run {name}: {why}")


def files_can_be_read(root: Path) -> list[str]:
    found = []
    for file in sorted(root.rglob("*.yaml")):
        try:
            manifests.documents(file.read_text())
        except yaml.YAMLError as error:
            found.append(f"{file.relative_to(root)}: {' '.join(str(error).split())}")
    return found


def check_overlay(report: Report, overlay: str, resources: list, definitions: dict | None):
    builtin = [one for one in resources if schemas.is_builtin(one["apiVersion"])]
    custom = [one for one in resources if not schemas.is_builtin(one["apiVersion"])]
    versions = ", ".join(version.rpartition(".")[0] for version in schemas.versions())
    report.section(f"overlays/{overlay}: {len(builtin)} resources of Kubernetes, against {versions}",
                   [fault for one in builtin for fault in schemas.builtin(one)])
    report.section(f"overlays/{overlay}: {len(custom)} resources of operators, against the fields that we use",
                   [fault for one in custom for fault in schemas.custom(one)])
    if definitions is not None:
        report.section(f"overlays/{overlay}: the same, against {len(definitions)} published definitions",
                       [fault for one in custom for fault in schemas.as_published(one, definitions)])
    for check in policies.OF_RESOURCES:
        report.section(f"overlays/{overlay}: {check.__name__.replace('_', ' ')}", list(check(resources)))
    for check in policies.OF_OVERLAYS:
        report.section(f"overlays/{overlay}: {check.__name__.replace('_', ' ')}", list(check(resources, overlay)))


def check_rules(report: Report):
    report.section("PrometheusRules say what deploy/alerts says",
                   [] if rules.TARGET.read_text() == rules.rules() else ["they do not: run `make alerts`"])
    places = rules.runbook_places()
    one = len(places) == 1 and str(*places).startswith(("https://", "http://"))
    report.section("alerts lead to their runbooks, in one place", [] if one else [f"they lead to {places}"])


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--definitions", type=Path)
    given = arguments.parse_args()
    began, report = time.monotonic(), Report()

    report.section("files can be read", files_can_be_read(manifests.DEPLOY))
    report.section("kustomizations lead somewhere", policies.kustomizations_lead_somewhere(manifests.DEPLOY))
    check_rules(report)
    report.section("images: the Containerfile", images.checks())
    by_hand = manifests.documents((manifests.KUBERNETES / "restore/backup.yaml").read_text())
    report.section("restore/backup.yaml, against the fields that we use", [fault for one in by_hand for fault in schemas.custom(one)])
    for name, faults in compose.checks():
        report.section(name, faults)

    definitions = schemas.published(given.definitions) if given.definitions else None
    if definitions is None:
        report.not_run("resources of operators, against their published definitions", "none given (DEFINITIONS=<folder>)")
    try:
        program = manifests.kubectl()
    except RuntimeError as why:
        report.not_run("all that is about rendered manifests", str(why))
    else:
        for overlay in manifests.OVERLAYS:
            check_overlay(report, overlay, manifests.render(program, overlay), definitions)

    print(f"\n{report.faults} faults, in {time.monotonic() - began:.1f} s")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
