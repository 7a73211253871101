"""Proves that every rule can fail: each case breaks a copy of the manifests, and the rule must report it. `make lint-deploy` runs it."""

import copy
import functools
import os
import unittest
from pathlib import Path

import helm_python

import manifests
import policies
import schemas

# node_modules with typescript and @kubernetes-models.
MODULES = Path(os.environ["MODULES"])


@functools.cache
def rendered(preset="production"):
    return manifests.rendered(manifests.preset(preset))


def one(resources, kind, name):
    return next(r for r in resources if r["kind"] == kind and r["metadata"]["name"].startswith(name))


def set_in(place, path, value):
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value


def mixed(resources, callers, callees):
    """With the pods of `callees`, which call what those of `callers` call."""
    result = [r for r in resources if r["kind"] != "Deployment"] + [copy.deepcopy(r) for r in callees if r["kind"] == "Deployment"]
    for resource, spec in manifests.pod_specs(result):
        urls = one(callers, "Deployment", resource["metadata"]["name"])["spec"]["template"]["spec"]["containers"][0]["env"]
        env = spec["containers"][0]["env"]
        env[:] = [v for v in env if not v["name"].startswith("WAYBILL_PEERS__")] + [v for v in urls if v["name"].startswith("WAYBILL_PEERS__")]
    return result


def drop(kind, name):
    return lambda resources: resources.remove(one(resources, kind, name))


def put(kind, name, value, *path):
    """Sets a value in a resource; None removes it."""
    return lambda resources: set_in(one(resources, kind, name), path, value)


def container(value, *path):
    return put("Deployment", "wallet", value, "spec", "template", "spec", "containers", 0, *path)


# The rule, the change that breaks it, and a part of the report.
POLICIES = [
    (policies.every_service_is_there, lambda resources: resources.clear(), "wallet has no Deployment"),
    (policies.every_service_is_there, drop("PodDisruptionBudget", "wallet"), "wallet has no PodDisruptionBudget"),
    (policies.everything_is_in_the_namespace, put("Service", "wallet", "other", "metadata", "namespace"), "not in the namespace"),
    (policies.memory_alert_comes_before_the_limit, container({"memory": "224Mi"}, "resources", "limits"), "limit is 224Mi"),
    (policies.secrets_come_from_secrets, lambda r: r.append({"kind": "Secret", "metadata": {"name": "x"}}), "would be removed"),
    (policies.secrets_come_from_secrets, container([{"name": "WAYBILL_INTERNAL__TOKEN", "value": "x"}], "env"), "the value of"),
    (policies.the_network_is_closed, drop("NetworkPolicy", "default-deny"), "by default"),
    (policies.the_network_is_closed, put("NetworkPolicy", "wallet", [{}], "spec", "egress"), "allows everything"),
    (policies.the_network_is_closed, put("NetworkPolicy", "wallet", [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}], "spec", "egress"),
     "private addresses"),
    (policies.alerts_are_of_this_namespace, put("PrometheusRule", "money", "up == 0", "spec", "groups", 0, "rules", 0, "expr"), "of this namespace"),
]

# As above, with calls over TLS.
CALLS = [
    (drop("Certificate", "internal-wallet"), "no certificate of this name"),
    (put("Certificate", "internal-wallet", ["purse"], "spec", "dnsNames"), "no certificate of this name"),
    (put("Service", "wallet", [], "spec", "ports"), "the Service has no such port"),
    (put("NetworkPolicy", "wallet", [], "spec", "ingress"), "wallet may not receive it"),
    (put("NetworkPolicy", "wallet", [], "spec", "egress"), "wallet may not send it"),
    (container([{"name": "WAYBILL_HTTP__INTERNAL_TLS", "value": "127.0.0.1:8443"}], "env"), "INTERNAL_TLS is 127.0.0.1:8443"),
]
MODES = ["disabled", "offered", "used", "required"]

