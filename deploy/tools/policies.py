"""What Kubernetes would take and we would not. Each check takes all resources of an overlay and answers what is wrong."""

import re
from pathlib import Path

import yaml

from manifests import DEPLOY, KUBERNETES, Loader, containers, of_kind, pod_template, selects, title, walk

# A name that promises a secret; its value must come from one.
SECRET_NAME = re.compile(r"(PASSWORD|TOKEN|PEPPER|SECRET|CREDENTIAL|_KEY)S?$")
PASSWORD_IN_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@$]+:(?!\$\()[^/\s@]+@")


def _pods(resources):
    for resource in resources:
        template = pod_template(resource)
        if template is not None:
            yield resource, template


def _every_container(resources):
    for resource, template in _pods(resources):
        for container in containers(template):
            yield f"{title(resource)}: container {container['name']}", template["spec"], container


def nobody_is_root(resources):
    for place, pod, container in _every_container(resources):
        context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
        if context.get("runAsNonRoot") is not True:
            yield f"{place} may run as root: runAsNonRoot is not true"
        if not context.get("runAsUser"):
            yield f"{place} names no user other than root"
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{place} may gain rights: allowPrivilegeEscalation is not false"
        if context.get("capabilities", {}).get("drop") != ["ALL"] or context.get("capabilities", {}).get("add"):
            yield f"{place} keeps capabilities"
        if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{place} has no seccomp profile"
        if context.get("privileged"):
            yield f"{place} is privileged"
    for resource, template in _pods(resources):
        for field in ("hostNetwork", "hostPID", "hostIPC"):
            if template["spec"].get(field):
                yield f"{title(resource)}: {field}"
        for volume in template["spec"].get("volumes", []):
            if "hostPath" in volume:
                yield f"{title(resource)}: the volume {volume['name']} is its node's"


def root_file_systems_are_read_only(resources):
    for place, _, container in _every_container(resources):
        if container.get("securityContext", {}).get("readOnlyRootFilesystem") is not True:
            yield f"{place} can write to its image"


def limits_are_set(resources):
    for place, _, container in _every_container(resources):
        given = container.get("resources", {})
        if "memory" not in given.get("limits", {}):
            yield f"{place} has no limit of memory"
        for what in ("cpu", "memory"):
            if what not in given.get("requests", {}):
                yield f"{place} requests no {what}"
    for resource in of_kind(resources, "Cluster", "RabbitmqCluster"):
        given = resource["spec"].get("resources", {})
        if "memory" not in given.get("limits", {}) or not {"cpu", "memory"} <= given.get("requests", {}).keys():
            yield f"{title(resource)}: resources are not set"


def memory_is_told_before_it_ends(resources):
    """The alert comes before the limit of any service does, with a quarter to spare."""
    text = (DEPLOY / "alerts/platform.yaml").read_text()
    told = int(re.search(r"process_resident_memory_bytes > (\d+) \* 1024 \* 1024$", text, re.MULTILINE).group(1))
    for deployment in of_kind(resources, "Deployment"):
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            limit = container.get("resources", {}).get("limits", {}).get("memory", "")
            if limit.endswith("Mi") and told * 4 > int(limit.removesuffix("Mi")) * 3:
                yield f"{title(deployment)} is ended at {limit}, and WaybillMemoryHigh comes at {told}Mi"


def probes_are_set(resources):
    for deployment in of_kind(resources, "Deployment"):
        for container in pod_template(deployment)["spec"]["containers"]:
            for probe, path in (("startupProbe", "/health/live"), ("livenessProbe", "/health/live"), ("readinessProbe", "/health/ready")):
                if container.get(probe, {}).get("httpGet", {}).get("path") != path:
                    yield f"{title(deployment)}: container {container['name']}: {probe} does not ask {path}"
                port = container.get(probe, {}).get("httpGet", {}).get("port")
                if port not in [known["name"] for known in container.get("ports", [])]:
                    yield f"{title(deployment)}: container {container['name']}: {probe} asks a port that is not there"


def stops_leave_time_to_drain(resources):
    drain_seconds = 25
    for deployment in of_kind(resources, "Deployment"):
        pod = pod_template(deployment)["spec"]
        for container in pod["containers"]:
            pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            if pause < 1:
                yield f"{title(deployment)}: container {container['name']} stops while it is still called: no preStop"
            if pause + drain_seconds > pod.get("terminationGracePeriodSeconds", 30):
                yield f"{title(deployment)}: container {container['name']} is killed before it has drained"


def images_are_pinned(resources):
    images = [(place, container.get("image", "")) for place, _, container in _every_container(resources)]
    images += [(title(one), one["spec"].get("imageName", "")) for one in of_kind(resources, "Cluster")]
    images += [(title(one), one["spec"].get("image", "")) for one in of_kind(resources, "RabbitmqCluster")]
    for place, image in images:
        if "@sha256:" in image:
            continue
        tag = image.rpartition("/")[2].partition(":")[2]
        if not tag or tag in ("latest", "stable", "main", "edge", "nonroot"):
            yield f"{place}: the image {image!r} names no version"


def secrets_are_referred_to(resources):
    for secret in of_kind(resources, "Secret"):
        yield f"{title(secret)}: secrets are made in the cluster, not kept here"
    for place, _, container in _every_container(resources):
        for variable in container.get("env", []):
            if SECRET_NAME.search(variable["name"]) and "value" in variable:
                yield f"{place}: {variable['name']} has its value in the manifest"
    for settings in of_kind(resources, "ConfigMap"):
        for name in settings.get("data", {}):
            if name.startswith("WAYBILL_") and SECRET_NAME.search(name):
                yield f"{title(settings)}: {name} is a secret"
    for resource in resources:
        for path, value in walk(resource):
            if isinstance(value, str) and (PASSWORD_IN_URL.search(value) or "PRIVATE KEY-----" in value):
                yield f"{title(resource)}: {path} holds a password or key"


def _made_by_the_script() -> set:
    """`secret key` as secrets.sh lists them."""
    script = (KUBERNETES / "secrets.sh").read_text()
    table = re.search(r"<<'TABLE'\n(.*?)\nTABLE\n", script, re.S).group(1)
    rows = (line.split() for line in table.splitlines() if line.strip() and not line.startswith("#"))
    return {(row[0], row[1]) for row in rows}


def secrets_are_made(resources):
    """Whatever is referred to, secrets.sh makes."""
    made = _made_by_the_script()
    names = {name for name, _ in made}
    for resource in resources:
        for path, value in walk(resource):
            if isinstance(value, dict) and path.rpartition(".")[2] in ("secretKeyRef", "accessKeyId", "secretAccessKey"):
                if (value["name"], value["key"]) not in made:
                    yield f"{title(resource)}: secrets.sh makes no {value['name']} with {value['key']}"
            if isinstance(value, dict) and path.rpartition(".")[2] in ("passwordSecret", "importCredentialsSecret"):
                if value["name"] not in names:
                    yield f"{title(resource)}: secrets.sh makes no {value['name']}"


def services_are_complete(resources):
    """Each Deployment has what belongs to one, and that is its own."""
    for deployment in of_kind(resources, "Deployment"):
        name, template = deployment["metadata"]["name"], pod_template(deployment)
        labels = template["metadata"]["labels"]

        def having(kind, test):
            return any(test(one) for one in of_kind(resources, kind))

        if not having("PodDisruptionBudget", lambda one: selects(one["spec"]["selector"], labels)):
            yield f"{title(deployment)} has no PodDisruptionBudget"
        if not having("HorizontalPodAutoscaler", lambda one: one["spec"]["scaleTargetRef"]["name"] == name):
            yield f"{title(deployment)} has no HorizontalPodAutoscaler"
        if "replicas" in deployment["spec"]:
            yield f"{title(deployment)} names replicas, which are its autoscaler's"
        account = template["spec"].get("serviceAccountName")
        if account != name or not having("ServiceAccount", lambda one: one["metadata"]["name"] == account):
            yield f"{title(deployment)} has no ServiceAccount of its own"
        if not having("Service", lambda one: selects({"matchLabels": one["spec"]["selector"]}, labels)):
            yield f"{title(deployment)} has no Service"
        if not having("NetworkPolicy", lambda one: one["spec"]["podSelector"] and selects(one["spec"]["podSelector"], labels)
                      and set(one["spec"]["policyTypes"]) == {"Ingress", "Egress"}):
            yield f"{title(deployment)} has no NetworkPolicy of its own"
        spread = {one["topologyKey"] for one in template["spec"].get("topologySpreadConstraints", [])}
        if not {"kubernetes.io/hostname", "topology.kubernetes.io/zone"} <= spread:
            yield f"{title(deployment)} may end up on one node or in one zone"
        if "schema" not in [one["name"] for one in template["spec"].get("initContainers", [])]:
            yield f"{title(deployment)} does not wait for its migration"
        if not having("Job", lambda one: one["metadata"]["name"] == f"migrate-{name}"):
            yield f"{title(deployment)} has no migration"
    for _, template in _pods(resources):
        if template["spec"].get("automountServiceAccountToken") is not False:
            yield f"{template['metadata']['labels'].get('app.kubernetes.io/name')} is given a token of Kubernetes"


def the_network_is_closed(resources):
    policies = of_kind(resources, "NetworkPolicy")
    if not any(one["spec"]["podSelector"] == {} and set(one["spec"]["policyTypes"]) == {"Ingress", "Egress"}
               and not one["spec"].get("ingress") and not one["spec"].get("egress") for one in policies):
        yield "no NetworkPolicy denies what none allows"
    for policy in policies:
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for rule in policy["spec"].get(direction, []):
                if not rule or (not rule.get(peers) and not rule.get("ports")):
                    yield f"{title(policy)}: a rule for {direction} allows everything"
                for peer in rule.get(peers, []):
                    block = peer.get("ipBlock", {})
                    if block.get("cidr") == "0.0.0.0/0" and not {"10.0.0.0/8", "169.254.0.0/16"} <= set(block.get("except", [])):
                        yield f"{title(policy)}: the way to the world leads to private addresses"


def arrows_are_drawn_on_both_sides(resources):
    """Who may call must be let in, and who is let in must be able to call."""
    pods = {template["metadata"]["labels"]["app.kubernetes.io/name"]: template["metadata"]["labels"]
            for resource, template in _pods(resources) if resource["kind"] == "Deployment"}
    arrows = {"ingress": set(), "egress": set()}
    for policy in of_kind(resources, "NetworkPolicy"):
        if policy["spec"]["podSelector"] == {}:
            continue
        own = [name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)]
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for rule in policy["spec"].get(direction, []):
                others = [name for name, labels in pods.items() for peer in rule.get(peers, [])
                          if "podSelector" in peer and selects(peer["podSelector"], labels)]
                ports = [port["port"] for port in rule.get("ports", [])]
                for here in own:
                    for there in others:
                        pair = (there, here) if direction == "ingress" else (here, there)
                        arrows[direction] |= {(*pair, port) for port in ports}
    for one, other, where in (("ingress", "egress", "may not leave"), ("egress", "ingress", "is not let in")):
        for caller, called, port in sorted(arrows[one] - arrows[other]):
            yield f"the call from {caller} to {called}:{port} {where}"
    peers = set()
    for settings in of_kind(resources, "ConfigMap"):
        caller = re.fullmatch(r"settings-(.+)-[a-z0-9]+", settings["metadata"]["name"])
        for name in settings.get("data", {}):
            if caller and name.startswith("WAYBILL_PEERS__"):
                peers.add((caller.group(1), name.removeprefix("WAYBILL_PEERS__").lower().replace("_", "-"), 8081))
    for caller, called, port in sorted(peers ^ arrows["egress"]):
        yield f"the call from {caller} to {called}:{port} is in its settings or in the network's policies, and not in both"


