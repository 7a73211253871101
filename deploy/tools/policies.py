"""Waybill's own rules for rendered manifests. checkov has the general ones: users, capabilities, limits, probes, image tags.

Each rule takes all resources of an overlay and yields what is wrong.
"""

import re
from pathlib import Path

from manifests import DEPLOY, KUBERNETES, containers, documents, of_kind, pod_template, selects, title, walk

# A variable with such a name holds a secret.
SECRET_NAME = re.compile(r"(PASSWORD|TOKEN|PEPPER|SECRET|CREDENTIAL|_KEY)S?$")
EVERYWHERE, PRIVATE = "0.0.0.0/0", {"10.0.0.0/8", "169.254.0.0/16"}
BOTH = {"Ingress", "Egress"}
DIRECTIONS = (("ingress", "from"), ("egress", "to"))
DRAIN_SECONDS = 25
POOL_CONNECTIONS = 8
# For the operator and the migrations.
SPARE_CONNECTIONS = 20


def _pods(resources):
    for resource in resources:
        template = pod_template(resource)
        if template is not None:
            yield resource, template


def _service_containers(resources):
    for deployment in of_kind(resources, "Deployment"):
        for container in pod_template(deployment)["spec"]["containers"]:
            yield deployment, container


def memory_alert_comes_before_the_limit(resources):
    """The alert fires at three quarters of the smallest limit at the latest."""
    text = (DEPLOY / "alerts/platform.yaml").read_text()
    alert = int(re.search(r"process_resident_memory_bytes\S* > (\d+) \* 1024 \* 1024$", text, re.MULTILINE).group(1))
    for deployment, container in _service_containers(resources):
        limit = container.get("resources", {}).get("limits", {}).get("memory", "")
        if limit.endswith("Mi") and alert * 4 > int(limit.removesuffix("Mi")) * 3:
            yield f"{title(deployment)}: the memory limit is {limit}, but WaybillMemoryHigh fires at {alert}Mi only"


def probes_call_the_health_endpoints(resources):
    for deployment, container in _service_containers(resources):
        ports = [port["name"] for port in container.get("ports", [])]
        for probe, path in (("startupProbe", "/health/live"), ("livenessProbe", "/health/live"), ("readinessProbe", "/health/ready")):
            call = container.get(probe, {}).get("httpGet", {})
            if call.get("path") != path or call.get("port") not in ports:
                yield f"{title(deployment)}: {probe} does not call {path} on a port of the container"


def shutdown_has_time_to_drain(resources):
    for deployment, container in _service_containers(resources):
        pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        if pause < 1:
            yield f"{title(deployment)}: without a preStop pause it still gets requests while it stops"
        if pause + DRAIN_SECONDS > pod_template(deployment)["spec"].get("terminationGracePeriodSeconds", 30):
            yield f"{title(deployment)}: the grace period ends before it has drained"


def secrets_come_from_secrets(resources):
    for secret in of_kind(resources, "Secret"):
        yield f"{title(secret)}: secrets.sh makes secrets in the cluster; the repository has none"
    for resource, template in _pods(resources):
        for variable in (variable for container in containers(template) for variable in container.get("env", [])):
            if SECRET_NAME.search(variable["name"]) and "value" in variable:
                yield f"{title(resource)}: the manifest has the value of {variable['name']}"
    for settings in of_kind(resources, "ConfigMap"):
        for name in settings.get("data", {}):
            if name.startswith("WAYBILL_") and SECRET_NAME.search(name):
                yield f"{title(settings)}: {name} is a secret"


def secrets_are_made(resources):
    """secrets.sh makes every secret that a resource refers to."""
    table = re.search(r"<<'TABLE'\n(.*?)\nTABLE\n", (KUBERNETES / "secrets.sh").read_text(), re.S).group(1)
    made = {tuple(line.split()[:2]) for line in table.splitlines() if line.strip() and not line.startswith("#")}
    for resource in resources:
        for path, value in walk(resource):
            field = path.rpartition(".")[2]
            if field in ("secretKeyRef", "accessKeyId", "secretAccessKey") and (value["name"], value["key"]) not in made:
                yield f"{title(resource)}: secrets.sh makes no {value['name']} with {value['key']}"
            if field in ("passwordSecret", "importCredentialsSecret") and value["name"] not in {name for name, _ in made}:
                yield f"{title(resource)}: secrets.sh makes no {value['name']}"


