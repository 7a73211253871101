"""Writes the SBOM of each image, in CycloneDX: sbom.py <folder> [<packages>] writes <folder>/<service>.cdx.json.

It lists the crates of the service, from `cargo metadata` (with the features that other services enable, since one build makes all), the
npm packages of the pages for portal-api, and the system's packages (C library, root certificates). The image records the latter
(images/base-tree.sh), and images/build.sh copies the records to <packages>/<service>.
"""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]
# The platform of the images.
PLATFORM = "x86_64-unknown-linux-gnu"


def crates() -> dict:
    done = subprocess.run(["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={PLATFORM}"],
                          cwd=ROOT, check=True, capture_output=True)
    return json.loads(done.stdout)


def _crate(package: dict, kind=ComponentType.LIBRARY) -> Component:
    component = Component(type=kind, name=package["name"], version=package["version"], bom_ref=package["id"],
                          purl=PackageURL("cargo", name=package["name"], version=package["version"]) if package["source"] else None)
    if package["license"]:
        # Older crates write OR as a slash.
        component.licenses.add(LicenseExpression(package["license"].replace("/", " OR ")))
    return component


def of_system(records: Path):
    """The packages in `status.d`, of the Debian version in `os-release`."""
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', (records / "os-release").read_text(), re.MULTILINE))
    for record in sorted((records / "status.d").iterdir()):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", record.read_text(), re.MULTILINE))
        name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
        qualifiers = {"arch": architecture, "distro": f"{release['ID']}-{release['VERSION_ID']}"}
        if "Source" in fields:
            # Scanners look up advisories by source package. The field may add a version.
            qualifiers["upstream"] = fields["Source"].partition(" ")[0]
        yield Component(type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"deb:{name}@{version}",
                        purl=PackageURL("deb", release["ID"], name, version, qualifiers))


def of_service(service: str, metadata: dict, records: Path | None = None) -> Bom:
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == service and not package["source"])

    bom, components, waiting = Bom(), {}, [root]
    while waiting:
        id = waiting.pop()
        if id in components:
            continue
        components[id] = _crate(packages[id], ComponentType.APPLICATION if id == root else ComponentType.LIBRARY)
        # The programs contain no dependencies of tests and builds.
        waiting += _needed(nodes[id])
    bom.metadata.component = components[root]
    system = list(of_system(records)) if records else []
    for component in system:
        bom.components.add(component)
    for id, component in components.items():
        if id != root:
            bom.components.add(component)
    pages = list(of_pages()) if service == "portal-api" else []
    for component in pages:
        bom.components.add(component)
    for id, component in components.items():
        beside = [*system, *pages] if id == root else []
        bom.register_dependency(component, [components[needed] for needed in _needed(nodes[id])] + beside)
    return bom


def _needed(node: dict) -> list:
    return [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]


def of_pages():
    """The packages in the pages' lock file, without those for builds and tests."""
    lock = json.loads((ROOT / "services/portal-web/package-lock.json").read_text())
    for place, package in lock["packages"].items():
        if not place or package.get("dev") or package.get("optional"):
            continue
        name, version = place.rpartition("node_modules/")[2], package["version"]
        component = Component(type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"npm:{name}@{version}@{quote(place)}",
                              purl=PackageURL("npm", *name.rpartition("/")[::2], version=version) if "/" in name
                              else PackageURL("npm", name=name, version=version))
        if package.get("license"):
            component.licenses.add(LicenseExpression(package["license"]))
        algorithm, _, digest = package.get("integrity", "").partition("-")
        if algorithm == "sha512":
            component.hashes.add(HashType(alg=HashAlgorithm.SHA_512, content=base64.b64decode(digest).hex()))
        yield component


def main() -> int:
    folder, packages = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    folder.mkdir(parents=True, exist_ok=True)
    metadata = crates()
    for service in SERVICES:
        bom = of_service(service, metadata, packages / service if packages else None)
        text = JsonV1Dot6(bom).output_as_string(indent=1)
        fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
        if fault:
            print(f"{service}: {fault}", file=sys.stderr)
            return 1
        (folder / f"{service}.cdx.json").write_text(text)
        system = "" if packages else ", without the system's packages, because there are no records of an image"
        print(f"{folder / f'{service}.cdx.json'}: {len(bom.components)} components{system}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