def references_lead_somewhere(resources):
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
            if path.endswith("backend.service") and value["port"]["name"] not in services.get(value["name"], ()):
                yield f"{title(ingress)}: there is no {value['name']}:{value['port']['name']}"
            if path.endswith("backend.service") and value["port"]["name"] != "public":
                yield f"{title(ingress)}: only public listeners may be reached from outside"
    for settings in of_kind(resources, "ConfigMap"):
        for name, value in settings.get("data", {}).items():
            if name.startswith("WAYBILL_PEERS__") and value.removeprefix("http://").partition(":")[0] not in services:
                yield f"{title(settings)}: {name} leads nowhere"
    namespaced = [one for one in resources if one["kind"] not in ("Namespace",)]
    for resource in namespaced:
        if resource["metadata"].get("namespace") != "waybill":
            yield f"{title(resource)} is in no namespace of ours"
        if resource["metadata"].get("labels", {}).get("rollout-step") not in ("platform", "migration", "service"):
            yield f"{title(resource)} belongs to no step of roll-out.sh"


def ingresses_have_certificates(resources, overlay):
    if overlay == "local":
        return
    for ingress in of_kind(resources, "Ingress"):
        covered = {host for entry in ingress["spec"].get("tls", []) for host in entry["hosts"]}
        for rule in ingress["spec"]["rules"]:
            if rule["host"] not in covered:
                yield f"{title(ingress)}: {rule['host']} has no certificate"


