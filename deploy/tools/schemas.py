"""Checks resources against Kubernetes' own schemas of three minor versions, and custom resources against the fields that we use."""

import functools
import json
from pathlib import Path

import jsonschema
import kubernetes_validate

from manifests import documents, title

MINOR_VERSIONS = 3


def versions() -> list[str]:
    major, minor = map(int, kubernetes_validate.latest_version().split(".")[:2])
    return [f"{major}.{minor - back}" for back in range(MINOR_VERSIONS)]


def is_builtin(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


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
    # Most resources are the same in several overlays, and are validated once.
    return _builtin(json.dumps(resource, sort_keys=True))


KINDS = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "quantity": {"type": "string", "pattern": r"^\d+(\.\d+)?(m|[KMGT]i?)?$"},
    "image": {"type": "string", "pattern": r"(@sha256:[0-9a-f]{64}|:(?!(?:latest|stable|main|edge)$)[\w.-]+)$"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "texts": {"type": "object", "additionalProperties": {"type": "string"}},
    "any": {},
}


def _field(kind) -> dict:
    if isinstance(kind, dict):
        return _fields(kind)
    return {"enum": kind} if isinstance(kind, list) else KINDS[kind]


def _fields(fields: dict) -> dict:
    properties, required = {}, []
    for name, kind in fields.items():
        plain = name.rstrip("!").removesuffix("[]")
        properties[plain] = _field(kind)
        if name.rstrip("!").endswith("[]"):
            properties[plain] = {"type": "array", "minItems": 1, "items": properties[plain]}
        if name.endswith("!"):
            required.append(plain)
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
