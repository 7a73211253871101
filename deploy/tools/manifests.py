"""Renders the overlays, and finds things in the resources."""

import subprocess
import sys
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[1]
KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = ["local", "production", "restored"]
# requirements.txt installs it next to Python.
KUBECTL = Path(sys.executable).with_name("kubectl")


def documents(text: str) -> list:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for document in yaml.load_all(text, loader) if document is not None]


def rendered(overlay: str) -> str:
    done = subprocess.run([KUBECTL, "kustomize", KUBERNETES / "overlays" / overlay], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"error: overlays/{overlay} does not render: {done.stderr.strip()}")
    return done.stdout


def title(resource: dict) -> str:
    return f"{resource.get('kind')} {resource.get('metadata', {}).get('name')}"


def pod_template(resource: dict) -> dict | None:
    if resource["kind"] in ("Deployment", "StatefulSet", "DaemonSet", "Job"):
        return resource["spec"]["template"]
    return None


def containers(template: dict) -> list:
    spec = template["spec"]
    return spec.get("initContainers", []) + spec.get("containers", [])


def of_kind(resources: list, *kinds: str) -> list:
    return [resource for resource in resources if resource["kind"] in kinds]


def selects(selector: dict, labels: dict) -> bool:
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def walk(value, path=""):
    """Every map and value, with its path."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}[{index}]")
