"""Renders the chart, and finds things in the resources. As a program, it writes the chart as a kustomization:

    manifests.py <folder> [--namespace NAME] [--values FILE]…
"""

import argparse
import subprocess
import sys
from pathlib import Path

import helm_python
import yaml

DEPLOY = Path(__file__).resolve().parents[1]
CHART = DEPLOY / "chart"
# Values of each way to install, which `make lint-deploy` renders.
PRESETS = {"production": ["production"], "managed": ["production", "managed", "gateway"], "restored": ["production", "restored"], "trial": ["trial"],
           "keda": ["production", "keda"], "internal-tls": ["production", "internal-tls"]}
# requirements.txt installs it next to Python.
KUBECTL = Path(sys.executable).with_name("kubectl")


def documents(text: str) -> list:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for document in yaml.load_all(text, loader) if document is not None]


def merged(one: dict, other: dict) -> dict:
    both = {key: merged(one[key], value) if isinstance(value, dict) and isinstance(one.get(key), dict) else value for key, value in other.items()}
    return {**one, **both}


def values(files: list) -> dict:
    result = {}
    for file in files:
        result = merged(result, documents(Path(file).read_text())[0])
    return result


def preset(name: str) -> dict:
    return values([CHART / f"examples/{file}.yaml" for file in PRESETS[name]])


def templates(given: dict, namespace: str) -> dict[str, str]:
    """The manifests by the name of their template. Templates that render nothing are left out."""
    with helm_python.Chart.load(str(CHART)) as chart:
        rendered = chart.render(given, name="waybill", namespace=namespace)
    return {Path(name).name: text for name, text in rendered.items() if name.endswith(".yaml") and documents(text)}


def rendered(given: dict, namespace: str = "delivery") -> list:
    return [document for text in templates(given, namespace).values() for document in documents(text)]


def write_kustomization(folder: Path, given: dict, namespace: str):
    folder.mkdir(parents=True, exist_ok=True)
    parts = templates(given, namespace)
    for name, text in parts.items():
        (folder / name).write_text(text)
    lines = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:", *(f"  - {name}" for name in sorted(parts))]
    (folder / "kustomization.yaml").write_text("\n".join(lines) + "\n")
    subprocess.run([KUBECTL, "kustomize", folder], check=True, stdout=subprocess.DEVNULL)


def title(resource: dict) -> str:
    return f"{resource.get('kind')} {resource.get('metadata', {}).get('name')}"


def of_kind(resources: list, *kinds: str) -> list:
    return [resource for resource in resources if resource["kind"] in kinds]


def pod_specs(resources: list):
    for resource in of_kind(resources, "Deployment", "StatefulSet", "DaemonSet", "Job"):
        yield resource, resource["spec"]["template"]["spec"]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--namespace", default="waybill")
    arguments.add_argument("--values", action="append", default=[], metavar="FILE")
    given = arguments.parse_args()
    write_kustomization(given.folder, values(given.values), given.namespace)
    return 0


if __name__ == "__main__":
    sys.exit(main())
