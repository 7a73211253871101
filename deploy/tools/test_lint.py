"""Every check can fail: a manifest is broken on a copy for each, and the check must say so. Part of `make lint-deploy`."""

import copy
import functools
import shutil
import tempfile
import unittest
from pathlib import Path

import yaml

import compose
import images
import lint
import manifests
import policies
import sbom
import schemas


@functools.cache
def rendered():
    return manifests.render(manifests.kubectl(), "production")


def can_render():
    try:
        manifests.kubectl()
        return True
    except RuntimeError:
        return False


def one(resources, kind, name):
    return next(r for r in resources if r["kind"] == kind and r["metadata"]["name"].startswith(name))


def container(resources, name="wallet", index=0):
    return one(resources, "Deployment", name)["spec"]["template"]["spec"]["containers"][index]


def pod(resources, name="wallet"):
    return one(resources, "Deployment", name)["spec"]["template"]["spec"]


def drop(kind, name):
    def change(resources):
        resources.remove(one(resources, kind, name))
    return change


def put(value, *path):
    """Sets a value in Deployment wallet's container; None removes it."""
    def change(resources):
        place = container(resources)
        for key in path[:-1]:
            place = place[key]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    return change


def policy(change):
    return lambda resources: change(one(resources, "NetworkPolicy", "wallet")["spec"])


def spec(kind, name, change):
    return lambda resources: change(one(resources, kind, name)["spec"])


def restored(**recovery):
    """As restore/ makes it from the archive `postgres`, with this otherwise."""
    def change(s):
        s["bootstrap"] = {"recovery": {"source": "before", "database": "waybill", "owner": "waybill", **recovery}}
        parameters = {"barmanObjectName": "postgres-backups", "serverName": "postgres"}
        s["externalClusters"] = [{"name": "before", "plugin": {"name": "barman-cloud.cloudnative-pg.io", "parameters": parameters}}]
    return spec("Cluster", "postgres", change)


