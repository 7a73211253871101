"""Runs each program with the settings of its Deployment, its migration Job and Compose: try_settings.py <folder with the programs>.

Secrets have made-up values, and there is no database: a service only checks its settings, and a migration fails when it connects. An error
about settings is a fault, and so is a variable that the program does not know.
"""

import re
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import compose
import manifests

# Nothing answers at the port of PostgreSQL there.
NOBODY = "127.0.0.9"
MIGRATION_SECONDS = 1
# Long enough for every secret; a key is in base64.
SECRET, KEY = "a" * 48, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

# The certificate of PostgreSQL's authority in a pod.
AUTHORITY = "/etc/waybill/postgres/ca.crt"


def environment(container: dict, config_maps: dict, optional: bool, authority: str) -> dict:
    given = {}
    for source in container.get("envFrom", []):
        given |= config_maps[source["configMapRef"]["name"]]
    for variable in container["env"]:
        value = variable.get("value")
        if value is None:
            secret = variable["valueFrom"]["secretKeyRef"]
            if secret.get("optional") and not optional:
                continue
            value = KEY if secret["name"] == "webhook-dispatcher" else SECRET
        given[variable["name"]] = re.sub(r"\$\((\w+)\)", lambda found: given[found.group(1)], value)
    return {name: value.replace("postgres-rw", NOBODY).replace(AUTHORITY, authority) for name, value in given.items()}


def known(program: Path) -> str:
    return subprocess.run([program, "settings"], capture_output=True, text=True, check=True, env={}).stdout


def faults(program: Path, given: dict, serves: bool):
    command = ["settings", "--check"] if serves else ["migrate"]
    try:
        done = subprocess.run([program, *command], env=given, capture_output=True, text=True, timeout=None if serves else MIGRATION_SECONDS)
        if done.returncode != 0:
            yield " ".join((done.stdout + done.stderr).split("Stack backtrace")[0].split())
    except subprocess.TimeoutExpired:
        # It has read its settings, and waits for the database.
        assert not serves
    all_known = known(program)
    for name in given:
        if name.startswith("WAYBILL_") and f'"{name}"' not in all_known:
            yield f"there is no setting {name}"


def of_kubernetes(authority: str):
    for overlay in manifests.OVERLAYS:
        resources = manifests.documents(manifests.rendered(overlay))
        config_maps = {one["metadata"]["name"]: one.get("data", {}) for one in manifests.of_kind(resources, "ConfigMap")}
        for resource in manifests.of_kind(resources, "Deployment", "Job"):
            pod = resource["spec"]["template"]["spec"]
            container = pod["containers"][0] if resource["kind"] == "Deployment" else pod["initContainers"][0]
            # overlays/local has neither payments nor mails.
            given = environment(container, config_maps, optional=overlay != "local", authority=authority)
            name, serves = resource["metadata"]["name"].removeprefix("migrate-"), resource["kind"] == "Deployment"
            yield f"overlays/{overlay}: {manifests.title(resource)}", name, given, serves


def of_compose_in_production():
    variables = {"WAYBILL_ENVIRONMENT": "production", "ORDER_API_URL": "https://api.example", "PORTAL_URL": "https://portal.example",
                 "CONSOLE_URL": "https://console.example", "MAIL_FROM": "no-reply@example.com"}
    files = [compose.interpolated(compose.files()[name], variables) for name in compose.FILES]
    made_up = {"WAYBILL_DATABASE__URL": f"postgres://nobody@{NOBODY}/nothing", "WAYBILL_BROKER__URL": f"amqp://{NOBODY}", "WAYBILL_SECRETS__KEY": KEY}
    for service in compose.PROGRAMS:
        given = {}
        for file in files:
            given |= file["services"].get(service, {}).get("environment", {})
        plain = {name.removesuffix("_FILE"): value for name, value in given.items()}
        yield f"compose.production.yaml: {service}", service, {
            name: made_up.get(name, SECRET) if f"{name}_FILE" in given else str(value) for name, value in plain.items()}, True


def main() -> int:
    programs, found = Path(sys.argv[1]).resolve(), 0
    with tempfile.NamedTemporaryFile("w", suffix=".crt") as authority:
        # Any certificate works, because no program connects.
        authority.write(ssl.DER_cert_to_PEM_cert(ssl.create_default_context().get_ca_certs(binary_form=True)[0]))
        authority.flush()
        for place, name, given, serves in [*of_kubernetes(authority.name), *of_compose_in_production()]:
            said = list(faults(programs / name, given, serves))
            found += len(said)
            print(f"{'FAILED ' if said else 'ok     '} {place}: the program accepts its settings")
            for fault in said:
                print(f"        {fault}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
