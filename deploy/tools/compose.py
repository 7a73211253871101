"""compose.yaml: the specification, and rules of our own."""

import copy
import json
import re

import compose_spec

from manifests import DEPLOY, KUBERNETES, documents, walk
from policies import PASSWORD_IN_URL, SECRET_NAME, known_variables

FILES = ["compose.yaml", "compose.production.yaml"]
# Servers of others, whose entry points begin as root and give it up by themselves.
SERVERS = ["postgres", "rabbitmq"]
PROGRAMS = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]


def files() -> dict:
    """What is checked, as data: tests break it."""
    found = {name: documents((DEPLOY / name).read_text())[0] for name in FILES}
    found["definitions"] = json.loads((DEPLOY / "compose/rabbitmq-definitions.json").read_text())
    found["script"] = (DEPLOY / "compose/make-secrets.sh").read_text()
    return found


def interpolated(value, variables=None):
    """As compose reads it with these variables; those that must be given and are not are `given`."""
    variables = variables or {}
    if isinstance(value, dict):
        return {key: interpolated(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [interpolated(inner, variables) for inner in value]
    if isinstance(value, str):
        def put(found):
            return variables.get(found.group(1), found.group(2) or "given")
        return re.sub(r"\$\{([A-Z_]+)(?::-([^}]*)|:\?[^}]*)?\}", put, value)
    return value


def _specification(given):
    for name in FILES:
        try:
            compose_spec.PyCompose.from_json(json.dumps(interpolated(given[name])))
        except ValueError as error:
            yield f"{name}: {error}"


def _services(given):
    for name in FILES:
        for service, spec in given[name]["services"].items():
            if "image" in spec:
                yield f"{name}: {service}", service, spec


def _hardening(given):
    for place, service, spec in _services(given):
        if "no-new-privileges:true" not in spec.get("security_opt", []):
            yield f"{place} may gain rights"
        if "mem_limit" not in spec:
            yield f"{place} has no limit of memory"
        if service in SERVERS:
            continue
        if spec.get("read_only") is not True:
            yield f"{place} can write to its image"
        if spec.get("cap_drop") != ["ALL"]:
            yield f"{place} keeps capabilities"
        if spec.get("privileged") or str(spec.get("user", "65532")).startswith(("0", "root")):
            yield f"{place} is root"


def _health(given):
    for place, service, spec in _services(given):
        if spec.get("restart") == "no":
            continue
        if spec.get("restart") != "unless-stopped":
            yield f"{place} is not started again"
        if service in PROGRAMS and spec.get("healthcheck", {}).get("test") != ["CMD", f"/usr/bin/{service}", "health"]:
            yield f"{place} is not asked for its health"
        if service in PROGRAMS and spec.get("stop_grace_period") != "30s":
            yield f"{place} is killed before it has drained"


def _order(given):
    services = given["compose.yaml"]["services"]
    for place, service, spec in _services(given):
        for other, how in spec.get("depends_on", {}).items():
            if other not in services:
                yield f"{place} waits for {other}, which is not there"
            elif how["condition"] == "service_completed_successfully" and services[other].get("restart") != "no":
                yield f"{place} waits for the end of {other}, which has none"
    for program in PROGRAMS:
        if services[program].get("depends_on", {}).get("grants", {}).get("condition") != "service_completed_successfully":
            yield f"compose.yaml: {program} does not wait for the migrations"
        if f"migrate-{program}" not in services.get("grants", {}).get("depends_on", {}):
            yield f"compose.yaml: the rights do not wait for migrate-{program}"


def _images(given):
    for place, _, spec in _services(given):
        image = interpolated(spec["image"])
        if image.rpartition("/")[2].partition(":")[2] in ("", "latest", "given"):
            yield f"{place}: the image {image!r} names no version"


def _secrets(given):
    defined = {name for file in FILES for name in given[file].get("secrets", {})}
    used = set()
    for file in FILES:
        for service, spec in given[file]["services"].items():
            for secret in spec.get("secrets", []):
                used.add(secret)
                if secret not in defined:
                    yield f"{file}: {service}: there is no secret {secret}"
            for name, value in (spec.get("environment") or {}).items():
                if SECRET_NAME.search(name):
                    yield f"{file}: {service}: {name} has its value in the file"
                if name.endswith("_FILE") and str(value).removeprefix("/run/secrets/") not in spec.get("secrets", []):
                    yield f"{file}: {service}: {name} names a file that is not handed in"
        for path, value in walk(given[file]):
            if isinstance(value, str) and PASSWORD_IN_URL.search(value):
                yield f"{file}: {path} holds a password"
    for name in sorted(defined - used):
        yield f"nobody uses the secret {name}"
    # Those of others, which the operator puts there.
    for name in sorted(set(given["compose.yaml"]["secrets"])):
        pattern = name
        for program in PROGRAMS:
            pattern = pattern.replace(program, "$service") if f"{program}-database" in name or f"{program}-broker" in name \
                or f"{program}-owner" in name or name.startswith(("postgres-", "rabbitmq-")) else pattern
        if not re.search(rf'^\s*(keep|write) "?{re.escape(pattern)}"?[ \\]', given["script"], re.M):
            yield f"make-secrets.sh does not write {name}"


def _variables(given):
    known = known_variables()
    for file in FILES:
        for service, spec in given[file]["services"].items():
            for name in spec.get("environment") or {}:
                if name.startswith("WAYBILL_") and name.removesuffix("_FILE") not in known:
                    yield f"{file}: {service}: no document knows {name}"


def _network(given):
    services = given["compose.yaml"]["services"]
    if given["compose.yaml"]["networks"].get("inner", {}).get("internal") is not True:
        yield "compose.yaml: the inner network leads to the world"
    for service in [*SERVERS, "key-management"]:
        if services[service].get("networks") != ["inner"]:
            yield f"compose.yaml: {service} reaches the world"
    for service, spec in services.items():
        if spec.get("ports") and service not in ("order-api", "portal-api"):
            yield f"compose.yaml: {service} can be reached from outside"


def _topology(given):
    """The broker of compose and that of Kubernetes have the same queues and rights."""
    there = {"queues": {}, "bindings": set(), "permissions": {}, "topic_permissions": {}, "users": set()}
    for file in ("permissions", "topology", "users"):
        for one in documents((KUBERNETES / f"base/rabbitmq/{file}.yaml").read_text()):
            spec, name = one["spec"], one["metadata"]["name"]
            if one["kind"] == "Queue":
                there["queues"][spec["name"]] = {"x-queue-type": spec["type"], **spec["arguments"]}
            elif one["kind"] == "Binding":
                there["bindings"].add((spec["source"], spec["destination"], spec["routingKey"]))
            elif one["kind"] == "Permission":
                there["permissions"][name] = spec["permissions"]
            elif one["kind"] == "TopicPermission":
                there["topic_permissions"][name] = spec["permissions"]
            elif one["kind"] == "User":
                there["users"].add(name)
    definitions = given["definitions"]

    def rights(kind):
        return {one["user"]: {key: one[key] for key in one if key not in ("user", "vhost")} for one in definitions[kind]}

    here = {
        "queues": {one["name"]: one["arguments"] for one in definitions["queues"]},
        "bindings": {(one["source"], one["destination"], one["routing_key"]) for one in definitions["bindings"]},
        "permissions": rights("permissions"),
        "topic_permissions": rights("topic_permissions"),
        "users": {one["name"] for one in definitions["users"]},
    }
    for kind in here:
        if here[kind] != there[kind]:
            yield f"compose/rabbitmq-definitions.json: the {kind} are not those of kubernetes/base/rabbitmq"


def _queues_of_the_code(given):
    """The queues are those that `messaging::topology` names, with the limits of `messaging::Queue`."""
    def source(path):
        return (DEPLOY.parent / path).read_text()

    keys = dict(re.findall(r'pub const ([A-Z_]+): &str = "([^"]+)";', source("crates/events/src/routing.rs")))
    code = {}
    for body in re.findall(r"pub fn \w+\(\) -> Queue \{(.*?)\n\}", source("crates/messaging/src/topology.rs"), re.S):
        name = re.search(r'Queue::shared\("([^"]+)"', body).group(1)
        # Each also gets its own messages once more (`Queue::renewal_key`).
        code[name] = {keys[key] for key in re.findall(r"binding::([A-Z_]+)", body)} | {f"renewed.{name}"}
    limits = {name: int(number.replace("_", "")) for name, number
              in re.findall(r"const ([A-Z_]+): i64 = ([0-9_]+);", source("crates/messaging/src/queue.rs"))}
    here = {}
    for one in given["definitions"]["queues"]:
        arguments, name = one["arguments"], one["name"]
        wanted = {"x-queue-type": "quorum", "x-max-length": limits["LENGTH_MAX"], "x-overflow": "reject-publish"}
        if not name.endswith(".dead-letters"):
            here[name] = {b["routing_key"] for b in given["definitions"]["bindings"] if b["destination"] == name}
            wanted |= {"x-delivery-limit": limits["DELIVERY_LIMIT"], "x-dead-letter-exchange": "", "x-dead-letter-routing-key": f"{name}.dead-letters"}
        if arguments != wanted:
            yield f"{name} has other arguments than the code gives it"
    for name in sorted(code.keys() | here.keys()):
        if code.get(name) != here.get(name):
            yield f"{name}: the code binds it to {sorted(code.get(name, []))}, the definitions to {sorted(here.get(name, []))}"
        if f"{name}.dead-letters" not in [one["name"] for one in given["definitions"]["queues"]]:
            yield f"{name} has nowhere for its dead letters"


CHECKS = {
    "as the specification has it": _specification, "nobody has rights to spare": _hardening, "health and stop": _health,
    "order of the start": _order, "images are pinned": _images, "secrets are files": _secrets, "variables are known": _variables,
    "the network is closed": _network, "the broker is that of Kubernetes": _topology, "its queues are those of the code": _queues_of_the_code,
}


def checks(given=None):
    given = given or files()
    for name, check in CHECKS.items():
        yield f"compose: {name}", list(check(given))


def _set(service, *path, value=None, file="compose.yaml"):
    def change(given):
        # Anchors are shared; only this one is to change.
        place = given[file]["services"][service] = copy.deepcopy(given[file]["services"][service])
        for key in path[:-1]:
            place = place[key]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    return change


# How the files are broken in tests, and a word of what is said about it.
BROKEN = [
    (_set("wallet", "helthcheck", value={}), "helthcheck"),
    (_set("wallet", "mem_limit", value="much"), "compose.yaml: "),
    (_set("wallet", "security_opt"), "may gain rights"),
    (_set("wallet", "mem_limit"), "no limit of memory"),
    (_set("wallet", "read_only"), "can write"),
    (_set("wallet", "cap_drop"), "keeps capabilities"),
    (_set("wallet", "user", value="0:0"), "is root"),
    (_set("proxy", "read_only", file="compose.production.yaml"), "proxy can write"),
    (_set("wallet", "restart", value="on-failure"), "not started again"),
    (_set("wallet", "healthcheck"), "not asked for its health"),
    (_set("wallet", "stop_grace_period", value="10s"), "before it has drained"),
    (_set("wallet", "depends_on", value={"purse": {"condition": "service_healthy"}}), "which is not there"),
    (_set("wallet", "depends_on", value={"postgres": {"condition": "service_completed_successfully"}}), "which has none"),
    (_set("wallet", "depends_on"), "does not wait for the migrations"),
    (_set("grants", "depends_on"), "do not wait for migrate-wallet"),
    (_set("postgres", "image", value="postgres"), "names no version"),
    (_set("wallet", "secrets", value=["x"]), "there is no secret x"),
    (_set("wallet", "environment", "WAYBILL_INTERNAL__TOKEN", value="x"), "has its value in the file"),
    (_set("wallet", "environment", "WAYBILL_BROKER__URL", value="amqp://a:b@rabbitmq/waybill"), "holds a password"),
    (_set("wallet", "environment", "WAYBILL_BROKER__URL_FILE", value="/run/secrets/x"), "not handed in"),
    (lambda given: given["compose.yaml"]["secrets"].update(x={"file": "x"}), "nobody uses the secret x"),
    (lambda given: given.update(script=given["script"].replace("keep internal-token", "")), "does not write internal-token"),
    (_set("wallet", "environment", "WAYBILL_BROKER__URI", value="x"), "no document knows WAYBILL_BROKER__URI"),
    (lambda given: given["compose.yaml"]["networks"]["inner"].clear(), "leads to the world"),
    (_set("postgres", "networks", value=["inner", "outer"]), "postgres reaches the world"),
    (_set("postgres", "ports", value=["5432:5432"]), "reached from outside"),
    (lambda given: given["definitions"]["queues"].pop(), "the queues are not those"),
    (lambda given: given["definitions"]["permissions"][0].update(read=".*"), "the permissions are not those"),
    (lambda given: given["definitions"]["bindings"].pop(), "the bindings are not those"),
    (lambda given: given["definitions"]["bindings"].pop(), "the code binds it to"),
    (lambda given: given["definitions"]["queues"][0]["arguments"].update({"x-delivery-limit": 3}), "other arguments"),
    (lambda given: given["definitions"]["queues"].pop(), "nowhere for its dead letters"),
]
