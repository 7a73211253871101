"""A Prometheus on this machine with the alerts of deploy/alerts: which alerts a step raises, and what pods use of their requests."""

import json
import socket
import subprocess
import threading
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

ALERTS = Path(__file__).resolve().parents[2] / "deploy/alerts"
# As the chart's ServiceMonitor labels the metrics.
CONFIGURATION = """
global: {{scrape_interval: 5s, evaluation_interval: 5s}}
rule_files: ["{alerts}/*.yaml"]
scrape_configs:
  - job_name: services
    honor_labels: true
    file_sd_configs: [{{files: ["{targets}"], refresh_interval: 5s}}]
"""
# The test's policy, since monitoring is usually in a namespace of its own. 8443 is for looking at certificates.
POLICY = {
    "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "test-monitoring"},
    "spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.250.0.2/32"}}], "ports": [{"port": 8082}, {"port": 8443}]}]}}


class Watch:
    def __init__(self, cluster):
        folder = cluster.state / "prometheus"
        folder.mkdir(exist_ok=True)
        self.cluster, self.targets, self.enough = cluster, folder / "targets.json", threading.Event()
        cluster.own("apply", "--filename", "-", given=json.dumps(POLICY))
        (folder / "prometheus.yaml").write_text(CONFIGURATION.format(alerts=ALERTS, targets=self.targets))
        with socket.socket() as free:
            # Where pods reach this machine.
            free.bind(("10.250.0.2", 0))
            self.address = "{}:{}".format(*free.getsockname())
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={self.address}"],
            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"))
        threading.Thread(target=self.follow_pods, daemon=True).start()

    def follow_pods(self):
        """Debian's Prometheus does not know Kubernetes."""
        while not self.enough.wait(5):
            found = self.cluster.own("get", "pods", "--selector", "app.kubernetes.io/component=service", "--output", "json", check=False)
            targets = [{"targets": [f"{pod['status']['podIP']}:8082"],
                        "labels": {"job": pod["metadata"]["labels"]["app.kubernetes.io/name"], "namespace": self.cluster.namespace}}
                       for pod in json.loads(found or '{"items": []}')["items"] if pod["status"].get("podIP")]
            (self.targets.parent / "targets.new").write_text(json.dumps(targets))
            (self.targets.parent / "targets.new").rename(self.targets)

    def query(self, expression: str) -> list:
        with urlopen(f"http://{self.address}/api/v1/query?query={quote(expression)}", timeout=10) as answer:
            return json.load(answer)["data"]["result"]

    def alerts(self, seconds: float) -> str:
        """The alerts that fired in the last seconds."""
        found = self.query(f'max_over_time(ALERTS{{alertstate="firing"}}[{max(int(seconds), 5)}s])')
        return ", alerts " + (", ".join(sorted({one["metric"]["alertname"] for one in found})) or "none")

    def usage(self, seconds: float) -> dict:
        """By service: the largest memory of a pod in MiB, and the largest processor time of a minute in thousandths of a core."""
        largest = f"[{int(seconds)}s:15s]"
        memory = self.query(f"max by (job) (max_over_time(process_resident_memory_bytes{largest}))")
        time_used = self.query(f"max by (job) (max_over_time(rate(process_cpu_seconds_total[1m]){largest}))")
        cores = {one["metric"]["job"]: float(one["value"][1]) * 1000 for one in time_used}
        return {one["metric"]["job"]: (float(one["value"][1]) / 2**20, cores.get(one["metric"]["job"], 0)) for one in memory}

    def end(self):
        self.enough.set()
        self.process.terminate()
        self.process.wait()
