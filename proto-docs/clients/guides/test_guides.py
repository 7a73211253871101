"""Every code block of the guides and READMEs runs, in an empty folder, with the packages that the stack serves."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from blocks import CLIENTS, GUIDES, blocks, not_run, runs
from reader import PROGRAMS, Reader, servers_of

REPOSITORY = CLIENTS.parents[1]


@pytest.mark.parametrize("name", runs())
def test_runs(name: str, tmp_path: Path) -> None:
    language, chosen = runs()[name]
    with new_database() as database:
        reader = Reader(tmp_path, os.environ["ORDER_API"], new_test_key(name), database, free_port())
        with reader.following():
            for block in chosen:
                reader.take(block)
        reader.check_types(language)


def test_no_block_is_left_out() -> None:
    assert not_run() == []


def test_exported_variables_have_a_form_that_powershell_has() -> None:
    """The table in first-order.md has these two."""
    commands = [block.text for page in GUIDES for block in blocks(page) if block.fence == "sh"]
    exports = re.findall("^export .*", "".join(commands), re.MULTILINE)
    assert [line for line in exports if not re.fullmatch(r"""export \w+=('[^']*'|"\$\([^$]*\)")""", line)] == []


#: What PowerShell writes otherwise, and the row about it in first-order.md.
SHELL_FORMS = {
    r"\\$": r"| `\` at the end of a line |",
    r"\$[A-Z]": "| `$NAME` |",
    r"^(npm|npx) ": "| `npm`, `npx` |",
    r"^python3 ": "| `python3` |",
    r"^venv/bin/": "| `venv/bin/` |",
    r"^curl ": "| `curl` |",
}


def test_other_forms_of_the_commands_are_in_the_table_for_powershell() -> None:
    commands = "".join(block.text for page in GUIDES for block in blocks(page) if block.fence == "sh")
    page = GUIDES[0].read_text("utf-8")
    used = [row for form, row in SHELL_FORMS.items() if re.search(form, commands, re.MULTILINE)]
    assert [row for row in used if row not in page] == []
    # It makes a list of such a word.
    assert re.findall(r"^cargo .*,.*", commands, re.MULTILINE) == []


def test_no_command_runs_a_foreign_package() -> None:
    pages = [*GUIDES, *CLIENTS.glob("*/README.md")]
    assert [page.name for page in pages if re.search(r"npx (?!--no-install)", page.read_text("utf-8"))] == []


def test_versions_are_the_same() -> None:
    """The portal and the guides name the files of the packages."""
    npm, portal = (
        json.loads((REPOSITORY / folder / "package.json").read_text("utf-8"))["version"]
        for folder in ("proto-docs/clients/typescript", "services/portal-web")
    )
    wheel = re.findall(r'"(.+)"', (CLIENTS / "python/src/waybill/_version.py").read_text("utf-8"))
    assert [npm, portal, *wheel] == [npm] * 3


def test_the_package_for_medusa_installs_as_its_readme_says(tmp_path: Path) -> None:
    install = next(block for block in blocks(CLIENTS / "medusa/README.md") if block.fence == "sh")
    with new_database() as database:
        reader = Reader(tmp_path, os.environ["ORDER_API"], "", database, free_port())
        with reader.following():
            reader.take(install)
    assert (tmp_path / "node_modules/@waybill/medusa/dist/webhook.js").exists()


@pytest.mark.parametrize(("program", "missing"), [("receiver", "WEBHOOK_SECRET"), ("delivery", "DATABASE_URL")])
def test_a_program_in_rust_names_the_variable_that_is_missing(program: str, missing: str) -> None:
    done = run_rust(program)
    assert done.returncode == 1
    assert missing in done.stderr


def test_a_program_in_rust_prints_why_a_delivery_failed() -> None:
    with new_database() as database:
        name = urlsplit(database).path.strip("/")
        subprocess.run(["createdb", name], env={**os.environ, **servers_of(database)}, check=True)
        done = run_rust("delivery", DATABASE_URL=database)
    assert re.match(r"failed \w+", done.stdout), done.stderr


def run_rust(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {"WAYBILL_BASE_URL": f"{os.environ['ORDER_API']}/v1", "WAYBILL_API_KEY": "sk_test_waybill_wrong"}
    command = [str(PROGRAMS / program), "127.0.0.1:0"]
    return subprocess.run(command, env={**known, **variables}, capture_output=True, text=True, check=False)


def new_test_key(name: str) -> str:
    """Of a business of its own, so that its orders have the numbers of the guide."""
    portal = os.environ["PORTAL"]
    with httpx.Client(base_url=f"{portal}/v1/portal", headers={"origin": portal}, timeout=60) as caller:
        email = f"{uuid.uuid4().hex}@shop.example"
        account = {
            "businessName": name,
            "email": email,
            "password": "a long enough secret",
        }
        caller.post("/accounts", json=account).raise_for_status()
        created = caller.post("/api-keys", json={"mode": "test", "name": "guides"}).raise_for_status()
        return str(created.json()["key"])


@contextmanager
def new_database() -> Iterator[str]:
    """An address. The commands of the guides create the database."""
    servers = json.loads(Path(os.environ["WAYBILL_TEST_SERVERS"]).read_text("utf-8"))
    postgres = servers["postgres"]
    server = f"postgres://waybill_admin:{postgres['password']}@127.0.0.1:{postgres['port']}"
    name = f"guides_{uuid.uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        try:
            yield f"{server}/{name}"
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
