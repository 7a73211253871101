"""Waybill's own rules for compose.yaml. dclint has the general ones: the Compose schema, image tags, duplicate names and ports."""

import re

from manifests import DEPLOY, documents
from policies import SECRET_NAME

FILES = ["compose.yaml", "compose.production.yaml"]
# Their images start as root and change to another user.
SERVERS = ["postgres", "rabbitmq"]
PROGRAMS = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]


def files() -> dict:
    """The checked files as data, so that tests can break them."""
    found = {name: documents((DEPLOY / name).read_text())[0] for name in FILES}
    found["script"] = (DEPLOY / "compose/make-secrets.sh").read_text()
    return found


def interpolated(value, variables=None):
    """The value as Compose reads it with these variables; a required variable without a value becomes `given`."""
    variables = variables or {}
    if isinstance(value, dict):
        return {key: interpolated(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [interpolated(inner, variables) for inner in value]
    if isinstance(value, str):
        def put(found):
            name, default, alternative = found.groups()
            if alternative is not None:
                return alternative if variables.get(name) else ""
            return variables.get(name, "given" if default is None else default)
        return re.sub(r"\$\{([A-Z_]+)(?::-([^}]*)|:\?[^}]*|:\+([^}]*))?\}", put, value)
    return value


def _services(given):
    for name in FILES:
        for service, spec in given[name]["services"].items():
            if "image" in spec:
                yield f"{name}: {service}", service, spec


def _privileges(given):
    for place, service, spec in _services(given):
        if "no-new-privileges:true" not in spec.get("security_opt", []):
            yield f"{place} can gain privileges"
        if "mem_limit" not in spec:
            yield f"{place} has no memory limit"
        if service in SERVERS:
            continue
        if spec.get("read_only") is not True:
            yield f"{place} has a writable root file system"
        if spec.get("cap_drop") != ["ALL"]:
            yield f"{place} keeps capabilities"
        if spec.get("privileged") or str(spec.get("user", "65532")).startswith(("0", "root")):
            yield f"{place} runs as root"


def _health(given):
    for place, service, spec in _services(given):
        if spec.get("restart") == "no":
            continue
        if spec.get("restart") != "unless-stopped":
            yield f"{place} does not restart"
        if service in PROGRAMS and spec.get("healthcheck", {}).get("test") != ["CMD", f"/usr/bin/{service}", "health"]:
            yield f"{place} has no health check"
        if service in PROGRAMS and spec.get("stop_grace_period") != "30s":
            yield f"{place} is killed before it has drained"


def _order(given):
    services = given["compose.yaml"]["services"]
    for place, _, spec in _services(given):
        for other, how in spec.get("depends_on", {}).items():
            if other not in services:
                yield f"{place} depends on {other}, which does not exist"
            elif how["condition"] == "service_completed_successfully" and services[other].get("restart") != "no":
                yield f"{place} depends on the end of {other}, which does not end"
    for program in PROGRAMS:
        migration, role = f"migrate-{program}", program.replace("-", "_") + "_service"
        if services[program].get("depends_on", {}).get(migration, {}).get("condition") != "service_completed_successfully":
            yield f"compose.yaml: {program} does not wait for the migrations"
        # webhook-dispatcher serves as the owner of its tables.
        if program != "webhook-dispatcher" and services[migration]["environment"].get("WAYBILL_DATABASE__SERVING_ROLE") != role:
            yield f"compose.yaml: {migration} gives {role} no rights"


def _secrets(given):
    defined = {name for file in FILES for name in given[file].get("secrets", {})}
    used = set()
    for file in FILES:
        for service, spec in given[file]["services"].items():
            used |= set(spec.get("secrets", []))
            for name, value in (spec.get("environment") or {}).items():
                if SECRET_NAME.search(name):
                    yield f"{file}: {service}: the file has the value of {name}"
                if name.endswith("_FILE") and str(value).removeprefix("/run/secrets/") not in spec.get("secrets", []):
                    yield f"{file}: {service}: {name} names a secret that the service does not get"
    for name in sorted(defined ^ used):
        yield f"the secret {name} is {'not used' if name in defined else 'not defined'}"
    for name in sorted(given["compose.yaml"]["secrets"]):
        # The script has a loop over the programs for these.
        own = re.fullmatch(rf"((?:postgres|rabbitmq)-)?({'|'.join(PROGRAMS)})((?:-owner)?(?:-database-url|-broker-url)?)", name)
        pattern = f"{own.group(1) or ''}$service{own.group(3)}" if own else name
        if not re.search(rf'^\s*(keep|write) "?{re.escape(pattern)}"?[ \\]', given["script"], re.M):
            yield f"make-secrets.sh does not write {name}"


def _network(given):
    services = given["compose.yaml"]["services"]
    if given["compose.yaml"]["networks"].get("inner", {}).get("internal") is not True:
        yield "compose.yaml: the network `inner` is not internal"
    for service in [*SERVERS, "key-management"]:
        if services[service].get("networks") != ["inner"]:
            yield f"compose.yaml: {service} is on a network with a way out"
    for service, spec in services.items():
        if spec.get("ports") and service not in ("order-api", "portal-api"):
            yield f"compose.yaml: {service} publishes a port"


CHECKS = {
    "no service has privileges": _privileges, "health checks and shutdown": _health, "services start in order": _order,
    "secrets are files": _secrets, "the network is closed": _network,
}


def checks(given=None):
    given = given or files()
    for name, check in CHECKS.items():
        yield f"compose: {name}", list(check(given))