def services_are_complete(resources):
    for deployment in of_kind(resources, "Deployment"):
        name, template = deployment["metadata"]["name"], pod_template(deployment)
        labels = template["metadata"]["labels"]
        complete = {
            "PodDisruptionBudget": lambda one: selects(one["spec"]["selector"], labels),
            "HorizontalPodAutoscaler": lambda one: one["spec"]["scaleTargetRef"]["name"] == name,
            "ServiceAccount": lambda one: one["metadata"]["name"] == name == template["spec"].get("serviceAccountName"),
            "Service": lambda one: selects({"matchLabels": one["spec"]["selector"]}, labels),
            "NetworkPolicy": lambda one: one["spec"]["podSelector"] and selects(one["spec"]["podSelector"], labels)
            and set(one["spec"]["policyTypes"]) == BOTH,
            "Job": lambda one: one["metadata"]["name"] == f"migrate-{name}",
        }
        for kind, belongs in complete.items():
            if not any(belongs(one) for one in of_kind(resources, kind)):
                yield f"{title(deployment)} has no {kind} of its own"
        if "replicas" in deployment["spec"]:
            yield f"{title(deployment)} sets replicas, but the autoscaler does"
        spread = {one["topologyKey"] for one in template["spec"].get("topologySpreadConstraints", [])}
        if not {"kubernetes.io/hostname", "topology.kubernetes.io/zone"} <= spread:
            yield f"{title(deployment)} is not spread over nodes and zones"


def the_network_is_closed(resources):
    policies = of_kind(resources, "NetworkPolicy")
    if not any(one["spec"]["podSelector"] == {} and set(one["spec"]["policyTypes"]) == BOTH
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


def calls_are_allowed_on_both_sides(resources):
    """Each call in the settings has an egress rule at the caller and an ingress rule at the service called, and no other call has."""
    pods = {template["metadata"]["labels"]["app.kubernetes.io/name"]: template["metadata"]["labels"]
            for resource, template in _pods(resources) if resource["kind"] == "Deployment"}
    allowed = {"ingress": set(), "egress": set()}
    for policy in of_kind(resources, "NetworkPolicy"):
        if policy["spec"]["podSelector"] == {}:
            continue
        own = [name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)]
        for direction, peers in DIRECTIONS:
            for rule in policy["spec"].get(direction, []):
                others = [name for name, labels in pods.items() for peer in rule.get(peers, [])
                          if "podSelector" in peer and selects(peer["podSelector"], labels)]
                allowed[direction] |= {(there, here, port["port"]) if direction == "ingress" else (here, there, port["port"])
                                       for here in own for there in others for port in rule.get("ports", [])}
    for caller, called, port in sorted(allowed["ingress"] ^ allowed["egress"]):
        lacking = "egress" if (caller, called, port) in allowed["ingress"] else "ingress"
        yield f"the call from {caller} to {called}:{port} has no rule for {lacking}"
    peers = set()
    for settings in of_kind(resources, "ConfigMap"):
        caller = re.fullmatch(r"settings-(.+)-[a-z0-9]+", settings["metadata"]["name"])
        for name in settings.get("data", {}):
            if caller and name.startswith("WAYBILL_PEERS__"):
                peers.add((caller.group(1), name.removeprefix("WAYBILL_PEERS__").lower().replace("_", "-"), 8081))
    for caller, called, port in sorted(peers ^ allowed["egress"]):
        yield f"the call from {caller} to {called}:{port} is either in the settings or in a NetworkPolicy, but not in both"


def references_resolve(resources):
    config_maps = {one["metadata"]["name"] for one in of_kind(resources, "ConfigMap")}
    accounts = {one["metadata"]["name"] for one in of_kind(resources, "ServiceAccount")}
    services = {one["metadata"]["name"]: {port["name"] for port in one["spec"]["ports"]} for one in of_kind(resources, "Service")}
    for resource, template in _pods(resources):
        if template["spec"].get("serviceAccountName") not in accounts:
            yield f"{title(resource)}: there is no ServiceAccount {template['spec'].get('serviceAccountName')}"
        for path, value in walk(template):
            if path.endswith(("configMapRef", ".configMap")) and value["name"] not in config_maps:
                yield f"{title(resource)}: there is no ConfigMap {value['name']}"
    for ingress in of_kind(resources, "Ingress"):
        for path, value in walk(ingress):
            if path.endswith("backend.service") and (value["port"]["name"] != "public" or "public" not in services.get(value["name"], ())):
                yield f"{title(ingress)}: {value['name']}:{value['port']['name']} is not the public listener of a service"
    for settings in of_kind(resources, "ConfigMap"):
        for name, value in settings.get("data", {}).items():
            if name.startswith("WAYBILL_PEERS__") and value.removeprefix("http://").partition(":")[0] not in services:
                yield f"{title(settings)}: {name} names no Service"
    for resource in resources:
        if resource["kind"] != "Namespace" and resource["metadata"].get("namespace") != "waybill":
            yield f"{title(resource)} is not in the namespace waybill"
        if resource["metadata"].get("labels", {}).get("rollout-step") not in ("platform", "migration", "service"):
            yield f"{title(resource)} belongs to no step of roll-out.sh"