# A resource of an operator, and a part of the compiler's report.
TYPED = [
    ("production", put("Cluster", "postgres", 3, "spec", "instance"), '\'"instance"\' does not exist'),
    ("production", put("Cluster", "postgres", 400, "spec", "postgresql", "parameters", "max_connections"), "'number' is not assignable"),
    ("managed", put("HTTPRoute", "order-api", "/", "spec", "path"), '\'"path"\' does not exist'),
    ("keda", put("ScaledObject", "wallet", "many", "spec", "maxReplicaCount"), "'string' is not assignable"),
    ("internal-tls", put("Certificate", "internal-wallet", "Never", "spec", "privateKey", "rotation"), '\'"rotation"\' does not exist'),
    ("production", put("ServiceMonitor", "services", "1", "spec", "endpoints", 0, "ports"), '\'"ports"\' does not exist'),
]

CUSTOM = [
    (put("Queue", "wallet.cash", True, "spec", "durabel"), "'durabel' was unexpected"),
    (put("RabbitmqCluster", "rabbitmq", None, "spec", "persistence"), "'persistence' is a required property"),
    (put("RabbitmqCluster", "rabbitmq", "much", "spec", "persistence", "storage"), "does not match"),
]

# Production needs it.
PAID = {"services": {"wallet": {"settings": {"WAYBILL_PAYMENTS__PROVIDER": "razorpay"}}}}
# Values that the chart or its schema refuses, and a part of the error.
REFUSED = [
    ({"services": {"wallet": {"replicas": {"max": 60}}}}, "need 862 connections"),
    ({"backups": {"restore": {"from": "postgres"}}}, "needs another"),
    ({"gateway": {"enabled": True}}, "exclude each other"),
    ({"postgres": {"by": "managed"}}, "postgres.host is required"),
    ({"postgres": {"by": "hand"}}, "postgres"),
    ({"imagse": {}}, "imagse"),
    # Only the console's may have a port: an Ingress takes none.
    ({"hosts": {"api": "api.example:8443"}}, "hosts"),
    ({"hosts": {"console": "console.example:https"}}, "hosts"),
    ({"settings": {"DATABASE_URL": "x"}}, "DATABASE_URL"),
    # Helm renders large numbers as 1e+07.
    ({"settings": {"WAYBILL_APPROVALS__CREDITS_ABOVE_PAISE": 10_000_000}}, "CREDITS_ABOVE_PAISE"),
    # An empty list of a NetworkPolicy allows everybody.
    ({"postgres": {"by": "managed", "host": "x", "cidrs": []}}, "cidrs"),
    ({"services": {"wallet": {"replicas": {"min": 9}}}}, "min is larger than max"),
    ({"internalTls": {"mode": "offered", "by": "secrets"}}, "internalTls.caSecret.name is required"),
    ({"internalTls": {"mode": "used", "issuerRef": {"name": "vault"}}}, "internalTls.caSecret.name is required"),
    # YAML's `off`.
    ({"internalTls": {"mode": False}}, "internalTls"),
    ({"backups": {"enabled": False, "restore": {"from": "old"}}}, "needs backups.enabled"),
    ({"services": {"wallet": {"settings": {"WAYBILL_PAYMENTS__PROVIDER": ""}}}}, "needs a payment provider"),
    ({"services": {"wallet": {"settings": {"WAYBILL_PAYMENTS__PROVIDER": "sandbox"}}}}, "needs a payment provider"),
    ({"services": {"wallet": {"settings": {"WAYBILL_PAYMENTS__PROVIDER": ""}}}, "generateSecrets": True}, "needs a payment provider"),
    ({"secrets": {"rabbitmq-walet": "rabbitmq-wallet-2"}}, "rabbitmq-walet"),
    ({"secrets": {"internal-wallet": "internal-wallet-2"}}, "internal-wallet"),
    ({"postgres": {"by": "managed", "host": "x", "disableFormerUsers": True}}, "disableFormerUsers is for operator"),
]


