"""Checks resources against Kubernetes' own schemas of three minor versions, and operators' resources against their types.

The types are TypeScript's, of the npm packages @kubernetes-models: tsc knows misspelt fields, which the operators' own schemas let pass.
RabbitMQ's operators and the Barman Cloud plugin have no such package; custom-resources.yaml lists the fields that we use.
"""

import functools
import json
import subprocess
from pathlib import Path

import jsonschema
import kubernetes_validate

from manifests import documents, title

MINOR_VERSIONS = 3
PACKAGES = {
    "postgresql.cnpg.io": "cloudnative-pg", "monitoring.coreos.com": "prometheus-operator", "gateway.networking.k8s.io": "gateway-api",
    "keda.sh": "keda", "cert-manager.io": "cert-manager",
}


def versions() -> list[str]:
    major, minor = map(int, kubernetes_validate.latest_version().split(".")[:2])
    return [f"{major}.{minor - back}" for back in range(MINOR_VERSIONS)]


def group(resource: dict) -> str:
    return resource["apiVersion"].rpartition("/")[0]


def is_builtin(resource: dict) -> bool:
    return group(resource) not in PACKAGES and ("." not in group(resource) or group(resource).endswith(".k8s.io"))


@functools.cache
def _builtin(resource: str) -> list[str]:
    faults = []
    for version in versions():
        try:
            kubernetes_validate.validate(json.loads(resource), version, strict=True)
        except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
            faults.append(f"{title(json.loads(resource))}: {error.message} (Kubernetes {version})")
    return faults


def builtin(resource: dict) -> list[str]:
    # Most resources are the same in several installations, and are validated once.
    return _builtin(json.dumps(resource, sort_keys=True))


def typed(resources: list, modules: Path) -> list[str]:
    """Compiles the resources as constants of their types; `modules` contains @kubernetes-models and typescript."""
    lines, of_line = [], {}
    for number, one in enumerate(resources):
        place = f"@kubernetes-models/{PACKAGES[group(one)]}/{one['apiVersion']}/{one['kind']}"
        lines.append(f"import type {{ I{one['kind']} as T{number} }} from '{place}';")
        lines.append(f"export const r{number}: T{number} = {json.dumps(one)};")
        of_line[len(lines)] = of_line[len(lines) - 1] = title(one)
    source = modules.parent / "resources.ts"
    source.write_text("\n".join(lines) + "\n")
    compiler = [modules / ".bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--pretty", "false", source.name]
    done = subprocess.run(compiler, cwd=source.parent, capture_output=True, text=True)
    return [f"{of_line.get(int(line.split('(')[1].split(',')[0]), '')}: {line.partition(': ')[2][:300]}" if line.startswith(source.name) else line
            for line in done.stdout.splitlines() if line and not line.startswith(" ")] + done.stderr.splitlines()


KINDS = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "quantity": {"type": "string", "pattern": r"^\d+(\.\d+)?(m|[KMGT]i?)?$"},
    "image": {"type": "string", "pattern": r"(@sha256:[0-9a-f]{64}|:(?!(?:latest|stable|main|edge)$)[\w.-]+)$"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "any": {},
}


def _field(kind) -> dict:
    if isinstance(kind, dict):
        return _fields(kind)
    return {"enum": kind} if isinstance(kind, list) else KINDS[kind]


def _fields(fields: dict) -> dict:
    properties, required = {}, []
    for name, kind in fields.items():
        properties[name.rstrip("!")] = _field(kind)
        if name.endswith("!"):
            required.append(name.rstrip("!"))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@functools.cache
def _custom() -> dict:
    [table] = documents((Path(__file__).parent / "custom-resources.yaml").read_text())
    return {name: jsonschema.Draft202012Validator(_fields({"spec!": fields, "apiVersion": "any", "kind": "any", "metadata": "any"}))
            for name, fields in table.items()}


def custom(resource: dict) -> list[str]:
    """Checks the resource against custom-resources.yaml."""
    validator = _custom().get(f"{resource['apiVersion']} {resource['kind']}")
    if validator is None:
        return [f"{title(resource)}: custom-resources.yaml does not know {resource['apiVersion']} {resource['kind']}"]
    return [f"{title(resource)}: {'.'.join(map(str, error.absolute_path))}: {error.message} (custom-resources.yaml)"
            for error in validator.iter_errors(resource)]
