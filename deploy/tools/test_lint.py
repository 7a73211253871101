"""Proves that every rule can fail: each case breaks a copy of the manifests, and the rule must report it. `make lint-deploy` runs it."""

import copy
import functools
import shutil
import tempfile
import unittest
from pathlib import Path

import compose
import images
import manifests
import policies
import sbom
import schemas


@functools.cache
def rendered():
    return manifests.documents(manifests.rendered("production"))


def one(resources, kind, name):
    return next(r for r in resources if r["kind"] == kind and r["metadata"]["name"].startswith(name))


def pod(resources):
    return one(resources, "Deployment", "wallet")["spec"]["template"]["spec"]


def drop(kind, name):
    return lambda resources: resources.remove(one(resources, kind, name))


def set_in(place, path, value):
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value


def put(value, *path):
    """Sets a value in the container of Deployment wallet; None removes it."""
    return lambda resources: set_in(pod(resources)["containers"][0], path, value)


def spec(kind, name, change):
    return lambda resources: change(one(resources, kind, name)["spec"])


def data(name, change):
    return lambda resources: change(one(resources, "ConfigMap", name)["data"])


def restored(**recovery):
    """Restores Cluster postgres from its own archive, with these changes."""
    def change(s):
        s["bootstrap"] = {"recovery": {"source": "before", "database": "waybill", "owner": "waybill", **recovery}}
        parameters = {"barmanObjectName": "postgres-backups", "serverName": "postgres"}
        s["externalClusters"] = [{"name": "before", "plugin": {"name": "barman-cloud.cloudnative-pg.io", "parameters": parameters}}]
    return spec("Cluster", "postgres", change)


def backend(s):
    return s["rules"][0]["http"]["paths"][0]["backend"]["service"]["port"]


