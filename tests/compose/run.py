"""`make test-compose`: deploy/compose.yaml from an empty folder to an upgrade, a restore and the proxy, under live orders. run.sh starts it.

It runs the commands of the documents as they are written. Exits with 1 if an order was lost or charged twice, a webhook was missing or out of
order, or a call failed that must not.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cluster"))
from traffic import CREDIT_PAISE, CREDITS, FEE_PAISE, Report, Traffic, call  # noqa: E402

SERVICES = ["key-management", "order-api", "portal-api", "wallet", "webhook-dispatcher"]
MIGRATIONS = [f"migrate-{one}" for one in SERVICES]
SERVERS = ["postgres", "rabbitmq"]
PUBLISHED = {"order-api": {"127.0.0.1:8080"}, "portal-api": {"127.0.0.1:8090", "127.0.0.1:8091"}}
# This machine's address on its only network, and its names there. Caddy signs certificates for such names itself.
WORLD, API, PORTAL = "198.51.100.1", "api.waybill.localhost", "portal.waybill.localhost"
IMAGES = {"postgres": "postgres", "databases": "postgres", "rabbitmq": "rabbitmq", "proxy": "caddy"}
WEBHOOKS = {"ALLOW_HTTP": "true", "ALLOW_HTTP_IN_PRODUCTION": "true", "ALLOWED_RANGES": f"{WORLD}/32"}
PRODUCTION = {
    "WAYBILL_ENVIRONMENT": "production", "ORDER_API_HOST": API, "ORDER_API_URL": f"https://{API}", "PORTAL_HOST": PORTAL,
    "PORTAL_URL": f"https://{PORTAL}", "CONSOLE_URL": "https://console.waybill.localhost", "MAIL_FROM": "Waybill <no-reply@delivery.example>",
    "MAIL_HOST": "smtp.delivery.example", "MAIL_USER": "waybill", "RAZORPAY_KEY_ID": "rzp_live_example"}


def blocks(page: str, heading: str) -> list[str]:
    """The code blocks of a section."""
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", (ROOT / page).read_text(), re.S | re.M).group(1)
    return [re.sub("^ *", "", block, flags=re.M) for block in re.findall(r"^ *```\n(.*?)^ *```", section, re.S | re.M)]


GUIDE, RUNBOOK = "deploy/compose/README.md", "proto-docs/runbooks/backup-and-restore.md"
(START,), (UPGRADE,), (PASSWORD,) = (blocks(GUIDE, one) for one in ("Start", "Upgrade", "Secrets"))
BACKUP, RESTORE = blocks(RUNBOOK, "On compose")
(EMPTY,) = (block[block.index("docker"):] for block in blocks(RUNBOOK, "Restoring all five databases"))


class Machine:
    def __init__(self, folder: Path):
        self.folder, self.secrets = folder / "deploy", folder / "deploy/compose/secrets"
        shutil.copytree(ROOT / "deploy", self.folder, ignore=shutil.ignore_patterns("secrets", ".env"))
        # Otherwise a caller's port that is used again leads to the former container.
        self.run("sysctl -qw net.netfilter.nf_conntrack_tcp_timeout_time_wait=1")
        self.run(f"ip link set lo up && ip link add world type bridge && ip address add {WORLD}/24 dev world && ip link set world up")

    def run(self, command: str) -> str:
        done = subprocess.run(["bash", "-o", "pipefail", "-ec", command], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"FAILED  {command}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
        return done.stdout

    def settings(self, release: str, production=False):
        own = {"webhook-dispatcher": {"environment": {f"WAYBILL_WEBHOOKS__{name}": value for name, value in WEBHOOKS.items()}}}
        if "OFFICIAL_IMAGES" not in os.environ:
            own.update({one: {"image": f"localhost/{image}"} for one, image in IMAGES.items() if one != "proxy" or production})
        (self.folder / "own.yaml").write_text(json.dumps({"services": own}))
        files = ":".join(["compose.yaml", *["compose.production.yaml"] * production, "own.yaml"])
        variables = {"COMPOSE_FILE": files, "WAYBILL_REGISTRY": "docker.io/waybill", "WAYBILL_VERSION": release, **(PRODUCTION if production else {})}
        (self.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))

    def inspect(self, service: str) -> dict:
        return json.loads(self.run(f"podman inspect waybill_{service}_1"))[0]

    def faults(self):
        """Services that did not wait for those before, failed, or have more rights than they need."""
        found = {one: self.inspect(one) for one in [*SERVERS, "databases", *MIGRATIONS, *SERVICES]}
        steps = [["postgres"], ["databases"], MIGRATIONS, SERVICES]
        for before, after in zip(steps, steps[1:]):
            # Times of one zone, as RFC 3339 has them.
            end = max(found[one]["State"]["StartedAt" if one == "postgres" else "FinishedAt"] for one in before)
            yield from (f"{one} did not wait for {before}" for one in after if found[one]["State"]["StartedAt"] < end)
            yield from (f"{one} failed" for one in after if found[one]["State"]["ExitCode"] != 0)
        for name, one in found.items():
            host, networks = one["HostConfig"], one["NetworkSettings"]
            ports = {f"{at['HostIp']}:{at['HostPort']}" for all in networks["Ports"].values() for at in all or []}
            if ports != PUBLISHED.get(name, set()):
                yield f"{name} publishes {ports}"
            if name not in (*SERVICES[1:],) and set(networks["Networks"]) != {"waybill_inner"}:
                yield f"{name} has a way out"
            if not host["Memory"] or "no-new-privileges" not in str(host["SecurityOpt"]):
                yield f"{name} has no limit of memory, or can gain privileges"
            if name not in SERVERS and (one["EffectiveCaps"] or not host["ReadonlyRootfs"]):
                yield f"{name} has capabilities, or a writable root"

    def sql(self, database: str, query: str) -> str:
        return self.run(f'docker compose exec -T postgres psql --username=postgres --no-align --tuples-only --dbname={database} --command="{query}"').strip()

    @contextlib.contextmanager
    def orders(self, report: Report, order_api="http://127.0.0.1:8080", portal_api="http://127.0.0.1:8090", console=None):
        tokens = [(self.secrets / name).read_text() for name in ("order-api-fleet-token", "portal-api-operator-token")]
        traffic = Traffic(WORLD, order_api, portal_api, *tokens, console)
        traffic.go_live()
        traffic.start()
        try:
            yield traffic
        finally:
            report.faults += traffic.end()


def change(machine: Machine, traffic: Traffic, report: Report, name: str, command: str):
    """Until all callers are served again."""
    with traffic.during(name, report):
        machine.run(command)
        wanted = len(traffic.accepted) + 50
        while len(traffic.accepted) < wanted:
            time.sleep(0.1)


def changes(machine: Machine, traffic: Traffic, report: Report):
    # Those of the broker's definitions are salted anew each time.
    secrets = "cd compose/secrets && sha256sum $(ls | grep -v definitions)"
    before = machine.run(secrets)
    machine.settings("test-2")
    change(machine, traffic, report, "upgrade", UPGRADE)
    if machine.run(secrets) != before:
        report.faults.append("the upgrade changed secrets")
    report.faults += [f"{one} is not upgraded" for one in SERVICES if not machine.inspect(one)["ImageName"].endswith(":test-2")]
    machine.run("cd compose/secrets && rm postgres-* rabbitmq-* internal-token && ../make-secrets.sh")
    change(machine, traffic, report, "passwords and internal token replaced", f"{PASSWORD}\ndocker compose up --detach --force-recreate --wait")


def restore(machine: Machine, sure: list[str], report: Report):
    """`sure` are the orders before the copy."""
    began = time.monotonic()
    (copy,) = machine.folder.glob("waybill-2*.tar.gz")
    machine.run(re.sub("^copy=.*", f"copy={copy.name}", RESTORE))
    machine.run(f"{EMPTY}\ndocker compose up --detach --wait")
    while machine.sql("order_api", "SELECT count(*) FROM orders WHERE placement = 'pending_payment'") != "0":
        time.sleep(1)
    for service in ("wallet", "portal-api"):
        machine.run(f"docker compose exec -T {service} {service} reconcile --json")
    print(f"restored after {time.monotonic() - began:.0f} s", flush=True)
    found = machine.sql("order_api", "SELECT order_reference FROM orders WHERE placement = 'placed' AND mode = 'live'").split()
    report.faults += [f"{one} is not in the copy" for one in sure if one not in found]
    charged = CREDITS * CREDIT_PAISE - int(machine.sql("wallet", "SELECT sum(balance_paise) FROM wallets"))
    if charged != FEE_PAISE * len(found):
        report.faults.append(f"{len(found)} orders were restored, which cost {charged} paise")


def through_the_proxy(machine: Machine, report: Report):
    for name in ("mail-password", "razorpay-key-secret", "razorpay-webhook-secret"):
        (machine.secrets / name).write_text("x" * 20)
    machine.run("docker compose down")
    machine.settings("test-2", production=True)
    machine.run(START)
    authority = machine.folder / "authority.crt"
    while not authority.exists() or not authority.read_text():
        machine.run(f"docker compose exec -T proxy cat /data/caddy/pki/authorities/local/root.crt >{authority} || sleep 1")
    os.environ["SSL_CERT_FILE"] = str(authority)
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost\n{WORLD} {API} {PORTAL}\n")
    with machine.orders(report, f"https://{API}", f"https://{PORTAL}", console="http://127.0.0.1:8091") as traffic:
        with traffic.during("production, through the proxy", report):
            time.sleep(20)
    report.none_failed()
    status, headers, _ = call(f"http://{API}", "GET", "/v1/orders")
    if (status, headers["Location"]) != (308, f"https://{API}/v1/orders"):
        report.faults.append(f"plain HTTP gets {status}")
    if (status := call(f"https://{PORTAL}", "GET", "/v1/operator/businesses")[0]) != 404:
        report.faults.append(f"the world gets {status} from the console")
    for port in (5432, 5672, 8080, 8081, 8082, 8083, 8090, 8091, 15672):
        with contextlib.suppress(OSError):
            report.faults.append(f"the world gets {call(f'http://{WORLD}:{port}', 'GET', '/')[0]} of port {port}")


def main() -> int:
    report, began = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder))
        machine.settings("test")
        machine.run(START)
        report.faults += machine.faults()
        print(f"installed after {time.monotonic() - began:.0f} s", flush=True)
        with machine.orders(report) as traffic:
            with traffic.during("nothing", report):
                time.sleep(20)
            report.none_failed()
            changes(machine, traffic, report)
            sure = list(traffic.accepted)
            with traffic.during("backup", report):
                machine.run(BACKUP)
            report.none_failed()
        restore(machine, sure, report)
        through_the_proxy(machine, report)
    return report.end(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
