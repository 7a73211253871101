"""Waybill's own rules for rendered manifests. checkov has the general ones: users, capabilities, limits, probes, image tags.

Each rule takes all resources of an installation and yields what is wrong.
"""

import re

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


ALL = [every_service_is_there, everything_is_in_the_namespace, memory_alert_comes_before_the_limit, secrets_come_from_secrets,
       the_network_is_closed, alerts_are_of_this_namespace]
