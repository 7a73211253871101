"""The wheel in an empty folder, and the examples of the README against a real stack."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import httpx
from sqlalchemy import text

from waybill import sign_test_event

from .readme import examples
from .support import BASE_URL, TEST_KEY, TestCase, eventually, new_reference
from .test_receiver import SECRET

CLIENT = Path(__file__).resolve().parents[1]


def run(*command: object, folder: str, **environment: str) -> str:
    # Without PYTHONPATH, which names the sources.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


class Wheel(TestCase):
    def test_runs_in_an_empty_folder(self) -> None:
        folder = self.enter(TemporaryDirectory())
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, CLIENT, folder=folder)
        [wheel] = Path(folder).glob("*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", "installed", folder=folder)
        python = f"{folder}/installed/bin/python"
        run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder)
        test = CLIENT / "tests" / "test_webhooks.py"
        run(python, "-W", "error", "-m", "unittest", test.name, folder=str(test.parent))
        # The first example and the first command of the README need the standard library alone.
        first = Path(folder) / "first.py"
        first.write_text(examples()[0], "utf-8")
        used = {"WAYBILL_API_KEY": TEST_KEY, "WAYBILL_BASE_URL": BASE_URL, "WAYBILL_STATE_DIRECTORY": folder}
        self.assertIn("/track/TEST-", run(python, first, folder=folder, **used))
        [command] = [line for line in examples("sh")[0].splitlines() if "--print-secret" in line]
        self.assertIn("whsec_", run(python, *shlex.split(command)[1:], folder=folder, **used))
        self.assertIn("listen", run(f"{folder}/installed/bin/waybill", "--help", folder=folder))
        listed = run(python, "-m", "zipfile", "--list", wheel, folder=folder)
        for part in ("waybill/py.typed", "waybill/schema.pyi", "waybill/django/migrations/0001_initial.py"):
            self.assertIn(part, listed)


class Readme(TestCase):
    def test_the_examples_run(self) -> None:
        folder = self.enter(TemporaryDirectory())
        used = {
            "WAYBILL_API_KEY": TEST_KEY,
            "WAYBILL_BASE_URL": BASE_URL,
            "WEBHOOK_SECRET": SECRET,
            "DATABASE_URL": f"sqlite:///{folder}/shop.db?timeout=20",
        }
        shop: dict[str, Any] = {}
        with mock.patch.dict(os.environ, used):
            exec(compile("\n".join(examples()), "README.md", "exec"), shop)  # noqa: S102 - our own examples
        self.assertIn(shop["outcome"].status, {"created", "recovered"})
        with shop["engine"].begin() as connection:
            connection.execute(text("CREATE TABLE orders (id TEXT PRIMARY KEY, delivered BOOLEAN NOT NULL)"))
        asyncio.run(self._webhook(shop))
        self._catch_up(shop)
        shop["engine"].dispose()

    async def _webhook(self, shop: dict[str, Any]) -> None:
        reference = self._order(shop)
        about = {"id": "ord_1", "orderReference": reference, "status": "delivered"}
        event = {"id": "evt_1", "event": "order.delivered", "mode": "test", "sequence": 5, "order": about, "data": {}}
        body = json.dumps(event).encode()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(shop["app"]), base_url="http://shop") as caller:
            headers = sign_test_event(body, SECRET)
            answered = await caller.post("/api/delivery/webhook", content=body, headers=headers)
            self.assertEqual(answered.json(), {"received": True, "receipt": "applied"})
        self.assertTrue(self._delivered(shop, reference))

    def _catch_up(self, shop: dict[str, Any]) -> None:
        reference, stop = self._order(shop), threading.Event()
        follower = threading.Thread(target=shop["catch_up"], args=[stop])
        follower.start()
        try:
            self._deliver(shop, reference)
            eventually(lambda: self._delivered(shop, reference), "the delivery, from the feed", 30)
        finally:
            stop.set()
            # Its event ends the poll that waits.
            self._deliver(shop, new_reference())
            follower.join(30)

    def _order(self, shop: dict[str, Any]) -> str:
        reference = new_reference()
        with shop["engine"].begin() as connection:
            connection.execute(text("INSERT INTO orders VALUES (:id, FALSE)"), {"id": reference})
        return reference

    def _deliver(self, shop: dict[str, Any], reference: str) -> None:
        orders = shop["waybill"].orders
        order = orders.create(shop["to_waybill"](reference), idempotency_key=reference).order
        for move in ("driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"):
            orders.simulate(order["id"], move)

    def _delivered(self, shop: dict[str, Any], reference: str) -> bool:
        with shop["engine"].connect() as connection:
            found = connection.execute(text("SELECT delivered FROM orders WHERE id = :id"), {"id": reference})
            return bool(found.scalar_one())