def data_is_kept_twice(resources, overlay):
    if overlay == "local":
        return
    for cluster in of_kind(resources, "Cluster"):
        if cluster["spec"]["instances"] < 3 or cluster["spec"]["postgresql"].get("synchronous", {}).get("number", 0) < 1:
            yield f"{title(cluster)}: commits are on one disk alone"
        if not any(plugin.get("isWALArchiver") for plugin in cluster["spec"].get("plugins", [])):
            yield f"{title(cluster)}: there are no backups"
    if not of_kind(resources, "ScheduledBackup"):
        yield "no backup is scheduled"
    for cluster in of_kind(resources, "RabbitmqCluster"):
        if cluster["spec"]["replicas"] < 3 or cluster["spec"]["replicas"] % 2 == 0:
            yield f"{title(cluster)}: its queues have no quorum without a node"


def restores_write_elsewhere(resources):
    """A cluster that is made from an archive has another one of its own: the two logs would be mixed up, and both be lost."""
    for cluster in of_kind(resources, "Cluster"):
        name, spec = cluster["metadata"]["name"], cluster["spec"]
        recovery = spec["bootstrap"].get("recovery")
        if ("initdb" in spec["bootstrap"]) == (recovery is not None):
            yield f"{title(cluster)}: it begins empty or from a backup, one of the two"
        if recovery is None:
            continue
        sources = {one["name"]: one["plugin"]["parameters"] for one in spec.get("externalClusters", [])}
        source = sources.get(recovery["source"])
        if source is None:
            yield f"{title(cluster)}: there is no archive {recovery['source']}"
            continue
        stores = {one["metadata"]["name"] for one in of_kind(resources, "ObjectStore")}
        for plugin in spec.get("plugins", []):
            own = plugin["parameters"]
            if {own["barmanObjectName"], source["barmanObjectName"]} - stores:
                yield f"{title(cluster)}: there is no such ObjectStore"
            if (own["barmanObjectName"], own.get("serverName", name)) == (source["barmanObjectName"], source.get("serverName", recovery["source"])):
                yield f"{title(cluster)}: it writes to the archive that it is restored from"
        moment = recovery.get("recoveryTarget", {}).get("targetTime", "Z")
        if not re.search(r"(Z|[+-]\d\d(:?\d\d)?)$", moment):
            yield f"{title(cluster)}: the moment {moment} has no zone"


