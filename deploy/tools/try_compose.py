"""Starts what compose.yaml describes, without a container engine: try_compose.py <folder with the programs>.

It uses this machine's PostgreSQL and RabbitMQ. The programs run in the base tree of the images (images/base-tree.sh), as its user and on a
read-only root, with the environment, secrets, order and health checks of compose.yaml, and its scripts. It runs in its own network, mount
and process namespaces, and needs root. It tests neither the images of PostgreSQL and RabbitMQ nor the engine's limits, networks and restarts.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import compose
from manifests import DEPLOY

START_SECONDS_MAX = 90
USER = 65532


class Machine:
    def __init__(self, work: Path, programs: Path):
        self.work, self.programs, self.running = work, programs, {}
        self.spec = compose.interpolated(compose.files()["compose.yaml"])
        names = self.spec["services"]
        # All run on one machine, so each has its own loopback address.
        self.addresses = {name: f"127.0.1.{number}" for number, name in enumerate(names, 1)}
        self.secrets, self.tree = work / "secrets", work / "tree"

    def prepare(self):
        self.run("ip", "link", "set", "lo", "up")
        hosts = self.work / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.addresses.items()))
        copy = self.work / "compose"
        shutil.copytree(DEPLOY / "compose", copy, ignore=shutil.ignore_patterns("secrets"))
        self.run("sh", copy / "make-secrets.sh", stdout=subprocess.DEVNULL)
        self.secrets = copy / "secrets"

        built = [self.programs / name for name in compose.PROGRAMS]
        self.run("sh", DEPLOY / "images/base-tree.sh", self.tree, *built)
        for program in built:
            shutil.copy(program, self.tree / "usr/bin")
        (self.tree / "run/secrets").mkdir(parents=True)
        (self.tree / "etc/hosts").touch()
        # A container engine writes the same.
        (self.tree / "etc/resolv.conf").write_text("nameserver 127.0.0.11\n")
        self.run("mount", "--bind", self.tree, self.tree)
        self.run("mount", "--bind", hosts, self.tree / "etc/hosts")
        self.run("mount", "--bind", hosts, "/etc/hosts")
        # The servers' scripts read them there, too. Here each program sees all secrets; with Compose it sees its own.
        self.run("mount", "-t", "tmpfs", "none", "/run")
        Path("/run/secrets").mkdir()
        for place in (Path("/run/secrets"), self.tree / "run/secrets"):
            self.run("mount", "--bind", self.secrets, place)
        self.secrets.chmod(0o755)
        self.run("mount", "-o", "remount,bind,ro,nosuid,nodev", self.tree)

    def run(self, *command, **options):
        subprocess.run([str(word) for word in command], check=True, **options)

    def environment(self, name: str) -> dict:
        given = {key: str(value) for key, value in (self.spec["services"][name].get("environment") or {}).items()}
        return {key: value.replace("0.0.0.0", self.addresses[name]) for key, value in given.items()}

    def in_image(self, name: str, arguments: list) -> list:
        program = self.spec["services"][name]["image"].rpartition("/")[2].partition(":")[0]
        words = arguments if arguments and arguments[0].startswith("/") else [f"/usr/bin/{program}", *arguments]
        return ["/usr/sbin/chroot", f"--userspec={USER}:{USER}", "--groups=", str(self.tree), *words]

    def log(self, name: str) -> Path:
        return self.work / f"{name}.log"

    def begin(self, name: str, command: list, environment: dict, **options):
        output = self.log(name).open("wb")
        self.running[name] = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, **options)

    def until(self, name: str, test):
        end = time.monotonic() + START_SECONDS_MAX
        while not test():
            if self.running[name].poll() is not None or time.monotonic() > end:
                raise SystemExit(f"FAILED  {name}: it does not start\n{self.log(name).read_text(errors='replace')[-2000:]}")
            time.sleep(0.2)

    def start(self, name: str):
        began, service = time.monotonic(), self.spec["services"][name]
        if name == "postgres":
            self.postgres(service)
        elif name == "rabbitmq":
            self.rabbitmq()
        elif service.get("restart") == "no":
            self.one_shot(name, service)
        else:
            self.begin(name, self.in_image(name, ["serve"]), self.environment(name))
            check = self.in_image(name, service["healthcheck"]["test"][1:])
            self.until(name, lambda: subprocess.run(check, env=self.environment(name), capture_output=True).returncode == 0)
        print(f"ok      {name} ({time.monotonic() - began:.1f} s)")

    def postgres(self, service: dict):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        home = self.work / "postgres"
        home.mkdir()
        shutil.chown(home, "postgres")
        arguments = [word for word in service["environment"]["POSTGRES_INITDB_ARGS"].split()]
        password = "--pwfile=/run/secrets/postgres-admin"
        self.run(f"{programs}/initdb", "--username=postgres", "--auth=scram-sha-256", "--no-sync", password, *arguments, home / "data",
                 user="postgres", cwd="/", stdout=subprocess.DEVNULL)
        command = [f"{programs}/postgres", "-D", str(home / "data"), "-c", f"listen_addresses={self.addresses['postgres']}",
                   "-c", f"unix_socket_directories={home}", "-c", "fsync=off", *service["command"]]
        self.begin("postgres", command, {"LC_ALL": "C"}, user="postgres", cwd="/")
        ready = [f"{programs}/pg_isready", "--quiet", "--host=postgres"]
        self.until("postgres", lambda: subprocess.run(ready).returncode == 0)

    def rabbitmq(self):
        home = self.work / "rabbitmq"
        home.mkdir()
        settings = (DEPLOY / "compose/rabbitmq.conf").read_text() + f"listeners.tcp.1 = {self.addresses['rabbitmq']}:5672\n"
        (home / "rabbitmq.conf").write_text(settings)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "RABBITMQ_NODENAME": "try@localhost",
                       "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"), "RABBITMQ_MNESIA_BASE": str(home / "data"),
                       "RABBITMQ_LOG_BASE": str(home), "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
                       "RABBITMQ_CONF_ENV_FILE": "/dev/null"}
        program = sorted(glob.glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server"))[-1]
        self.begin("rabbitmq", [program], environment)

        def answers():
            with socket.socket() as connection:
                return connection.connect_ex((self.addresses["rabbitmq"], 5672)) == 0
        self.until("rabbitmq", answers)

    def one_shot(self, name: str, service: dict):
        if "entrypoint" in service:
            # Compose mounts this folder of the repository at /compose.
            script = (DEPLOY / service["entrypoint"][1].lstrip("/")).read_text()
            command, environment = ["sh", "-c", script], {"PATH": os.environ["PATH"], **self.environment(name)}
        else:
            command, environment = self.in_image(name, service["command"]), self.environment(name)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"FAILED  {name}:\n{(done.stdout + done.stderr)[-2000:]}")

    def stop(self, name: str):
        began, process = time.monotonic(), self.running[name]
        process.send_signal(signal.SIGTERM)
        grace = int(self.spec["services"][name]["stop_grace_period"].rstrip("s"))
        try:
            code = process.wait(grace)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"FAILED  {name} did not stop within {grace} s")
        if code != 0:
            raise SystemExit(f"FAILED  {name} ended with {code}\n{self.log(name).read_text(errors='replace')[-2000:]}")
        print(f"ok      {name} stopped ({time.monotonic() - began:.1f} s)")

    def warnings(self):
        for name in compose.PROGRAMS:
            for line in self.log(name).read_text(errors="replace").splitlines():
                if '"WARN"' in line or '"ERROR"' in line:
                    yield f"{name}: {line[:300]}"


def in_order(services: dict) -> list:
    """The services, each after its dependencies."""
    done: list = []
    while len(done) < len(services):
        ready = [name for name, spec in services.items() if name not in done and set(spec.get("depends_on", {})) <= set(done)]
        if not ready:
            raise SystemExit("FAILED  compose.yaml: the dependencies have a cycle")
        done += ready
    return done


def main() -> int:
    programs = Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        print("not run: changing the root directory needs root", file=sys.stderr)
        return 1
    if os.environ.get("TRY_COMPOSE") != "inside":
        inside = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, str(programs)]
        return subprocess.run(inside, env={**os.environ, "TRY_COMPOSE": "inside"}).returncode
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        machine = Machine(Path(folder), programs)
        machine.prepare()
        try:
            for name in in_order(machine.spec["services"]):
                machine.start(name)
            # An upgrade runs them again, and keeps the data.
            for name in ("databases", "migrate-wallet"):
                machine.start(name)
            time.sleep(3)
            for name in compose.PROGRAMS:
                machine.stop(name)
            warnings = list(machine.warnings())
            for line in warnings:
                print(f"        {line}")
            print("FAILED  the services logged warnings or errors" if warnings else "ok      no service logged a warning or an error")
            return int(bool(warnings))
        finally:
            for process in machine.running.values():
                process.kill()
            subprocess.run(["umount", "--recursive", "--lazy", machine.tree])
            subprocess.run(["umount", "--lazy", "/run"])


if __name__ == "__main__":
    sys.exit(main())