class Rules(unittest.TestCase):
    def check(self, part, faults):
        with self.subTest(part=part):
            self.assertTrue(any(part in fault for fault in faults), faults)

    def test_policies(self):
        for rule, change, part in POLICIES:
            resources = copy.deepcopy(rendered())
            change(resources)
            self.check(part, list(rule(resources)))
        self.assertEqual({rule for rule, _, _ in POLICIES}, set(policies.ALL) - {policies.calls_between_services_arrive})

    def test_calls_between_services(self):
        for change, part in CALLS:
            resources = copy.deepcopy(rendered("internal-tls"))
            change(resources)
            self.check(part, list(policies.calls_between_services_arrive(resources)))

    def test_port_of_the_console(self):
        values = manifests.merged(manifests.preset("production"), {"hosts": {"console": "console.example:8443"}})
        self.assertIn("https://console.example:8443", str(manifests.rendered(values)))

    def test_labels_of_monitoring(self):
        values = manifests.merged(manifests.preset("production"), {"monitoring": {"labels": {"release": "metrics"}}})
        found = manifests.of_kind(manifests.rendered(values), "ServiceMonitor", "PodMonitor", "PrometheusRule")
        self.assertEqual({r["kind"] for r in found if r["metadata"]["labels"].get("release") != "metrics"}, set())
        self.assertEqual({r["kind"] for r in found}, {"ServiceMonitor", "PodMonitor", "PrometheusRule"})

    def test_steps_to_internal_tls(self):
        """While a step rolls out, former and new pods call each other through what the new release has."""
        of_mode = {mode: manifests.rendered(manifests.merged(manifests.preset("production"), {"internalTls": {"mode": mode}})) for mode in MODES}
        steps = list(zip(MODES, MODES[1:]))
        for former, new in steps + [(new, former) for former, new in steps]:
            for callers in (former, new):
                for callees in (former, new):
                    faults = list(policies.calls_between_services_arrive(mixed(of_mode[new], of_mode[callers], of_mode[callees])))
                    self.assertEqual(faults, [], f"{former} to {new}, {callers} calls {callees}")
        self.assertTrue(list(policies.calls_between_services_arrive(mixed(of_mode["used"], of_mode["used"], of_mode["disabled"]))))

    def test_typed_resources(self):
        broken = []
        for preset, change, _ in TYPED:
            resources = [copy.deepcopy(r) for r in rendered(preset) if schemas.group(r) in schemas.PACKAGES]
            before = copy.deepcopy(resources)
            change(resources)
            broken += [r for r in resources if r not in before]
        self.assertEqual(len(broken), len(TYPED))
        faults = schemas.typed(broken, MODULES)
        for _, _, part in TYPED:
            self.check(part, faults)

    def test_custom_resources(self):
        for change, part in CUSTOM:
            resources = copy.deepcopy(rendered())
            change(resources)
            self.check(part, [fault for r in resources if schemas.group(r) == "rabbitmq.com" for fault in schemas.custom(r)])
        self.check("does not know", schemas.custom({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {}}))

    def test_refused_values(self):
        for values, part in REFUSED:
            with self.assertRaises(helm_python.HelmError) as refused:
                manifests.rendered(manifests.merged(PAID, values))
            self.check(part, [str(refused.exception)])

    def test_settings_replace_secrets(self):
        proxy = {"WAYBILL_WEBHOOKS__PROXY": "http://10.0.0.40:3128"}
        given = manifests.merged(manifests.preset("production"), {"services": {"webhook-dispatcher": {"settings": proxy}}})
        deployment = one(manifests.rendered(given), "Deployment", "webhook-dispatcher")
        variables = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
        self.assertEqual([{entry["name"]: entry.get("value")} for entry in variables if entry["name"] in proxy], [proxy])

    def test_kubernetes(self):
        broken = copy.deepcopy(one(rendered(), "Deployment", "wallet"))
        broken["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
        self.assertEqual(len(schemas.builtin(broken)), 3)
        self.check("Couldn't find schema", schemas.builtin({**broken, "apiVersion": "extensions/v1beta1"}))


if __name__ == "__main__":
    unittest.main()
