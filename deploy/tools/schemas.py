"""Manifests against schemas: Kubernetes' own of three minor versions, and what operators take."""

import functools
from pathlib import Path

import jsonschema
import yaml
from kubernetes_validate import utils
from referencing import Registry, Resource

from manifests import Loader, title

MINOR_VERSIONS = 3


def versions() -> list[str]:
    # The package names each twice, as it has lax schemas as well.
    return list(dict.fromkeys(utils.all_versions()))[-MINOR_VERSIONS:]


@functools.cache
def _definitions(version: str) -> Resource:
    return Resource.from_contents(utils.schema_contents(f"kubernetes-json-schema/v{version}-local-strict/_definitions.json", version))


@functools.cache
def _kubernetes(version: str, kind: str, api_version: str):
    group, _, rest = api_version.rpartition("/")
    name = f"{group.split('.')[0]}-{rest}" if group else rest
    path = f"kubernetes-json-schema/v{version}-local-strict/{kind.lower()}-{name}.json"
    try:
        schema = utils.schema_contents(path, version)
    except FileNotFoundError:
        return None
    registry = _definitions(version) @ (Resource.from_contents(schema) @ Registry())
    return jsonschema.Draft202012Validator(schema, registry=registry)


def is_builtin(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." not in group or group.endswith(".k8s.io")


def _faults(validator, resource: dict, whose: str) -> list[str]:
    return [
        f"{title(resource)}: {'.'.join(map(str, error.absolute_path)) or 'it'}: {error.message} ({whose})"
        for error in validator.iter_errors(resource)
    ]


def builtin(resource: dict) -> list[str]:
    """Against the last minor versions of Kubernetes. Fields that these do not know are faults, too."""
    faults = []
    for version in versions():
        validator = _kubernetes(version, resource["kind"], resource["apiVersion"])
        whose = f"Kubernetes {version.rpartition('.')[0]}"
        if validator is None:
            faults.append(f"{title(resource)}: there is no {resource['apiVersion']} {resource['kind']} ({whose})")
        else:
            faults += _faults(validator, resource, whose)
    return faults


def _field(kind):
    if isinstance(kind, dict):
        return _fields(kind)
    if isinstance(kind, list):
        return {"enum": kind}
    return {
        "string": {"type": "string"},
        "integer": {"type": "integer"},
        "boolean": {"type": "boolean"},
        "quantity": {"type": "string", "pattern": r"^\d+(\.\d+)?(m|[KMGT]i?)?$"},
        "strings": {"type": "array", "items": {"type": "string"}},
        "texts": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {},
    }[kind]


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
def _ours() -> dict:
    table = yaml.load((Path(__file__).parent / "custom-resources.yaml").read_text(), Loader)
    return {name: jsonschema.Draft202012Validator(_fields({"spec!": fields, "apiVersion": "any", "kind": "any", "metadata": "any"}))
            for name, fields in table.items()}


def custom(resource: dict) -> list[str]:
    """Against the fields of operators' resources that we use."""
    validator = _ours().get(f"{resource['apiVersion']} {resource['kind']}")
    if validator is None:
        return [f"{title(resource)}: custom-resources.yaml does not know {resource['apiVersion']} {resource['kind']}"]
    return _faults(validator, resource, "custom-resources.yaml")


def _closed(schema):
    """Kubernetes drops fields that a definition does not name; here they are faults."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(part) for key, part in schema.items()}
    if schema.get("x-kubernetes-int-or-string"):
        closed.pop("type", None)
        closed["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    is_map = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if is_map and not schema.get("x-kubernetes-preserve-unknown-fields"):
        closed.setdefault("additionalProperties", False)
    return closed


def published(folder: Path) -> dict:
    """The operators' own definitions (CustomResourceDefinitions), from all YAML files of a folder."""
    found = {}
    for file in sorted(folder.rglob("*.yaml")):
        for document in yaml.load_all(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if not document or document.get("kind") != "CustomResourceDefinition":
                continue
            spec = document["spec"]
            for version in spec["versions"]:
                schema = _closed(version["schema"]["openAPIV3Schema"])
                schema["properties"]["metadata"] = {"type": "object"}
                name = f"{spec['group']}/{version['name']} {spec['names']['kind']}"
                found[name] = jsonschema.Draft202012Validator(schema)
    return found


def as_published(resource: dict, definitions: dict) -> list[str]:
    name = f"{resource['apiVersion']} {resource['kind']}"
    if name not in definitions:
        return [f"{title(resource)}: the definitions given have no {name}"]
    return _faults(definitions[name], resource, "as published")
