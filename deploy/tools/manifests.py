"""The manifests: reading the files, rendering the overlays, and what is found in them."""

import re
import subprocess
import shutil
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[1]
KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = ["local", "production", "restored"]
# Older ones have another kustomize in them, which reads other fields.
KUBECTL_OLDEST = (1, 27)


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """As YAML is meant: a name that stands twice in a map is a fault, not a choice."""


def _map(loader, node):
    seen = set()
    for key, _ in node.value:
        if key.value in seen and key.tag != "tag:yaml.org,2002:merge":
            raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


Loader.add_constructor("tag:yaml.org,2002:map", _map)


def documents(text: str) -> list:
    return [document for document in yaml.load_all(text, Loader) if document is not None]


def kubectl() -> str | None:
    """A kubectl that renders, or why there is none (raised as RuntimeError)."""
    program = shutil.which("kubectl")
    if program is None:
        raise RuntimeError("there is no kubectl")
    said = subprocess.run([program, "version", "--client"], capture_output=True, text=True).stdout
    found = re.search(r"v(\d+)\.(\d+)\.", said)
    version = tuple(map(int, found.groups())) if found else (0, 0)
    if version < KUBECTL_OLDEST:
        raise RuntimeError(f"kubectl is older than {'.'.join(map(str, KUBECTL_OLDEST))}")
    return program


def render(program: str, overlay: str) -> list:
    folder = KUBERNETES / "overlays" / overlay
    done = subprocess.run([program, "kustomize", folder], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"overlays/{overlay} cannot be rendered: {done.stderr.strip()}")
    return documents(done.stdout)


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
    """Every map and value in it, with its place."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}[{index}]")