def known_variables() -> set:
    """Those that the documents explain; `…__NAME` there stands for the section of the one before."""
    files = [DEPLOY / "README.md", *sorted((DEPLOY.parent / "proto-docs").glob("*.md"))]
    text = "\n".join(file.read_text() for file in files)
    known, section = set(), ""
    for name in re.findall(r"`(WAYBILL_[A-Z_]+|…__[A-Z_]+)`", text):
        if name.startswith("WAYBILL_"):
            section = name.rpartition("__")[0]
        else:
            name = section + name.removeprefix("…")
        known.add(name)
    return known


def variables_are_known(resources):
    known = known_variables()
    set_here = {(title(one), name) for one in of_kind(resources, "ConfigMap") for name in one.get("data", {})}
    set_here |= {(place, variable["name"]) for place, _, container in _every_container(resources) for variable in container.get("env", [])}
    for place, name in sorted(set_here):
        if name.startswith("WAYBILL_") and name not in known:
            yield f"{place}: no document knows {name}"


def everybody_is_in_the_quota(resources):
    """What the autoscalers allow, and a rollout adds, fits into the connections that PostgreSQL has."""
    pool = 8
    most = sum(one["spec"]["maxReplicas"] + 1 for one in of_kind(resources, "HorizontalPodAutoscaler"))
    for cluster in of_kind(resources, "Cluster"):
        allowed = int(cluster["spec"]["postgresql"]["parameters"].get("max_connections", 100))
        # Some are the operator's and the migrations'.
        if most * pool + 20 > allowed:
            yield f"{title(cluster)}: {most} instances with {pool} connections each are more than {allowed}"