# The rule, the change that breaks it, and a part of the report.
POLICIES = [
    (policies.memory_alert_comes_before_the_limit, put({"memory": "224Mi"}, "resources", "limits"), "limit is 224Mi"),
    (policies.probes_call_the_health_endpoints, put(None, "startupProbe"), "startupProbe"),
    (policies.probes_call_the_health_endpoints, put("/health/live", "readinessProbe", "httpGet", "path"), "call /health/ready"),
    (policies.probes_call_the_health_endpoints, put("metrics", "livenessProbe", "httpGet", "port"), "livenessProbe"),
    (policies.shutdown_has_time_to_drain, put(None, "lifecycle"), "preStop"),
    (policies.shutdown_has_time_to_drain, put(9, "lifecycle", "preStop", "sleep", "seconds"), "before it has drained"),
    (policies.secrets_come_from_secrets, lambda r: r.append({"kind": "Secret", "metadata": {"name": "x"}}), "in the cluster"),
    (policies.secrets_come_from_secrets, put([{"name": "WAYBILL_INTERNAL__TOKEN", "value": "x"}], "env"), "the value of"),
    (policies.secrets_come_from_secrets, data("settings-wallet", lambda d: d.update(WAYBILL_KEYS__PEPPER="x")), "is a secret"),
    (policies.secrets_are_made, put([{"name": "A", "valueFrom": {"secretKeyRef": {"name": "wallet", "key": "x"}}}], "env"), "no wallet"),
    (policies.secrets_are_made, spec("User", "wallet", lambda s: s["importCredentialsSecret"].update(name="x")), "makes no x"),
    *((policies.services_are_complete, drop(kind, name), f"no {kind}") for kind, name in (
        ("PodDisruptionBudget", "wallet"), ("HorizontalPodAutoscaler", "wallet"), ("ServiceAccount", "wallet"), ("Service", "wallet"),
        ("NetworkPolicy", "wallet"), ("Job", "migrate-wallet"))),
    (policies.services_are_complete, spec("Deployment", "wallet", lambda s: s.update(replicas=1)), "sets replicas"),
    (policies.services_are_complete, lambda r: pod(r).pop("topologySpreadConstraints"), "not spread"),
    (policies.the_network_is_closed, drop("NetworkPolicy", "default-deny"), "by default"),
    (policies.the_network_is_closed, spec("NetworkPolicy", "wallet", lambda s: s["egress"].append({})), "allows everything"),
    (policies.the_network_is_closed, spec("NetworkPolicy", "wallet", lambda s: s["egress"].append(
        {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]})), "private addresses"),
    (policies.calls_are_allowed_on_both_sides, spec("NetworkPolicy", "wallet", lambda s: s.update(ingress=[])), "rule for ingress"),
    (policies.calls_are_allowed_on_both_sides, spec("NetworkPolicy", "wallet", lambda s: s.update(egress=[])), "rule for egress"),
    (policies.calls_are_allowed_on_both_sides, data("settings-wallet", lambda d: d.pop("WAYBILL_PEERS__ORDER_API")), "not in both"),
    (policies.references_resolve, drop("ConfigMap", "settings-wallet"), "no ConfigMap"),
    (policies.references_resolve, drop("ServiceAccount", "migrations"), "no ServiceAccount migrations"),
    (policies.references_resolve, drop("Service", "order-api"), "order-api:public is not"),
    (policies.references_resolve, spec("Ingress", "order-api", lambda s: backend(s).update(name="internal")), "not the public listener"),
    (policies.references_resolve, spec("Ingress", "portal-api", lambda s: backend(s).update(name="operator")), "not the public listener"),
    (policies.references_resolve, drop("Service", "key-management"), "names no Service"),
    (policies.references_resolve, lambda r: one(r, "Service", "wallet")["metadata"].pop("namespace"), "not in the namespace"),
    (policies.references_resolve, lambda r: one(r, "Service", "wallet")["metadata"]["labels"].pop("rollout-step"), "no step"),
    (policies.restored_clusters_archive_elsewhere, restored(), "writes to the archive"),
    (policies.restored_clusters_archive_elsewhere, restored(source="other"), "no external cluster other"),
    (policies.restored_clusters_archive_elsewhere, restored(recoveryTarget={"targetTime": "2026-01-31T12:00:00"}), "no time zone"),
    (policies.restored_clusters_archive_elsewhere, spec("Cluster", "postgres", lambda s: s["bootstrap"].update(recovery={"source": "x"})), "either"),
    (policies.connections_fit, spec("HorizontalPodAutoscaler", "wallet", lambda s: s.update(maxReplicas=40)), "more than 400"),
    (policies.ingresses_have_certificates, spec("Ingress", "order-api", lambda s: s.pop("tls")), "no certificate"),
    (policies.data_is_replicated, spec("Cluster", "postgres", lambda s: s.update(instances=1)), "synchronously"),
    (policies.data_is_replicated, spec("Cluster", "postgres", lambda s: s["postgresql"].pop("synchronous")), "synchronously"),
    (policies.data_is_replicated, spec("Cluster", "postgres", lambda s: s.pop("plugins")), "not archived"),
    (policies.data_is_replicated, drop("ScheduledBackup", "postgres"), "no ScheduledBackup"),
    (policies.data_is_replicated, spec("RabbitmqCluster", "rabbitmq", lambda s: s.update(replicas=2)), "three or five"),
]

CUSTOM = [
    (lambda s: s.update(instance=3), "'instance' was unexpected"),
    (lambda s: s.pop("storage"), "'storage' is a required property"),
    (lambda s: s["postgresql"]["parameters"].update(max_connections=400), "400 is not of type 'string'"),
    (lambda s: s["storage"].update(size="much"), "does not match"),
    (lambda s: s["managed"].update(roles=[]), "should be non-empty"),
    (lambda s: s["resources"]["limits"].pop("memory"), "'memory' is a required property"),
    (lambda s: s.update(imageName="registry.example:5000/postgresql"), "does not match"),
]

CONTAINERFILE = [
    ("rust:1.95.0-slim-bookworm", "rust", "no version"),
    ("FROM scratch AS base", "FROM debian:12 AS base", "does not start from"),
    ('ENTRYPOINT ["/usr/bin/wallet"]', "", 'no ENTRYPOINT ["/usr/bin/wallet"]'),
    ('CMD ["/usr/bin/wallet", "health"]', "CMD curl", "wallet has no HEALTHCHECK"),
    ("COPY crates crates", "COPY crate crate", "crate does not exist"),
    ("COPY crates crates", "COPY proto-docs proto-docs", ".dockerignore excludes proto-docs"),
]


def service(name, *path, value=None, file="compose.yaml"):
    def change(given):
        # The services share what an anchor holds.
        given[file]["services"][name] = copy.deepcopy(given[file]["services"][name])
        set_in(given[file]["services"][name], path, value)
    return change


