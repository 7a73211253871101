"""The wheel, installed in an empty folder, and the examples."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import httpx

from waybill import sign_test_event

from .support import BASE_URL, TEST_KEY, TestCase, new_reference
from .test_receiver import SECRET

CLIENT = Path(__file__).resolve().parents[1]
EXAMPLES = CLIENT / "examples"


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
        used = {"WAYBILL_API_KEY": TEST_KEY, "WAYBILL_BASE_URL": BASE_URL}
        printed = run(python, EXAMPLES / "create_order.py", new_reference(), folder=folder, **used)
        self.assertEqual([line.split()[0] for line in printed.splitlines()][-1], "delivered")
        self.assertIn("listen", run(python, "-m", "waybill", "--help", folder=folder))
        self.assertIn("listen", run(f"{folder}/installed/bin/waybill", "--help", folder=folder))
        listed = run(python, "-m", "zipfile", "--list", wheel, folder=folder)
        for part in ("waybill/py.typed", "waybill/schema.pyi", "waybill/django/migrations/0001_initial.py"):
            self.assertIn(part, listed)


class ExampleShop(unittest.TestCase):
    def test_creates_a_delivery_and_applies_its_webhook(self) -> None:
        with TemporaryDirectory() as folder:
            used = {
                "WAYBILL_API_KEY": TEST_KEY,
                "WAYBILL_BASE_URL": BASE_URL,
                "WEBHOOK_SECRET": SECRET,
                "DATABASE_URL": f"sqlite:///{folder}/shop.db",
            }
            with mock.patch.dict(os.environ, used):
                shop = runpy.run_path(str(EXAMPLES / "shop.py"))
            asyncio.run(self._use(httpx.ASGITransport(shop["app"]), new_reference()))
            shop["engine"].dispose()

    async def _use(self, transport: httpx.ASGITransport, reference: str) -> None:
        about = {"id": "ord_1", "orderReference": reference, "status": "delivered"}
        event = {"id": "evt_1", "event": "order.delivered", "mode": "test", "sequence": 5, "order": about, "data": {}}
        body = json.dumps(event).encode()
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as caller:
            created = await caller.post(f"/orders/{reference}")
            self.assertEqual(created.json(), {"sync": "created", "error": None})
            answered = await caller.post("/webhook", content=body, headers=sign_test_event(body, SECRET))
            self.assertEqual(answered.json(), {"received": True, "receipt": "applied"})
            shown = await caller.get(f"/orders/{reference}")
            self.assertEqual(shown.json(), {"id": reference, "status": "delivered"})
