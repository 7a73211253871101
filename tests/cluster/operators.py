"""The step `operators`: cert-manager renews the certificates of calls between the services, and KEDA scales. operators.sh has installed both."""

import json
import ssl
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "deploy/chart/examples"
DISPATCHER, INSTANCES_MAX = "webhook-dispatcher", 4
# Longer than the 5 s at which the chart scales, and shorter than the time limit of a webhook.
SLOW_SECONDS = 6
END = "-----END CERTIFICATE-----"


def until(what: str, holds, seconds=300):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {seconds} s: {what}")
        time.sleep(2)


def of(cluster, kind: str, name: str) -> dict:
    return json.loads(cluster.own("get", kind, name, "--output", "json"))


def renew(cluster, *services):
    """As `cmctl renew` does it, until each pod serves the new certificate."""
    names = [f"internal-{service}" for service in services]
    revisions = {name: of(cluster, "certificate", name)["status"]["revision"] for name in names}
    condition = {"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "Renewed by the test",
                 "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    for name in names:
        patch = [{"op": "add", "path": "/status/conditions/-", "value": condition}]
        cluster.own("patch", "certificate", name, "--subresource=status", "--type=json", "--patch", json.dumps(patch))
    for name, revision in revisions.items():
        cluster.own("wait", f"--for=jsonpath={{.status.revision}}={revision + 1}", f"certificate/{name}", "--timeout=60s")
        cluster.own("wait", "--for=condition=Ready", f"certificate/{name}", "--timeout=60s")


def served(cluster, service: str):
    """Each pod serves what is in the Secret; the kubelet needs up to two minutes."""
    own = cluster.secret(f"internal-tls-{service}", r"tls\.crt")
    wanted = own[:own.index(END)] + END
    pods = json.loads(cluster.own("get", "pods", "--selector", f"app.kubernetes.io/name={service}", "--output", "json"))["items"]
    addresses = [(pod["status"]["podIP"], 8443) for pod in pods]
    until(f"{service} serves its renewed certificate",
          lambda: {ssl.get_server_certificate(one, timeout=10).strip() for one in addresses} == {wanted}, 180)


def certificates(cluster, traffic, report):
    found = json.loads(cluster.own("get", "certificates", "--selector", "app.kubernetes.io/component=service", "--output", "json"))["items"]
    services = [one["metadata"]["name"].removeprefix("internal-") for one in found]
    with traffic.during("cert-manager renews the certificate of wallet", report):
        renew(cluster, "wallet")
        served(cluster, "wallet")
    report.none_failed()
    with traffic.during("cert-manager renews the authority, then all certificates; all Deployments restarted", report):
        renew(cluster, "authority")
        renew(cluster, *services)
        for service in services:
            served(cluster, service)
        # New connections, and new callers, which trust the new certificate of the authority alone.
        cluster.own("rollout", "restart", "deployment")
        cluster.rolled_out()
    report.none_failed()


def external(cluster, service: str) -> float:
    """What KEDA's autoscaler last got from Prometheus."""
    found = of(cluster, "hpa", f"keda-hpa-{service}").get("status", {}).get("currentMetrics") or []
    values = [one["external"]["current"] for one in found if one.get("type") == "External"]
    text = next((value.get("value") or value.get("averageValue") or "0" for value in values), "0")
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def instances(cluster) -> int:
    return of(cluster, "deployment", DISPATCHER)["status"].get("readyReplicas", 0)


def scaling(cluster, traffic, report, prometheus: str):
    with traffic.during("autoscaling by KEDA instead of metrics-server", report):
        cluster.own("delete", "hpa", "--selector", "app.kubernetes.io/part-of=waybill")
        cluster.bases.append(EXAMPLES / "keda.yaml")
        cluster.apply(autoscaling={"prometheus": prometheus}, services={DISPATCHER: {"replicas": {"min": 2, "max": INSTANCES_MAX}}})
        cluster.own("wait", "--for=condition=Ready", "scaledobject", "--all", "--timeout=120s")
        until("KEDA knows the requests of order-api", lambda: external(cluster, "order-api") > 0)
    report.none_failed()
    with traffic.during(f"the receiver takes {SLOW_SECONDS} s, until webhook-dispatcher has {INSTANCES_MAX} instances", report):
        traffic.receiver.seconds = SLOW_SECONDS
        until("KEDA adds instances", lambda: instances(cluster) == INSTANCES_MAX)
        print(f"oldest due webhook for KEDA: {external(cluster, DISPATCHER):.0f} s")
        traffic.receiver.seconds = 0
    report.none_failed()
    with traffic.during("the receiver is fast, until webhook-dispatcher has 2 instances", report):
        # The chart waits for ten minutes without overdue webhooks.
        sooner = {"spec": {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 15}}}}}}
        cluster.own("patch", "scaledobject", DISPATCHER, "--type=merge", "--patch", json.dumps(sooner))
        until("KEDA removes instances", lambda: instances(cluster) == 2, 600)
    report.none_failed()
    with traffic.during("autoscaling by metrics-server again", report):
        cluster.bases.pop()
        cluster.apply(autoscaling={"by": "cpu"})
        until("the autoscalers are the chart's", lambda: "keda" not in cluster.own("get", "hpa", "--output", "name"))
    report.none_failed()