OF_RESOURCES = [
    nobody_is_root, root_file_systems_are_read_only, limits_are_set, memory_is_told_before_it_ends, probes_are_set, stops_leave_time_to_drain, images_are_pinned,
    secrets_are_referred_to, secrets_are_made, services_are_complete, the_network_is_closed, arrows_are_drawn_on_both_sides,
    references_lead_somewhere, restores_write_elsewhere, variables_are_known, everybody_is_in_the_quota,
]
OF_OVERLAYS = [ingresses_have_certificates, data_is_kept_twice]


def faults(resources: list, overlay: str) -> list[str]:
    found = [fault for check in OF_RESOURCES for fault in check(resources)]
    return found + [fault for check in OF_OVERLAYS for fault in check(resources, overlay)]


# --- Files, rendered or not ------------------------------------------------------------------------------------------


def kustomizations_lead_somewhere(root: Path) -> list[str]:
    """Every file that a kustomization names is there, every manifest is named by one, and patches of one resource have it."""
    found, named = [], set()
    for file in sorted(root.rglob("kustomization.yaml")):
        place, spec = file.relative_to(root), yaml.load(file.read_text(), Loader)
        entries = [*spec.get("resources", []), *spec.get("components", [])]
        entries += [patch["path"] for patch in spec.get("patches", []) if "path" in patch]
        for generator in spec.get("configMapGenerator", []):
            entries += [entry.rpartition("=")[2] for entry in generator.get("files", [])] + generator.get("envs", [])
        for entry in entries:
            target = (file.parent / entry).resolve()
            named.add(target)
            if not (target / "kustomization.yaml" if target.is_dir() else target).is_file():
                found.append(f"{place}: {entry} is not there")
    for folder in ("kubernetes/base", "kubernetes/overlays"):
        for file in sorted((root / folder).rglob("*.*")):
            if file.name != "kustomization.yaml" and file.suffix in (".yaml", ".env") and file.resolve() not in named:
                found.append(f"{file.relative_to(root)}: no kustomization names it")
    return found
