"""The receiver on PostgreSQL and SQLite: each event once, and in order."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import httpx
from fastapi import FastAPI
from sqlalchemy import Connection, Engine, text

from waybill import WebhookError, sign_test_event
from waybill.fastapi import webhook_router
from waybill.receiver import Receiver
from waybill.schema import WebhookEvent
from waybill.sqlalchemy import SqlAlchemy

from .databases import KINDS, engine_with_tables
from .support import TestCase

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def event(number: int, sequence: Optional[int], mode: str = "test", order: str = "ord_1") -> bytes:
    about = None if sequence is None else {"id": order, "orderReference": "A-1", "status": "created"}
    body: dict[str, Any] = {"id": f"evt_{number}", "event": "order.delivered", "sequence": sequence, "mode": mode}
    return json.dumps({**body, "order": about, "data": {}}).encode()


class Shop:
    """Counts what it applied in the transaction of the receiver."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.failures = 0
        self.stale: list[str] = []
        self.refused: list[str] = []
        self.receiver = Receiver(
            SqlAlchemy(engine),
            SECRET,
            "test",
            on_stale=lambda event, _: self.stale.append(event["id"]),
            on_refused=self.refused.append,
        )
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE applied (event_id TEXT NOT NULL)"))

    def apply(self, event: WebhookEvent, connection: Connection) -> None:
        connection.execute(text("INSERT INTO applied VALUES (:id)"), {"id": event["id"]})
        if self.failures > 0:
            self.failures -= 1
            raise RuntimeError("the shop failed")

    def receive(self, body: bytes) -> str:
        return self.receiver.receive(body, sign_test_event(body, SECRET), self.apply)

    def applied(self) -> list[str]:
        with self.engine.connect() as connection:
            return list(connection.execute(text("SELECT event_id FROM applied")).scalars())


class Receiving(TestCase):
    def test_each_event_is_applied_once_and_never_after_a_later_one(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine:
                shop = Shop(engine)
                bodies = [event(1, 1), event(1, 1), event(3, 3), event(2, 2), event(4, None), event(5, 4, "live")]
                receipts = [shop.receive(body) for body in bodies]
                expected = ["applied", "duplicate", "applied", "stale", "applied", "other_mode"]
                self.assertEqual(receipts, expected)
                self.assertEqual((shop.applied(), shop.stale), (["evt_1", "evt_3", "evt_4"], ["evt_2"]))
                self.assertEqual(shop.receiver.forget(2**53), 4)

    def test_events_of_a_later_form_wait_for_no_others(self) -> None:
        orders = [{"id": 7}, "ord_7", {"id": ""}, {"id": None}, {}, ["ord_7"]]
        sequences = ["1", 1.5, True, 2**70]
        later = [{"order": order, "sequence": 1} for order in orders]
        later += [{"order": {"id": "ord_1"}, "sequence": sequence} for sequence in sequences]
        for kind in KINDS:
            with engine_with_tables(kind) as engine:
                shop = Shop(engine)
                for at, changes in enumerate(later):
                    with self.subTest(kind, changes=changes):
                        body = json.dumps({"id": f"evt_{at}", "event": "order.returned", "mode": "test", **changes})
                        self.assertEqual(shop.receive(body.encode()), "applied")

    def test_a_failed_event_leaves_nothing_and_comes_again(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine:
                shop = Shop(engine)
                shop.failures = 1
                with self.assertRaises(RuntimeError):
                    shop.receive(event(1, 1))
                self.assertEqual(shop.applied(), [])
                self.assertEqual((shop.receive(event(1, 1)), shop.applied()), ("applied", ["evt_1"]))

    def test_the_same_event_in_many_threads_is_applied_once(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine:
                shop = Shop(engine)
                bodies = [event(n % 2, 1, order=f"ord_{n % 2}") for n in range(20)]
                with ThreadPoolExecutor(20) as threads:
                    receipts = list(threads.map(shop.receive, bodies))
                self.assertEqual((receipts.count("applied"), receipts.count("duplicate")), (2, 18))
                self.assertEqual(sorted(shop.applied()), ["evt_0", "evt_1"])

    def test_a_forged_event_changes_nothing(self) -> None:
        with engine_with_tables("sqlite") as engine:
            shop = Shop(engine)
            with self.assertRaises(WebhookError):
                shop.receiver.receive(event(1, 1), sign_test_event(event(2, 2), SECRET), shop.apply)
            self.assertEqual((shop.applied(), shop.receiver.forget(2**53)), ([], 0))
            self.assertNotIn(SECRET[8:], repr(vars(shop.receiver)))


class FastApiRoute(TestCase):
    def test_answers(self) -> None:
        with engine_with_tables("sqlite") as engine:
            shop = Shop(engine)
            app = FastAPI()
            app.include_router(webhook_router(shop.receiver, shop.apply, "/webhook"))

            async def statuses() -> list[int]:
                transport = httpx.ASGITransport(app, raise_app_exceptions=False)
                async with httpx.AsyncClient(transport=transport, base_url="http://shop") as caller:
                    good, large = event(1, 1), b"x" * (1024 * 1024 + 1)
                    live = event(2, 2, "live")
                    shop.failures = 1
                    posts = [
                        (good, sign_test_event(good, SECRET)),
                        (good, sign_test_event(good, SECRET)),
                        (good, {}),
                        (large, {}),
                        (good, sign_test_event(good, SECRET, now=1)),
                        (live, sign_test_event(live, SECRET)),
                    ]
                    return [
                        (await caller.post("/webhook", content=body, headers=headers)).status_code
                        for body, headers in posts
                    ]

            self.assertEqual(asyncio.run(statuses()), [500, 200, 401, 413, 401, 200])
            self.assertEqual(shop.refused, ["missing_headers", "too_old", "other_mode"])
            self.assertEqual(shop.applied(), ["evt_1"])