COMPOSE = [
    (service("wallet", "security_opt"), "can gain privileges"),
    (service("wallet", "mem_limit"), "no memory limit"),
    (service("wallet", "read_only"), "wallet has a writable"),
    (service("proxy", "read_only", file="compose.production.yaml"), "proxy has a writable"),
    (service("wallet", "cap_drop"), "keeps capabilities"),
    (service("wallet", "user", value="0:0"), "runs as root"),
    (service("wallet", "restart", value="on-failure"), "does not restart"),
    (service("wallet", "healthcheck"), "no health check"),
    (service("wallet", "stop_grace_period", value="10s"), "before it has drained"),
    (service("wallet", "depends_on", value={"purse": {"condition": "service_healthy"}}), "purse, which does not exist"),
    (service("wallet", "depends_on", value={"postgres": {"condition": "service_completed_successfully"}}), "does not end"),
    (service("wallet", "depends_on"), "does not wait for the migrations"),
    (service("migrate-wallet", "environment", "WAYBILL_DATABASE__SERVING_ROLE"), "gives wallet_service no rights"),
    (service("wallet", "secrets", value=["x"]), "x is not defined"),
    (service("wallet", "environment", "WAYBILL_INTERNAL__TOKEN", value="x"), "the file has the value of"),
    (service("wallet", "environment", "WAYBILL_BROKER__URL_FILE", value="/run/secrets/x"), "does not get"),
    (lambda given: given["compose.yaml"]["secrets"].update(x={"file": "x"}), "x is not used"),
    (lambda given: given.update(script=given["script"].replace("keep internal-token", "")), "does not write internal-token"),
    (lambda given: given.update(script=given["script"].replace('write "$service-broker', "")), "does not write wallet-broker-url"),
    (lambda given: given["compose.yaml"]["networks"]["inner"].clear(), "is not internal"),
    (service("postgres", "networks", value=["inner", "outer"]), "a way out"),
    (service("postgres", "ports", value=["5432:5432"]), "publishes a port"),
    (lambda given: given["definitions"]["queues"].pop(), "the queues differ"),
    (lambda given: given["definitions"]["permissions"][0].update(read=".*"), "the permissions differ"),
    (lambda given: given["definitions"]["bindings"].pop(), "the bindings differ"),
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
        self.assertEqual({rule for rule, _, _ in POLICIES}, {*policies.OF_ALL, *policies.OF_CLUSTERS})

    def test_compose(self):
        for change, part in COMPOSE:
            files = compose.files()
            change(files)
            self.check(part, [fault for _, faults in compose.checks(files) for fault in faults])

    def test_containerfile(self):
        for old, new, part in CONTAINERFILE:
            self.assertIn(old, images.text())
            self.check(part, images.checks(images.text().replace(old, new)))

    def test_custom_resources(self):
        for change, part in CUSTOM:
            broken = copy.deepcopy(one(rendered(), "Cluster", "postgres"))
            change(broken["spec"])
            self.check(part, schemas.custom(broken))
        self.check("does not know", schemas.custom({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {}}))

    def test_kubernetes(self):
        broken = copy.deepcopy(one(rendered(), "Deployment", "wallet"))
        broken["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
        self.assertEqual(len(schemas.builtin(broken)), 3)
        self.check("Couldn't find schema", schemas.builtin({**broken, "apiVersion": "extensions/v1beta1"}))

    def test_unused_manifests(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "kubernetes"
            shutil.copytree(manifests.KUBERNETES, root)
            (root / "base/services/purse.yaml").touch()
            self.check("purse.yaml: no kustomization", policies.unused_manifests(root))


class Sbom(unittest.TestCase):
    def test_packages_of_the_system(self):
        with tempfile.TemporaryDirectory() as folder:
            records = Path(folder)
            (records / "os-release").write_text('ID=debian\nVERSION_ID="12"\n')
            (records / "status.d").mkdir()
            (records / "status.d/libc6").write_text(
                "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nSource: glibc (2.36)\nVersion: 2.36-9+deb12u13\nDescription: x\n Version: y\n")
            found = list(sbom.of_system(records))
        self.assertEqual([(one.name, one.version) for one in found], [("libc6", "2.36-9+deb12u13")])
        self.assertEqual(str(found[0].purl), "pkg:deb/debian/libc6@2.36-9%2Bdeb12u13?arch=amd64&distro=debian-12&upstream=glibc")


if __name__ == "__main__":
    unittest.main()
