"""`make test-cluster`: installs the chart on a cluster of three nodes, and does to it what happens to clusters, under live orders.

    run.py <folder of the cluster's programs> <state folder of the cluster> [change] [rotate] [harm] [weakened] [operators] [trial]

The cluster runs, and has the images. Exits with 1 if a call failed that must not, an order was lost or charged twice, or a webhook was.
Without names, it does all but `weakened`, which shows that it can fail: one pod of each service, and none waits before it stops; and but
`operators`, with cert-manager and KEDA. `trial` alone installs the trial set instead, in a namespace of its own.
"""

import base64
import contextlib
import json
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import operators
from traffic import Report, Traffic
from watch import Watch

HERE = Path(__file__).resolve().parent
CHART = HERE.parents[1] / "deploy/chart"
SERVICES = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]
NAMESPACE = "delivery"
ROLL_OUT_SECONDS = 420
CUT_OFF_SECONDS = 75


class Cluster:
    def __init__(self, programs: Path, state: Path):
        self.programs, self.state, self.values, self.namespace = programs, state, {}, NAMESPACE
        self.bases = [HERE / "values.yaml"]
        self.config = state / "pki/admin.kubeconfig"

    def run(self, program: str, *arguments, given: str | None = None, check=True) -> str:
        done = subprocess.run([self.programs / program, "--kubeconfig", self.config, *arguments], input=given, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"{program} {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def kubectl(self, *arguments, **options) -> str:
        return self.run("kubectl", *arguments, **options)

    def own(self, *arguments, **options) -> str:
        return self.kubectl("--namespace", self.namespace, *arguments, **options)

    def helm(self, *arguments, **options) -> str:
        return self.run("helm", "--namespace", self.namespace, *arguments, **options)

    def files(self, folder: Path) -> list:
        (folder / "own.json").write_text(json.dumps(self.values))
        return [one for file in (*self.bases, folder / "own.json") for one in ("--values", file)]

    def create_secrets(self):
        """Those that are named and missing, as the guide says."""
        with tempfile.TemporaryDirectory() as folder:
            rendered = self.helm("template", "waybill", CHART, *self.files(Path(folder)), "--set", "generateSecrets=true")
        self.kubectl("create", "--filename", "-", given=rendered, check=False)

    def apply(self, **values):
        self.values = {**self.values, **values}
        with tempfile.TemporaryDirectory() as folder:
            self.helm("upgrade", "--install", "waybill", CHART, *self.files(Path(folder)), "--wait", "--timeout", f"{ROLL_OUT_SECONDS}s")
        self.rolled_out()

    def rolled_out(self):
        for service in SERVICES:
            self.own("rollout", "status", f"deployment/{service}", "--timeout", f"{ROLL_OUT_SECONDS}s")

    def secret(self, name: str, key: str) -> str:
        return base64.b64decode(self.own("get", "secret", name, "--output", f"jsonpath={{.data.{key}}}")).decode()

    def address(self, service: str, port: int) -> str:
        return f"http://{self.own('get', 'service', service, '--output', 'jsonpath={.spec.clusterIP}')}:{port}"

    def in_server(self, name: str, command: str, given: str | None = None) -> str:
        return self.kubectl("--namespace", "servers", "exec", "--stdin", f"{name}-0", "--", "sh", "-c", command, given=given)


def host_of(server: str) -> str:
    return f"{server}.servers.svc.cluster.local"


def certificate(cluster: Cluster, secret: str, host: str, namespace="servers"):
    """One of the test's authority, as cert-manager would renew it."""
    pki = cluster.state / "servers"
    pki.mkdir(exist_ok=True)

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=pki, check=True, capture_output=True)

    if not (pki / "ca.crt").exists():
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}", "-keyout", "tls.key", "-out", "tls.csr")
    (pki / "names").write_text(f"subjectAltName=DNS:{host}")
    openssl("x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "30", "-out", "tls.crt", "-extfile", "names")
    files = [f"--from-file={name}={pki / name}" for name in ("ca.crt", "tls.crt", "tls.key")]
    made = cluster.kubectl("--namespace", namespace, "create", "secret", "generic", secret, *files, "--dry-run=client", "--output", "yaml")
    cluster.kubectl("apply", "--filename", "-", given=made)


def install_servers(cluster: Cluster):
    cluster.kubectl("create", "namespace", "servers")
    for server in ("postgres", "rabbitmq"):
        certificate(cluster, f"{server}-tls", host_of(server))
    cluster.kubectl("apply", "--filename", HERE / "servers.yaml")
    authority = cluster.state / "servers/ca.crt"
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")
    cluster.own("create", "secret", "generic", "authority", f"--from-file=ca.crt={authority}")
    # Nothing is paid here.
    cluster.own("create", "secret", "generic", "razorpay", *(f"--from-literal={key}={'x' * 20}" for key in ("key-id", "key-secret", "webhook-secret")))
    cluster.create_secrets()
    for server in ("postgres", "rabbitmq"):
        cluster.kubectl("--namespace", "servers", "rollout", "status", f"statefulset/{server}", "--timeout", "120s")


def prepare_postgres(cluster: Cluster):
    """Databases and roles, by the script that operators use."""
    script = (HERE.parents[1] / "deploy/compose/databases.sh").read_text()
    passwords = []
    for service in SERVICES:
        for name in [f"postgres-{service}"] + ([f"postgres-{service}-owner"] if service != "webhook-dispatcher" else []):
            passwords.append(f"{name}={cluster.secret(name, 'password')}")
    prepare = "mkdir -p /tmp/secrets && while IFS='=' read -r name value; do printf %s \"$value\" >\"/tmp/secrets/$name\"; done"
    cluster.in_server("postgres", prepare, given="\n".join(passwords) + "\n")
    cluster.in_server("postgres", "PASSWORDS=/tmp/secrets PGHOST=/tmp PGUSER=postgres sh -s", given=script)


def prepare_rabbitmq(cluster: Cluster, version=""):
    """Users and definitions, by the commands of the guide."""
    cluster.in_server("rabbitmq", "rabbitmqctl await_startup --timeout 120")
    for user in SERVICES:
        password = cluster.secret(f"rabbitmq-{user}{version}", "password")
        command = "change_password" if version else "add_user"
        cluster.in_server("rabbitmq", f"rabbitmqctl {command} {user}", given=password)
    if not version:
        definitions = (HERE.parents[1] / "deploy/compose/rabbitmq-definitions.json").read_text()
        cluster.in_server("rabbitmq", """sed '/"users"/,/^  ],/d' | rabbitmqctl import_definitions""", given=definitions)


def next_names(cluster: Cluster, *names) -> dict:
    """A new name for each of these Secrets, and the new Secrets."""
    names = {name: f"{name}-2" for name in names}
    cluster.values["secrets"] = {**cluster.values.get("secrets", {}), **names}
    cluster.create_secrets()
    return names


def replace_in_steps(cluster: Cluster, traffic: Traffic):
    """What two parties know, or what encrypts stored data: the former value stays valid until nobody needs it."""
    fleet, operator, new = traffic.fleet_token, traffic.operator_token, secrets.token_hex(24)
    mfa, former, key = cluster.secret("portal-mfa", "key"), cluster.secret("webhook-dispatcher", "key"), base64.b64encode(secrets.token_bytes(32)).decode()
    steps = [
        {"order-api": {"fleet-token": new, "previous-fleet-token": fleet}, "webhook-dispatcher": {"key": former, "previous-keys": key},
         "portal-api": {"operator-token": new, "previous-operator-token": operator}, "portal-mfa": {"key": key, "previous-key": mfa}},
        {"order-api": {"fleet-token": new}, "portal-api": {"operator-token": new}, "webhook-dispatcher": {"key": key, "previous-keys": former}},
        {"webhook-dispatcher": {"key": key}}]
    for number, step in enumerate(steps, 2):
        for name, values in step.items():
            cluster.own("create", "secret", "generic", f"{name}-{number}", *(f"--from-literal={one}={value}" for one, value in values.items()))
        cluster.values["secrets"] = {**cluster.values.get("secrets", {}), **{name: f"{name}-{number}" for name in step}}
        cluster.apply()
        if number == 2:
            traffic.fleet_token = traffic.operator_token = new
        if number == 3:
            cluster.own("exec", "deployment/webhook-dispatcher", "--container=service", "--", "/usr/bin/webhook-dispatcher", "rewrap")


def turn_tls_on(cluster: Cluster):
    """With certificates of the test's authority, as a company's own would issue them."""
    def certify():
        for service in SERVICES:
            certificate(cluster, f"internal-tls-{service}", service, NAMESPACE)

    certify()
    for mode in ("offered", "used", "required"):
        cluster.apply(internalTls={"mode": mode, "by": "secrets", "caSecret": {"name": "authority"}})
    certify()
    # New callers make new connections.
    deadline = time.monotonic() + 180
    while "renewed certificate served" not in cluster.own("logs", "deployment/wallet", "--container=service", "--since=5m"):
        if time.monotonic() > deadline:
            raise SystemExit("wallet does not serve its renewed certificate")
        cluster.own("rollout", "restart", "deployment/order-api")
        cluster.rolled_out()


def rotate(cluster: Cluster, traffic: Traffic, report: Report):
    callers = ["order-api", "portal-api", "wallet"]
    with traffic.during("internal tokens replaced (three applies)", report):
        for order in ((1, 2), (2, 1), (2,)):
            cluster.values["internalTokens"] = {one: [f"internal-{one}" + ("-2" if number == 2 else "") for number in order] for one in callers}
            cluster.create_secrets()
            cluster.apply()
    report.none_failed()
    with traffic.during("users and passwords of PostgreSQL replaced", report):
        users = {one: f"{one.replace('-', '_')}_service_2" for one in SERVICES if one != "webhook-dispatcher"}
        cluster.values["postgres"] = {"users": users}
        next_names(cluster, *(f"postgres-{one}" for one in SERVICES), *(f"postgres-{one}-owner" for one in users))
        sql = []
        for one, user in users.items():
            role = one.replace("-", "_")
            sql.append(f"CREATE ROLE {user} LOGIN PASSWORD '{cluster.secret(f'postgres-{one}-2', 'password')}' IN ROLE {role}_service;")
            sql.append(f"ALTER ROLE {user} SET lc_messages TO 'C';")
            sql.append(f"ALTER ROLE {role}_owner PASSWORD '{cluster.secret(f'postgres-{one}-owner-2', 'password')}';")
        sql.append(f"ALTER ROLE webhook_dispatcher PASSWORD '{cluster.secret('postgres-webhook-dispatcher-2', 'password')}';")
        cluster.in_server("postgres", "psql --quiet --set=ON_ERROR_STOP=1 --host=/tmp --username=postgres", given="\n".join(sql))
        cluster.apply()
        former = "".join(f"ALTER ROLE {one.replace('-', '_')}_service PASSWORD NULL;" for one in users)
        cluster.in_server("postgres", "psql --quiet --set=ON_ERROR_STOP=1 --host=/tmp --username=postgres", given=former)
    report.none_failed()
    with traffic.during("passwords of RabbitMQ replaced", report):
        next_names(cluster, *(f"rabbitmq-{one}" for one in SERVICES))
        prepare_rabbitmq(cluster, "-2")
        cluster.apply()
    report.none_failed()
    with traffic.during("fleet's and operator's token, keys of signing secrets and of two-factor authentication replaced (three applies)", report):
        replace_in_steps(cluster, traffic)
    report.none_failed()
    with traffic.during("calls between the services over TLS (three applies), their certificates renewed", report):
        turn_tls_on(cluster)
    report.none_failed()
    with traffic.during("certificates of the servers renewed", report):
        for server, reload in (("postgres", "pg_ctl reload --pgdata=/data/pg"), ("rabbitmq", "rabbitmqctl eval 'ssl:clear_pem_cache().'")):
            before = cluster.in_server(server, "sha256sum /tls/tls.crt")
            certificate(cluster, f"{server}-tls", host_of(server))
            while cluster.in_server(server, "sha256sum /tls/tls.crt") == before:
                time.sleep(1)
            cluster.in_server(server, reload)
        cluster.own("rollout", "restart", *(f"deployment/{one}" for one in SERVICES))
        cluster.rolled_out()
    report.none_failed()


def change(cluster: Cluster, traffic: Traffic, report: Report):
    with traffic.during("nothing", report):
        time.sleep(20)
    report.none_failed()
    with traffic.during("upgrade", report):
        cluster.apply(images={"tag": "test-2"})
    report.none_failed()
    with traffic.during("roll-back", report):
        cluster.helm("rollback", "waybill", "--wait", "--timeout", f"{ROLL_OUT_SECONDS}s")
        cluster.values["images"] = {"tag": "test"}
        cluster.rolled_out()
    report.none_failed()
    with traffic.during("all Deployments restarted", report):
        cluster.own("rollout", "restart", *(f"deployment/{one}" for one in SERVICES))
        cluster.rolled_out()
    report.none_failed()
    with traffic.during("a node drained", report):
        cluster.kubectl("drain", "node-2", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", f"{ROLL_OUT_SECONDS}s")
        cluster.rolled_out()
    cluster.kubectl("uncordon", "node-2")
    report.none_failed()


def kill_pods(cluster: Cluster, traffic: Traffic, report: Report):
    for service in SERVICES:
        with traffic.during(f"a pod of {service} killed", report):
            pod = cluster.own("get", "pod", "--selector", f"app.kubernetes.io/name={service}", "--output", "jsonpath={.items[0].metadata.name}")
            cluster.own("delete", "pod", pod, "--grace-period=0", "--force")
            cluster.rolled_out()
        report.none_failed()


def harm(cluster: Cluster, traffic: Traffic, report: Report):
    kill_pods(cluster, traffic, report)
    for server, process in (("postgres", "pkill -KILL -o -x postgres || pkill -KILL postgres"), ("rabbitmq", "pkill -KILL beam.smp")):
        with traffic.during(f"{server} killed", report):
            with contextlib.suppress(SystemExit):
                cluster.in_server(server, process)
            time.sleep(2)
            cluster.kubectl("--namespace", "servers", "rollout", "status", f"statefulset/{server}", "--timeout", "120s")
            time.sleep(10)
        if server == "rabbitmq":
            report.none_failed()
    with traffic.during(f"a node cut off for {CUT_OFF_SECONDS} s", report):
        subprocess.run(["ip", "link", "set", "wbn3", "down"], check=True)
        time.sleep(CUT_OFF_SECONDS)
        subprocess.run(["ip", "link", "set", "wbn3", "up"], check=True)
        cluster.kubectl("wait", "--for=condition=Ready", "node/node-3", "--timeout", "180s")
        cluster.rolled_out()


def weakened(cluster: Cluster, traffic: Traffic, report: Report):
    with traffic.during("weakened: all Deployments restarted", report):
        for service in SERVICES:
            cluster.own("patch", "deployment", service, "--type=json", "--patch",
                        '[{"op": "remove", "path": "/spec/template/spec/containers/0/lifecycle"}]')
        cluster.rolled_out()
        cluster.own("rollout", "restart", *(f"deployment/{one}" for one in SERVICES))
        cluster.rolled_out()
    report.none_failed()
    kill_pods(cluster, traffic, report)


def trial(cluster: Cluster) -> int:
    """The trial set as the guide installs it, with Debian's servers and no volumes."""
    began, report = time.monotonic(), Report()
    cluster.namespace, cluster.bases = "trial", [CHART / "examples/trial.yaml"]
    servers = {one: {"image": f"localhost/{one}", "storage": {"size": ""}} for one in ("postgres", "rabbitmq")}
    here = {"WAYBILL_WEBHOOKS__ALLOW_HTTP": True, "WAYBILL_WEBHOOKS__ALLOWED_RANGES": "10.250.0.0/24"}
    policies = {"ingressCidrs": ["10.250.0.2/32"], "egressCidrs": {"webhook-dispatcher": ["10.250.0.0/24"]}}
    cluster.values = {**servers, "images": {"registry": "docker.io/waybill", "tag": "test"}, "hosts": {"console": ""},
                      "services": {"webhook-dispatcher": {"settings": here}}, "networkPolicies": policies}
    cluster.kubectl("create", "namespace", cluster.namespace)
    cluster.kubectl("label", "namespace", cluster.namespace, "pod-security.kubernetes.io/enforce=restricted")
    cluster.create_secrets()
    cluster.apply()
    print(f"installed after {time.monotonic() - began:.0f} s", flush=True)
    traffic = traffic_of(cluster)
    traffic.go_live()
    traffic.start()
    try:
        with traffic.during("the trial set", report):
            time.sleep(20)
        report.none_failed()
    finally:
        report.faults += traffic.end()
    return report.end(f"{len(traffic.accepted)} orders, {time.monotonic() - began:.0f} s")


def traffic_of(cluster: Cluster) -> Traffic:
    # Pods reach this machine there.
    return Traffic("10.250.0.2", cluster.address("order-api", 8080), cluster.address("portal-api", 8080),
                   cluster.secret("order-api", "fleet-token"), cluster.secret("portal-api", "operator-token"))


def used(cluster: Cluster, watch: Watch, seconds: float):
    found = json.loads(cluster.own("get", "deployments", "--output", "json"))
    requests = {one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] for one in found["items"]}
    for service, (memory, cores) in sorted(watch.usage(seconds).items()):
        print(f"{service}: at most {memory:.0f} MiB and {cores:.0f} thousandths of a core in a pod; requests {requests[service]}")


def main() -> int:
    cluster = Cluster(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    steps = sys.argv[3:] or ["change", "rotate", "harm"]
    if "trial" in steps:
        return trial(cluster)
    began = time.monotonic()
    install_servers(cluster)
    prepare_postgres(cluster)
    prepare_rabbitmq(cluster)
    if "operators" in steps:
        cluster.bases.append(operators.EXAMPLES / "internal-tls.yaml")
    one_pod = {service: {"replicas": {"min": 1, "max": 1}} for service in SERVICES}
    cluster.apply(**({"services": one_pod} if "weakened" in steps else {}))
    print(f"installed after {time.monotonic() - began:.0f} s", flush=True)
    traffic = traffic_of(cluster)
    traffic.go_live()
    watch = Watch(cluster)
    report, watched = Report(watch.alerts), time.monotonic()
    traffic.start()
    try:
        for step in steps:
            if step == "operators":
                operators.certificates(cluster, traffic, report)
                operators.scaling(cluster, traffic, report, f"http://{watch.address}")
            else:
                {"change": change, "rotate": rotate, "harm": harm, "weakened": weakened}[step](cluster, traffic, report)
    finally:
        report.faults += traffic.end()
        used(cluster, watch, time.monotonic() - watched)
        watch.end()
    return report.end(f"{len(traffic.accepted)} orders, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
