"""The sync record on PostgreSQL and SQLite: one delivery, whatever happens to the processes of a shop."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections import Counter

from sqlalchemy import Engine

from waybill import ApiError, Environment
from waybill.schema import NewOrder
from waybill.sqlalchemy import SqlAlchemy
from waybill.sync import Sync, SyncOutcome
from waybill.sync_store import SqlSyncStore, SyncError

from .databases import KINDS, engine_with_tables
from .ensure import OUTCOMES, ensure
from .support import (
    LIVE_KEY,
    TEST_KEY,
    FaultyProxy,
    TestCase,
    client,
    faulty_proxy,
    new_order,
    new_reference,
    orders_and_debits,
)

PROCESSES = 20
#: The step at which the one process of a round dies that gets the claim.
ROUNDS = ("after claim", "before created", "", "", "")


class Processes(TestCase):
    def test_one_delivery_although_processes_die(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine, faulty_proxy() as proxy:
                reference = new_reference()
                proxy.faults = ["cut-before", "cut-after"]
                outcomes = Counter(
                    outcome
                    for number, step in enumerate(ROUNDS)
                    for outcome in self._round(engine, proxy, reference, step, number)
                )
                orders, debits = orders_and_debits(client(LIVE_KEY), reference)
                self.assertEqual((len(orders), debits), (1, 1), outcomes)
                self.assertEqual((outcomes["killed"], outcomes["recovered"]), (2, 1), outcomes)
                self.assertGreaterEqual(outcomes["already_created"], 2 * PROCESSES // len(ROUNDS), outcomes)
                self.assertEqual(len(set(proxy.seen)), 1)

    def _round(self, engine: Engine, proxy: FaultyProxy, reference: str, step: str, number: int) -> list[str]:
        url = engine.url.render_as_string(hide_password=False)
        # Each process is forked from a clean one that has imported this, so that fifty are quick.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.ensure"])
        arguments = (url, proxy.base_url, reference, step, 2 * number)
        processes = [context.Process(target=ensure, args=arguments) for _ in range(PROCESSES // len(ROUNDS))]
        for process in processes:
            process.start()
        for process in processes:
            process.join(300)
        return [
            "killed" if process.exitcode == -9 else OUTCOMES[process.exitcode if process.exitcode is not None else 99]
            for process in processes
        ]


class OneProcess(TestCase):
    def setUp(self) -> None:
        self.reference = new_reference()
        self.now = 1_000.0
        self.environment = Environment(now=lambda: self.now, sleep=lambda _: None)

    def sync(self, engine: Engine, key: str = TEST_KEY, website: str = "shop") -> Sync:
        waybill = client(key, environment=self.environment)
        return Sync(waybill, SqlSyncStore(SqlAlchemy(engine), waybill.mode), website)

    def ensure(self, sync: Sync, delivery_fee_paise: int = 4900) -> SyncOutcome:
        return sync.ensure(self.reference, lambda: new_order(self.reference, delivery_fee_paise))

    def test_a_created_delivery_is_returned_without_a_call(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine:
                self.reference = new_reference()
                first = self.ensure(self.sync(engine))
                second = self.sync(engine).ensure(self.reference, lambda: self.fail("no order is needed"))
                self.assertEqual((first.status, second.status), ("created", "already_created"))
                self.assertEqual(first.delivery, second.delivery)
                # The personal data is gone; a hash still shows whether the order has changed.
                record = SqlSyncStore(SqlAlchemy(engine), "test").get(self.reference)
                self.assertEqual((record and record.body), None)
                changed = [
                    self.sync(engine).has_changed(self.reference, new_order(self.reference, fee))
                    for fee in (4900, 5000)
                ]
                self.assertEqual(changed, [False, True])
                # The other mode has a record of its own.
                self.assertEqual(self.ensure(self.sync(engine, LIVE_KEY)).status, "created")

    def test_a_delivery_that_exists_under_another_key_is_recovered(self) -> None:
        with engine_with_tables("sqlite") as engine:
            order = client(TEST_KEY).orders.create(new_order(self.reference), idempotency_key=new_reference()).order
            sync = self.sync(engine)
            outcome = self.ensure(sync)
            self.assertEqual(outcome.status, "recovered")
            self.assertEqual(outcome.delivery and outcome.delivery.id, order["id"])
            # The other key may have sent another body.
            self.assertTrue(sync.has_changed(self.reference, new_order(self.reference)))

    def test_a_key_whose_order_is_known_is_recovered_unless_it_is_another_order(self) -> None:
        with engine_with_tables("sqlite") as engine:
            waybill, key = client(TEST_KEY), f"shop-{self.reference}"
            order = waybill.orders.create(new_order(self.reference), idempotency_key=key).order
            # The record was lost, and the order was edited.
            outcome = self.ensure(self.sync(engine), 5000)
            self.assertEqual((outcome.status, outcome.delivery and outcome.delivery.id), ("recovered", order["id"]))
            self.assertTrue(self.sync(engine).has_changed(self.reference, new_order(self.reference, 5000)))
            # The keys of two websites meet: "shop" with order "a-1", and "shop-a" with order "1".
            self.reference = new_reference()
            other = f"another-{self.reference}"
            waybill.orders.create(new_order(other), idempotency_key=f"shop-{self.reference}")
            failed = self.ensure(self.sync(engine))
            self.assertEqual((failed.status, failed.error and failed.error.code), ("failed", "idempotency_key_reused"))
            self.assertIn(other, failed.error.message if failed.error else "")

    def test_a_refused_body_is_corrected_and_any_other_is_repeated(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine, faulty_proxy() as proxy:
                self.reference = new_reference()
                waybill = client(TEST_KEY, proxy.base_url, environment=self.environment)
                sync = Sync(waybill, SqlSyncStore(SqlAlchemy(engine), "test"), "shop")
                refused = self.ensure(sync, 0)
                self.assertEqual((refused.status, refused.error and refused.error.code), ("failed", "invalid_request"))
                proxy.faults = [401]
                self.assertEqual(self.ensure(sync, 5000).status, "failed")
                self.assertEqual(self.ensure(sync, 6000).status, "created")
                bodies = [body for body, _ in proxy.seen]
                self.assertEqual([b":5000" in body for body in bodies], [False, True, True])

    def test_a_lease_keeps_others_away_until_it_ends(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine:
                self.reference = new_reference()
                self.now, store = 1_000.0, SqlSyncStore(SqlAlchemy(engine), "test")
                claims = [store.claim(self.reference, "{}", 0, 1_000_001) for _ in range(2)]
                self.assertEqual([claim and claim.attempt for claim in claims], [1, None])
                self.assertEqual(self.ensure(self.sync(engine)).status, "in_progress")
                self.now += 0.001
                # The new attempt repeats the stored body, which this service refuses.
                self.assertEqual(self.ensure(self.sync(engine)).status, "failed")
                self.assertFalse(store.failed(self.reference, 1, SyncError("late", "late"), True))
                self.assertEqual(self.ensure(self.sync(engine)).status, "created")

    def test_open_orders_are_listed_and_those_that_are_due_are_repeated(self) -> None:
        for kind in KINDS:
            with self.subTest(kind), engine_with_tables(kind) as engine, faulty_proxy() as proxy:
                self._repeat(engine, proxy)

    def _repeat(self, engine: Engine, proxy: FaultyProxy) -> None:
        self.now = 1_000.0
        busy, refused, died = new_reference(), new_reference(), new_reference()
        environment = Environment(lambda: self.now, sleep=lambda _: None, jitter=lambda: 1_000.0)
        store = SqlSyncStore(SqlAlchemy(engine), "test")
        sync = Sync(client(TEST_KEY, proxy.base_url, environment=environment), store, "shop")
        proxy.retry_after, proxy.faults = "90", [503]
        first = sync.ensure(busy, lambda: new_order(busy))
        self.assertEqual((first.status, first.retryable, first.retry_after_s), ("failed", True, 90.0))
        second = sync.ensure(refused, lambda: new_order(refused, 0))
        self.assertEqual((second.status, second.retryable, second.retry_after_s), ("failed", False, None))
        self.assertTrue(store.claim(died, json.dumps(new_order(died)), 1_000_000, 1_090_000))
        self.assertEqual({each.local_order_id for each in sync.open()}, {busy, refused, died})

        ended: list[tuple[str, str]] = []
        errors: list[str] = []
        stop = threading.Event()

        def gone(_: str) -> NewOrder:
            stop.set()
            raise LookupError("the order is gone")

        def report(order_id: str, outcome: SyncOutcome) -> None:
            ended.append((order_id, outcome.status))

        for seconds in (89.0, 1.0):
            self.assertEqual(ended, [])
            self.now += seconds
            sync.retry_due(gone, on_outcome=report, on_error=errors.append)
        # Both repeat their stored bodies.
        self.assertEqual(sorted(ended), sorted([(busy, "created"), (died, "created")]))
        self.assertEqual([each.local_order_id for each in sync.open()], [refused])
        store.claim(refused, "{}", 1_100_000, 1_200_000)
        store.failed(refused, 2, SyncError("http_503", "busy"), False, 1_000_000)
        sync.work(gone, stop, on_error=errors.append)
        self.assertEqual(errors, [refused])

    def test_a_delivery_with_another_body_is_recovered_only_if_wanted(self) -> None:
        with engine_with_tables("sqlite") as engine:
            waybill, key = client(TEST_KEY), f"shop-{self.reference}"
            order = waybill.orders.create(new_order(self.reference), idempotency_key=key).order
            sync = Sync(waybill, SqlSyncStore(SqlAlchemy(engine), "test"), "shop", recover_other_body=False)
            failed = self.ensure(sync, 5000)
            self.assertEqual((failed.status, failed.error and failed.error.code), ("failed", "idempotency_key_reused"))
            cause = failed.cause
            self.assertEqual(isinstance(cause, ApiError) and cause.order and cause.order["id"], order["id"])
            self.assertEqual(self.ensure(sync).status, "recovered")

    def test_wrong_arguments(self) -> None:
        waybill = client(TEST_KEY)
        with engine_with_tables("sqlite") as engine:
            store = SqlSyncStore(SqlAlchemy(engine), "test")
            with self.assertRaises(ValueError):
                Sync(waybill, store, "shop", lease_s=waybill.deadline_s)
            with self.assertRaises(ValueError):
                self.sync(engine).ensure("order 1\n", lambda: new_order("x"))
            self.assertIsNone(store.get("order 1\n"))
