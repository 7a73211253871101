"""The Django app on PostgreSQL and SQLite, with its migration and its view."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.django_settings")
django.setup()

from django.urls import path  # noqa: E402 - after setup

from waybill import sign_test_event  # noqa: E402
from waybill.django.database import DjangoDatabase  # noqa: E402
from waybill.django.models import ReceivedEvent, SyncRecord  # noqa: E402
from waybill.django.views import webhook_view  # noqa: E402
from waybill.receiver import Receiver  # noqa: E402
from waybill.schema import WebhookEvent  # noqa: E402
from waybill.sync import Sync  # noqa: E402
from waybill.sync_store import SqlSyncStore  # noqa: E402

from .databases import database_url  # noqa: E402
from .support import TEST_KEY, TestCase, client, new_order, new_reference  # noqa: E402
from .test_receiver import SECRET, event  # noqa: E402
from .test_webhooks import VECTORS  # noqa: E402

applied: list[str] = []


def apply(event: WebhookEvent, _: Any) -> None:
    applied.append(event["id"])
    if event["id"] == "evt_2":
        raise RuntimeError("the shop failed")


refused: list[str] = []
receiver = Receiver(DjangoDatabase(), SECRET, "test", on_refused=refused.append)
urlpatterns = [path("webhook", webhook_view(receiver, apply))]


class DjangoApp(TestCase):
    def setUp(self) -> None:
        call_command("migrate", verbosity=0)
        self.addCleanup(connection.close)

    def test_the_migration_creates_the_models(self) -> None:
        call_command("makemigrations", "waybill", check=True, dry_run=True, verbosity=0)
        with closing(sqlite3.connect(":memory:")) as shared, connection.cursor() as cursor:
            shared.executescript((VECTORS / "tables.sql").read_text(encoding="utf-8"))
            for table in ("waybill_sync", "waybill_events", "waybill_sequences", "waybill_cursors"):
                # Django adds an id, because its models have no composite keys.
                own = {column.name for column in connection.introspection.get_table_description(cursor, table)}
                expected = {name for (name,) in shared.execute("SELECT name FROM pragma_table_info(?)", [table])}
                self.assertEqual(own - {"id"}, expected)

    def test_the_sync_record(self) -> None:
        waybill = client(TEST_KEY)
        sync = Sync(waybill, SqlSyncStore(DjangoDatabase(), waybill.mode), "shop")
        reference = new_reference()
        # A claim within another transaction could be rolled back after the call.
        with self.assertRaises(RuntimeError), transaction.atomic():
            sync.ensure(reference, lambda: new_order(reference))
        outcomes = [sync.ensure(reference, lambda: new_order(reference)).status for _ in range(2)]
        self.assertEqual(outcomes, ["created", "already_created"])
        record = SyncRecord.objects.get(local_order_id=reference)
        self.assertEqual((record.status, record.attempt, record.body), ("created", 1, None))

    def test_the_view(self) -> None:
        applied.clear()
        caller = Client(raise_request_exception=False)

        def post(body: bytes, headers: dict[str, str]) -> int:
            return caller.post("/webhook", body, content_type="application/json", headers=headers).status_code

        good, failing = event(1, 1), event(2, 2)
        posts = [(good, sign_test_event(good, SECRET)), (good, sign_test_event(good, SECRET)), (good, {})]
        posts.append((failing, sign_test_event(failing, SECRET)))
        self.assertEqual([post(*each) for each in posts], [200, 200, 401, 500])
        self.assertEqual(caller.get("/webhook").status_code, 405)
        self.assertEqual(applied, ["evt_1", "evt_2"])
        self.assertEqual(refused, ["missing_headers"])
        self.assertEqual([found.event_id for found in ReceivedEvent.objects.all()], ["evt_1"])


class OnPostgresql(TestCase):
    """Django has one configuration per process, so another process runs the tests above on PostgreSQL."""

    def test_the_same_tests(self) -> None:
        if "DJANGO_ENGINE" in os.environ:
            self.skipTest("this is the other process")
        with database_url("postgresql") as url:
            environment = {
                **os.environ,
                "DJANGO_ENGINE": "django.db.backends.postgresql",
                "DJANGO_NAME": str(url.database),
                "DJANGO_HOST": str(url.host),
                "DJANGO_PORT": str(url.port),
                "DJANGO_USER": str(url.username),
                "DJANGO_PASSWORD": str(url.password),
            }
            command = [sys.executable, "-W", "error", "-m", "unittest", "tests.test_django"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Ran 4 tests", done.stderr)