def restored_clusters_archive_elsewhere(resources):
    """A cluster that is restored from an archive writes to another: two logs in one archive make both useless."""
    stores = {one["metadata"]["name"] for one in of_kind(resources, "ObjectStore")}
    for cluster in of_kind(resources, "Cluster"):
        name, spec = cluster["metadata"]["name"], cluster["spec"]
        recovery = spec["bootstrap"].get("recovery")
        if ("initdb" in spec["bootstrap"]) == (recovery is not None):
            yield f"{title(cluster)}: bootstrap needs either initdb or recovery"
        if recovery is None:
            continue
        source = {one["name"]: one["plugin"]["parameters"] for one in spec.get("externalClusters", [])}.get(recovery["source"])
        if source is None:
            yield f"{title(cluster)}: there is no external cluster {recovery['source']}"
            continue
        for own in (plugin["parameters"] for plugin in spec.get("plugins", [])):
            if {own["barmanObjectName"], source["barmanObjectName"]} - stores:
                yield f"{title(cluster)}: there is no such ObjectStore"
            if (own["barmanObjectName"], own.get("serverName", name)) == (source["barmanObjectName"], source.get("serverName", recovery["source"])):
                yield f"{title(cluster)}: it writes to the archive from which it is restored"
        target = recovery.get("recoveryTarget", {}).get("targetTime", "Z")
        if not re.search(r"(Z|[+-]\d\d(:?\d\d)?)$", target):
            yield f"{title(cluster)}: targetTime {target} has no time zone"


def connections_fit(resources):
    """PostgreSQL has a connection for every pool of every instance that the autoscalers and a roll-out can start."""
    instances = sum(one["spec"]["maxReplicas"] + 1 for one in of_kind(resources, "HorizontalPodAutoscaler"))
    for cluster in of_kind(resources, "Cluster"):
        allowed = int(cluster["spec"]["postgresql"]["parameters"].get("max_connections", 100))
        if instances * POOL_CONNECTIONS + SPARE_CONNECTIONS > allowed:
            yield f"{title(cluster)}: {instances} instances with {POOL_CONNECTIONS} connections each need more than {allowed}"


def ingresses_have_certificates(resources):
    for ingress in of_kind(resources, "Ingress"):
        covered = {host for entry in ingress["spec"].get("tls", []) for host in entry["hosts"]}
        for host in sorted({rule["host"] for rule in ingress["spec"]["rules"]} - covered):
            yield f"{title(ingress)}: {host} has no certificate"


def data_is_replicated(resources):
    for cluster in of_kind(resources, "Cluster"):
        if cluster["spec"]["instances"] < 3 or cluster["spec"]["postgresql"].get("synchronous", {}).get("number", 0) < 1:
            yield f"{title(cluster)}: commits are not replicated synchronously"
        if not any(plugin.get("isWALArchiver") for plugin in cluster["spec"].get("plugins", [])):
            yield f"{title(cluster)}: the WAL is not archived"
    if not of_kind(resources, "ScheduledBackup"):
        yield "there is no ScheduledBackup"
    for cluster in of_kind(resources, "RabbitmqCluster"):
        if cluster["spec"]["replicas"] < 3 or cluster["spec"]["replicas"] % 2 == 0:
            yield f"{title(cluster)}: quorum queues need three or five replicas"


OF_ALL = [
    memory_alert_comes_before_the_limit, probes_call_the_health_endpoints, shutdown_has_time_to_drain, secrets_come_from_secrets,
    secrets_are_made, services_are_complete, the_network_is_closed, calls_are_allowed_on_both_sides, references_resolve,
    restored_clusters_archive_elsewhere, connections_fit,
]
# overlays/local is for one node.
OF_CLUSTERS = [ingresses_have_certificates, data_is_replicated]


def unused_manifests(root: Path) -> list[str]:
    """The manifests that no kustomization names; a name without a file fails when kubectl renders."""
    named = set()
    for file in root.rglob("kustomization.yaml"):
        [spec] = documents(file.read_text())
        entries = [*spec.get("resources", []), *(patch["path"] for patch in spec.get("patches", []) if "path" in patch)]
        for generator in spec.get("configMapGenerator", []):
            entries += generator.get("envs", [])
        named |= {(file.parent / entry).resolve() for entry in entries}
    files = [file for folder in ("base", "overlays") for file in (root / folder).rglob("*.*") if file.suffix in (".yaml", ".env")]
    return [f"{file.relative_to(root)}: no kustomization names it" for file in sorted(files)
            if file.name != "kustomization.yaml" and file.resolve() not in named]
