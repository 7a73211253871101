"""Waybill's own rules for rendered manifests. checkov has the general ones: users, capabilities, limits, probes, image tags.

Each rule takes all resources of an installation and yields what is wrong.
"""

import re
from urllib.parse import urlsplit

from manifests import DEPLOY, of_kind, pod_specs, title

# A variable with such a name holds a secret.
SECRET_NAME = re.compile(r"(PASSWORD|TOKEN|PEPPER|SECRET|CREDENTIAL|_KEY)S?$")
SERVICES = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]
OF_EACH_SERVICE = ["Deployment", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"]
EVERYWHERE, PRIVATE = "0.0.0.0/0", {"10.0.0.0/8", "169.254.0.0/16"}
DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def every_service_is_there(resources):
    """A renderer that renders nothing must not pass."""
    names = {(one["kind"], one["metadata"]["name"]) for one in resources}
    for service in SERVICES:
        for kind in OF_EACH_SERVICE:
            if (kind, service) not in names:
                yield f"{service} has no {kind}"


def everything_is_in_the_namespace(resources):
    for one in resources:
        if one["kind"] != "PriorityClass" and one["metadata"].get("namespace") != "delivery":
            yield f"{title(one)} is not in the namespace of the release"


def memory_alert_comes_before_the_limit(resources):
    """The alert fires at three quarters of the smallest limit at the latest."""
    text = (DEPLOY / "alerts/platform.yaml").read_text()
    alert = int(re.search(r"process_resident_memory_bytes(?:\{[^}]*\})? > (\d+) \* 1024 \* 1024$", text, re.MULTILINE).group(1))
    for deployment in of_kind(resources, "Deployment"):
        limit = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"]
        if limit.endswith("Mi") and alert * 4 > int(limit.removesuffix("Mi")) * 3:
            yield f"{title(deployment)}: the memory limit is {limit}, but WaybillMemoryHigh fires at {alert}Mi only"


def secrets_come_from_secrets(resources):
    for one in of_kind(resources, "Secret", "Namespace"):
        yield f"{title(one)} would be removed with the release"
    for resource, spec in pod_specs(resources):
        for variable in (variable for container in spec.get("initContainers", []) + spec["containers"] for variable in container.get("env", [])):
            if SECRET_NAME.search(variable["name"]) and "value" in variable:
                yield f"{title(resource)}: the manifest has the value of {variable['name']}"


def the_network_is_closed(resources):
    policies = of_kind(resources, "NetworkPolicy")
    if not any(one["spec"]["podSelector"] == {} and set(one["spec"]["policyTypes"]) == {"Ingress", "Egress"}
               and not one["spec"].get("ingress") and not one["spec"].get("egress") for one in policies):
        yield "no NetworkPolicy denies all traffic by default"
    for policy in policies:
        for direction, peers in DIRECTIONS:
            for rule in policy["spec"].get(direction, []):
                if not rule.get(peers) and not rule.get("ports"):
                    yield f"{title(policy)}: a rule for {direction} allows everything"
                for block in (peer.get("ipBlock", {}) for peer in rule.get(peers, [])):
                    if block.get("cidr") == EVERYWHERE and not PRIVATE <= set(block.get("except", [])):
                        yield f"{title(policy)}: {direction} of {EVERYWHERE} includes private addresses"


def alerts_are_of_this_namespace(resources):
    for rules in of_kind(resources, "PrometheusRule"):
        for rule in (rule for group in rules["spec"]["groups"] for rule in group["rules"]):
            if 'namespace="delivery"' not in rule["expr"] or ".*\"" in re.sub(r'route=~"[^"]*"', "", rule["expr"]):
                yield f"{title(rules)}: {rule['alert']} is not of this namespace alone"


def _callee(deployment: dict, url) -> str:
    """Whether the pods listen there. The scheme decides which listener it has to be."""
    listener = "WAYBILL_HTTP__INTERNAL_TLS" if url.scheme == "https" else "WAYBILL_HTTP__INTERNAL"
    [given] = [v.get("value") for v in deployment["containers"][0]["env"] if v["name"] == listener] or [None]
    return "" if given == f"0.0.0.0:{url.port}" else f"{listener} is {given}"


def _allows(policy: dict, direction: str, peers: str, name: str, port: int) -> bool:
    return any({"port": port} in rule["ports"] and any(peer.get("podSelector", {}).get("matchLabels", {}).get("app.kubernetes.io/name") == name
               for peer in rule[peers]) for rule in policy["spec"][direction] if rule.get(peers) and rule.get("ports"))


def calls_between_services_arrive(resources):
    """At a listener of the URL's scheme, through the Service and both NetworkPolicies, and with a certificate of the URL's name."""
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in resources}
    pods = {resource["metadata"]["name"]: spec for resource, spec in pod_specs(resources)}
    names = {one["spec"]["secretName"]: one["spec"].get("dnsNames", []) for one in of_kind(resources, "Certificate")}
    for caller, variable in ((caller, v) for caller in SERVICES if caller in pods for v in pods[caller]["containers"][0]["env"]):
        if not variable["name"].startswith("WAYBILL_PEERS__") or variable["name"].endswith("_FILE"):
            continue
        url = urlsplit(variable["value"])
        name, port, fault = url.hostname, url.port, f"{caller} calls {variable['value']}, but"
        if reason := _callee(pods[name], url):
            yield f"{fault} {reason}"
        if port not in [one["port"] for one in by_name["Service", name]["spec"]["ports"]]:
            yield f"{fault} the Service has no such port"
        if not _allows(by_name["NetworkPolicy", name], "ingress", "from", caller, port):
            yield f"{fault} {name} may not receive it"
        if not _allows(by_name["NetworkPolicy", caller], "egress", "to", name, port):
            yield f"{fault} {caller} may not send it"
        if url.scheme == "https" and not any(name in names.get(v.get("secret", {}).get("secretName"), []) for v in pods[name]["volumes"]):
            yield f"{fault} {name} has no certificate of this name"


ALL = [every_service_is_there, everything_is_in_the_namespace, memory_alert_comes_before_the_limit, secrets_come_from_secrets,
       the_network_is_closed, alerts_are_of_this_namespace, calls_between_services_arrive]