# The check, how a manifest is broken, and a word of what is said about it.
POLICIES = [
    (policies.nobody_is_root, lambda r: pod(r)["securityContext"].update(runAsNonRoot=False), "may run as root"),
    (policies.nobody_is_root, lambda r: pod(r)["securityContext"].update(runAsUser=0), "no user other than root"),
    (policies.nobody_is_root, put(True, "securityContext", "allowPrivilegeEscalation"), "may gain rights"),
    (policies.nobody_is_root, put({"drop": ["NET_RAW"]}, "securityContext", "capabilities"), "keeps capabilities"),
    (policies.nobody_is_root, put({"drop": ["ALL"], "add": ["SYS_ADMIN"]}, "securityContext", "capabilities"), "keeps capabilities"),
    (policies.nobody_is_root, lambda r: pod(r)["securityContext"].pop("seccompProfile"), "seccomp"),
    (policies.nobody_is_root, put(True, "securityContext", "privileged"), "is privileged"),
    (policies.nobody_is_root, lambda r: pod(r).update(hostNetwork=True), "hostNetwork"),
    (policies.nobody_is_root, lambda r: pod(r).update(volumes=[{"name": "x", "hostPath": {"path": "/"}}]), "its node's"),
    (policies.root_file_systems_are_read_only, put(None, "securityContext", "readOnlyRootFilesystem"), "can write"),
    (policies.limits_are_set, put(None, "resources", "limits"), "no limit of memory"),
    (policies.limits_are_set, put({"memory": "1Mi"}, "resources", "requests"), "requests no cpu"),
    (policies.limits_are_set, spec("Cluster", "postgres", lambda s: s.pop("resources")), "resources are not set"),
    (policies.memory_is_told_before_it_ends, put({"memory": "224Mi"}, "resources", "limits"), "is ended at 224Mi"),
    (policies.probes_are_set, put(None, "livenessProbe"), "livenessProbe"),
    (policies.probes_are_set, put("/health/live", "readinessProbe", "httpGet", "path"), "does not ask /health/ready"),
    (policies.probes_are_set, put("metrics", "startupProbe", "httpGet", "port"), "a port that is not there"),
    (policies.stops_leave_time_to_drain, put(None, "lifecycle"), "no preStop"),
    (policies.stops_leave_time_to_drain, put(9, "lifecycle", "preStop", "sleep", "seconds"), "before it has drained"),
    (policies.images_are_pinned, put("registry.example/waybill/wallet:latest", "image"), "names no version"),
    (policies.images_are_pinned, put("registry.example:5000/waybill/wallet", "image"), "names no version"),
    (policies.images_are_pinned, spec("Cluster", "postgres", lambda s: s.update(imageName="postgresql")), "names no version"),
    (policies.secrets_are_referred_to, lambda r: r.append({"kind": "Secret", "metadata": {"name": "x"}}), "made in the cluster"),
    (policies.secrets_are_referred_to, put([{"name": "WAYBILL_INTERNAL__TOKEN", "value": "x"}], "env"), "in the manifest"),
    (policies.secrets_are_referred_to, put([{"name": "WAYBILL_DATABASE__URL", "value": "postgres://a:b@c/d"}], "env"), "holds a password"),
    (policies.secrets_are_referred_to, lambda r: one(r, "ConfigMap", "settings-wallet")["data"].update(WAYBILL_KEYS__PEPPER="x"), "is a secret"),
    (policies.secrets_are_made, put([{"name": "A", "valueFrom": {"secretKeyRef": {"name": "wallet", "key": "x"}}}], "env"), "makes no wallet"),
    (policies.secrets_are_made, spec("User", "wallet", lambda s: s["importCredentialsSecret"].update(name="x")), "makes no x"),
    (policies.services_are_complete, drop("PodDisruptionBudget", "wallet"), "no PodDisruptionBudget"),
    (policies.services_are_complete, drop("HorizontalPodAutoscaler", "wallet"), "no HorizontalPodAutoscaler"),
    (policies.services_are_complete, drop("ServiceAccount", "wallet"), "no ServiceAccount"),
    (policies.services_are_complete, drop("Service", "wallet"), "has no Service"),
    (policies.services_are_complete, drop("NetworkPolicy", "wallet"), "no NetworkPolicy"),
    (policies.services_are_complete, drop("Job", "migrate-wallet"), "no migration"),
    (policies.services_are_complete, spec("Deployment", "wallet", lambda s: s.update(replicas=1)), "names replicas"),
    (policies.services_are_complete, lambda r: pod(r).pop("topologySpreadConstraints"), "one node or in one zone"),
    (policies.services_are_complete, lambda r: pod(r).pop("initContainers"), "does not wait"),
    (policies.services_are_complete, lambda r: pod(r).update(automountServiceAccountToken=True), "a token of Kubernetes"),
    (policies.the_network_is_closed, drop("NetworkPolicy", "default-deny"), "denies what none allows"),
    (policies.the_network_is_closed, policy(lambda s: s["egress"].append({})), "allows everything"),
    (policies.the_network_is_closed, policy(lambda s: s["egress"].append({"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]})), "private addresses"),
    (policies.arrows_are_drawn_on_both_sides, policy(lambda s: s.update(ingress=[])), "is not let in"),
    (policies.arrows_are_drawn_on_both_sides, policy(lambda s: s.update(egress=[])), "may not leave"),
    (policies.arrows_are_drawn_on_both_sides, lambda r: one(r, "ConfigMap", "settings-wallet")["data"].pop("WAYBILL_PEERS__ORDER_API"), "not in both"),
    (policies.references_lead_somewhere, drop("ConfigMap", "settings-wallet"), "no ConfigMap"),
    (policies.references_lead_somewhere, drop("ServiceAccount", "migrations"), "no ServiceAccount migrations"),
    (policies.references_lead_somewhere, drop("Service", "order-api"), "there is no order-api:public"),
    (policies.references_lead_somewhere, lambda r: one(r, "Ingress", "order-api")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["port"].update(name="internal"), "only public listeners"),
    (policies.references_lead_somewhere, drop("Service", "key-management"), "leads nowhere"),
    (policies.references_lead_somewhere, lambda r: one(r, "Service", "wallet")["metadata"].pop("namespace"), "no namespace"),
    (policies.references_lead_somewhere, lambda r: one(r, "Service", "wallet")["metadata"]["labels"].pop("rollout-step"), "no step"),
    (policies.restores_write_elsewhere, restored(), "writes to the archive that it is restored from"),
    (policies.restores_write_elsewhere, restored(source="other"), "no archive other"),
    (policies.restores_write_elsewhere, restored(recoveryTarget={"targetTime": "2026-01-31T12:00:00"}), "has no zone"),
    (policies.restores_write_elsewhere, spec("Cluster", "postgres", lambda s: s["bootstrap"].update(recovery={"source": "x"})), "one of the two"),
    (policies.variables_are_known, put([{"name": "WAYBILL_BROKER__URI", "value": "x"}], "env"), "no document knows WAYBILL_BROKER__URI"),
    (policies.everybody_is_in_the_quota, spec("HorizontalPodAutoscaler", "wallet", lambda s: s.update(maxReplicas=40)), "more than 400"),
    (policies.ingresses_have_certificates, spec("Ingress", "order-api", lambda s: s.pop("tls")), "no certificate"),
    (policies.data_is_kept_twice, spec("Cluster", "postgres", lambda s: s.update(instances=1)), "on one disk"),
    (policies.data_is_kept_twice, spec("Cluster", "postgres", lambda s: s["postgresql"].pop("synchronous")), "on one disk"),
    (policies.data_is_kept_twice, spec("Cluster", "postgres", lambda s: s.pop("plugins")), "no backups"),
    (policies.data_is_kept_twice, drop("ScheduledBackup", "postgres"), "no backup is scheduled"),
    (policies.data_is_kept_twice, spec("RabbitmqCluster", "rabbitmq", lambda s: s.update(replicas=2)), "no quorum"),
]


class Policies(unittest.TestCase):
    @unittest.skipUnless(can_render(), "there is no kubectl that renders")
    def test_each_can_fail(self):
        for check, change, word in POLICIES:
            with self.subTest(check=check.__name__, word=word):
                resources = copy.deepcopy(rendered())
                change(resources)
                rest = ("production",) if check in policies.OF_OVERLAYS else ()
                faults = list(check(resources, *rest))
                self.assertTrue(any(word in fault for fault in faults), faults)

    def test_each_is_tried(self):
        self.assertEqual({check for check, _, _ in POLICIES}, {*policies.OF_RESOURCES, *policies.OF_OVERLAYS})


class Schemas(unittest.TestCase):
    def test_three_minor_versions(self):
        self.assertEqual(len({version.rpartition(".")[0] for version in schemas.versions()}), 3)

    @unittest.skipUnless(can_render(), "there is no kubectl that renders")
    def test_fields_of_kubernetes(self):
        broken = copy.deepcopy(one(rendered(), "Deployment", "wallet"))
        self.assertEqual(schemas.builtin(broken), [])
        broken["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
        self.assertEqual(len(schemas.builtin(broken)), 3)
        gone = {**broken, "apiVersion": "extensions/v1beta1"}
        self.assertIn("there is no extensions/v1beta1 Deployment", schemas.builtin(gone)[0])

    @unittest.skipUnless(can_render(), "there is no kubectl that renders")
    def test_fields_of_operators(self):
        for change, word in [
            (lambda s: s.update(instance=3), "'instance' was unexpected"),
            (lambda s: s.pop("storage"), "'storage' is a required property"),
            (lambda s: s["postgresql"]["parameters"].update(max_connections=400), "400 is not of type 'string'"),
            (lambda s: s["storage"].update(size="much"), "does not match"),
            (lambda s: s["managed"].update(roles=[]), "should be non-empty"),
        ]:
            broken = copy.deepcopy(one(rendered(), "Cluster", "postgres"))
            self.assertEqual(schemas.custom(broken), [])
            change(broken["spec"])
            faults = schemas.custom(broken)
            self.assertTrue(any(word in fault for fault in faults), faults)
        unknown = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {}}
        self.assertIn("does not know example.com/v1 Thing", schemas.custom(unknown)[0])

    def test_published_definitions(self):
        schema = {"type": "object", "properties": {"apiVersion": {}, "kind": {}, "metadata": {}, "spec": {
            "type": "object", "required": ["size"], "properties": {
                "size": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}}}}}
        definition = {"kind": "CustomResourceDefinition", "spec": {
            "group": "example.com", "names": {"kind": "Thing"}, "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "thing.yaml").write_text(yaml.safe_dump(definition))
            definitions = schemas.published(Path(folder))
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
        self.assertEqual(schemas.as_published({**thing, "spec": {"size": "1Gi"}}, definitions), [])
        self.assertIn("'siz' was unexpected", "".join(schemas.as_published({**thing, "spec": {"size": 1, "siz": 1}}, definitions)))
        self.assertIn("required", "".join(schemas.as_published({**thing, "spec": {}}, definitions)))
        self.assertIn("have no example.com/v1 Other", schemas.as_published({**thing, "kind": "Other"}, definitions)[0])


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "deploy"
        shutil.copytree(manifests.DEPLOY, self.root)

    def test_what_is_not_there_and_what_nobody_names(self):
        self.assertEqual(policies.kustomizations_lead_somewhere(self.root), [])
        (self.root / "kubernetes/base/services/wallet.yaml").rename(self.root / "kubernetes/base/services/purse.yaml")
        faults = policies.kustomizations_lead_somewhere(self.root)
        self.assertTrue(any("wallet.yaml is not there" in fault for fault in faults), faults)
        self.assertTrue(any("purse.yaml: no kustomization names it" in fault for fault in faults), faults)

    def test_what_cannot_be_read(self):
        self.assertEqual(lint.files_can_be_read(self.root), [])
        (self.root / "kubernetes/base/namespace.yaml").write_text("kind: Namespace\nkind: Twice\n")
        (self.root / "kubernetes/base/kustomization.yaml").write_text("resources: [\n")
        faults = lint.files_can_be_read(self.root)
        self.assertEqual(len(faults), 2, faults)
        self.assertIn("'kind' stands twice", "".join(faults))


class Compose(unittest.TestCase):
    def test_each_can_fail(self):
        for change, word in compose.BROKEN:
            with self.subTest(word=word):
                files = compose.files()
                change(files)
                faults = [fault for _, faults in compose.checks(files) for fault in faults]
                self.assertTrue(any(word in fault for fault in faults), faults)


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


class Images(unittest.TestCase):
    def test_each_can_fail(self):
        self.assertEqual(images.checks(), [])
        for old, new, word in images.BROKEN:
            with self.subTest(word=word):
                self.assertIn(old, images.text())
                faults = images.checks(images.text().replace(old, new))
                self.assertTrue(any(word in fault for fault in faults), faults)


if __name__ == "__main__":
    unittest.main()
