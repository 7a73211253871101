"""The asynchronous client against a real stack, through a proxy that fails."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from waybill import AuthenticationError, Environment, InvalidRequestError, NoAnswerError
from waybill.aio import AsyncWaybill

from .support import (
    BASE_URL,
    LIVE_KEY,
    TEST_KEY,
    Fault,
    client,
    faulty_proxy,
    new_order,
    new_reference,
    orders_and_debits,
)


async def no_pause(_: float) -> None:
    await asyncio.sleep(0)


class Async(unittest.IsolatedAsyncioTestCase):
    def client(self, key: str, base_url: str = BASE_URL, **options: Any) -> AsyncWaybill:
        waybill = AsyncWaybill(key, base_url, environment=Environment(jitter=lambda: 0.0), **options)
        self.addAsyncCleanup(waybill.aclose)
        return waybill

    async def test_one_order_and_one_debit(self) -> None:
        faults: list[Fault] = ["cut-before", "cut-after", "cut-body", "hang", 429, 503]
        with faulty_proxy() as proxy:
            waybill = self.client(LIVE_KEY, proxy.base_url, attempt_timeout_s=3.0, sleep=no_pause)
            proxy.faults, reference = list(faults), new_reference()
            created = await waybill.orders.create(new_order(reference), idempotency_key=reference)
            # On a busy machine, an order may take longer than the limit for what hangs.
            self.assertGreater(len(proxy.seen), len(faults))
            self.assertEqual(len(set(proxy.seen)), 1)
            orders, debits = await asyncio.to_thread(orders_and_debits, client(LIVE_KEY), reference)
            self.assertEqual(([order["id"] for order in orders], debits), ([created.order["id"]], 1))

    async def test_a_call_ends_at_its_deadline(self) -> None:
        with faulty_proxy() as proxy:
            proxy.faults = ["hang"] * 9
            waybill = self.client(TEST_KEY, proxy.base_url, attempt_timeout_s=0.3, deadline_s=1.0)
            with self.assertRaises(NoAnswerError) as caught:
                await asyncio.wait_for(waybill.orders.get("ord_1"), 5.0)
            self.assertEqual(caught.exception.code, "timeout")

    async def test_orders_and_errors(self) -> None:
        waybill, reference = self.client(TEST_KEY), new_reference()
        order = (await waybill.orders.create(new_order(reference), idempotency_key=reference)).order
        await waybill.orders.simulate(order["id"], "driver.assigned")
        listed = [one["id"] async for one in waybill.orders.list(order_reference=reference, page_size=1)]
        self.assertEqual(listed, [order["id"]])
        moves = [entry async for entry in waybill.orders.timeline(order["id"]) if entry["type"] == "status"]
        self.assertEqual([move["event"] for move in moves], ["order.created", "driver.assigned"])
        self.assertEqual((await waybill.orders.cancel(order["id"]))["status"], "cancelled")
        with self.assertRaises(InvalidRequestError):
            await waybill.orders.create(new_order("", 0), idempotency_key=reference)
        wrong = self.client("sk_test_waybill_wrong")
        with self.assertRaises(AuthenticationError):
            await wrong.orders.get(order["id"])
        self.assertNotIn(TEST_KEY[12:], repr(waybill))
