"""Every event of Waybill is applied, in order, and nothing else is."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from shop import Shop
from stack import eventually, new_reference
from wires import Webhook

DELIVERY = ("driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered")
STATUSES = ("driver_assigned", "picked_up", "out_for_delivery", "delivered")
OTHER_SECRET = f"whsec_{base64.b64encode(bytes(32)).decode()}"

#: More than starting and the first event take, and enough events for all processes.
FOLLOW_STEPS, FOLLOWED_ORDERS = 16, 3


def held_back(shop: Shop, *events: str) -> tuple[str, list[Webhook]]:
    """A new order, and its genuine webhooks, which the shop has not received."""
    shop.webhooks.forward_to = None
    reference = new_reference()
    created = shop.order(reference)
    assert created.delivery, created.said
    shop.business.report(reference, *events)
    webhooks = eventually(
        lambda: found if len(found := shop.webhooks.of(reference)) > len(events) else None, f"webhooks of {reference}"
    )
    assert [webhook.kind for webhook in webhooks] == ["order.created", *events]
    return reference, webhooks


def signed(shop: Shop, body: bytes, *, secret: str = "", age: int = 0) -> Webhook:
    """The body with Waybill's own headers."""
    timestamp = str(int(time.time()) - age)
    key = (secret or shop.endpoint.secret).encode()
    signature = hmac.new(key, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    headers = {"Service-Timestamp": timestamp, "Service-Signature": f"sha256={signature}"}
    return Webhook(body, {"content-type": "application/json", **headers})


def changed(shop: Shop, webhook: Webhook, *, order: dict[str, Any] | None = None, **fields: Any) -> Webhook:
    """A signed webhook of another event, with other fields."""
    event = {**json.loads(webhook.body), "id": f"evt_{uuid.uuid4().hex}", **fields}
    event["order"].update(order or {})
    return signed(shop, json.dumps(event).encode())


class Latest:
    """A delivered order. When one more event of it is shown, the shop has processed everything before."""

    def __init__(self, shop: Shop) -> None:
        self.reference, self._webhooks = held_back(shop, *DELIVERY)
        self._shop = shop

    def until_processed(self) -> None:
        status = STATUSES[len(DELIVERY) - len(self._webhooks[1:])]
        assert self._shop.send(self._webhooks.pop(1)) == 200
        self._shop.until_shown(self.reference, status)


def test_webhooks_update_the_order(shop: Shop) -> None:
    reference = new_reference()
    assert shop.order(reference).delivery
    for events, status in ((DELIVERY[:2], "picked_up"), (DELIVERY[2:], "delivered")):
        shop.business.report(reference, *events)
        shop.until_shown(reference, status)


@pytest.mark.long
def test_repeated_and_shuffled_webhooks_leave_the_last_status(shop: Shop) -> None:
    latest = Latest(shop)
    reference, [created, assigned, picked_up, on_the_way, delivered] = held_back(shop, *DELIVERY)
    assert shop.send(picked_up) == 200
    shop.until_shown(reference, "picked_up")
    for webhook in (assigned, created, picked_up):
        assert shop.send(webhook) == 200
    latest.until_processed()
    assert shop.shows(reference, "picked_up")
    assert shop.send(delivered) == 200
    shop.until_shown(reference, "delivered")
    for webhook in (on_the_way, picked_up, delivered, assigned, created):
        assert shop.send(webhook) == 200
    latest.until_processed()
    assert shop.shows(reference, "delivered")


@pytest.mark.long
def test_concurrent_webhooks_leave_the_last_status(shop: Shop) -> None:
    latest = Latest(shop)
    reference, webhooks = held_back(shop, *DELIVERY)
    with ThreadPoolExecutor(2 * len(webhooks)) as threads:
        assert set(threads.map(shop.send, [*reversed(webhooks), *webhooks])) == {200}
    latest.until_processed()
    assert shop.shows(reference, "delivered")


def test_forged_and_old_webhooks_are_refused(shop: Shop) -> None:
    reference, [_, assigned] = held_back(shop, "driver.assigned")
    body = assigned.body
    later = {
        name: str(int(text) + 1) if "timestamp" in name.lower() else text for name, text in assigned.headers.items()
    }
    forged = {
        "no signature": Webhook(body, {"content-type": "application/json"}),
        "another secret": signed(shop, body, secret=OTHER_SECRET),
        "another body": replace(assigned, body=body.replace(b"driver_assigned", b"delivered")),
        "the same JSON in other bytes": replace(assigned, body=json.dumps(json.loads(body), indent=2).encode()),
        "another time": replace(assigned, headers=later),
        "an old recording": signed(shop, body, age=400),
        "a signature from the future": signed(shop, body, age=-400),
        "no event, and no signature": Webhook(b"not json", assigned.headers),
    }
    for name, webhook in forged.items():
        assert webhook != assigned, name
        assert shop.send(webhook) == 401, name
    assert shop.send(signed(shop, b"not json")) in {400, 401}
    # The test can make a good signature, the genuine one is accepted, and no forged one has moved the order on.
    assert shop.send(signed(shop, body)) == 200
    shop.until_shown(reference, "driver_assigned")
    assert shop.send(assigned) == 200


@pytest.mark.long
def test_unknown_webhooks_are_answered_and_change_nothing(shop: Shop) -> None:
    latest = Latest(shop)
    reference, [_, assigned, picked_up] = held_back(shop, "driver.assigned", "order.picked_up")
    stranger, delivered = new_reference(), {"status": "delivered"}
    low_balance = {"id": f"evt_{stranger}", "event": "wallet.low_balance", "mode": "live", "sequence": None}
    unknown = {
        "a kind of a later version": changed(shop, assigned, event="order.teleported", order=delivered),
        "the other mode": changed(shop, assigned, mode="test", order=delivered),
        "an order that the shop does not have": changed(
            shop, assigned, order={"orderReference": stranger, "id": f"ord_{stranger}", "trackingCode": stranger}
        ),
        "no order": signed(shop, json.dumps({**low_balance, "order": None, "data": {}}).encode()),
    }
    for name, webhook in unknown.items():
        assert shop.send(webhook) == 200, name
    latest.until_processed()
    assert shop.shows(reference, "created")
    assert shop.shown(stranger) is None
    assert shop.send(picked_up) == 200
    shop.until_shown(reference, "picked_up")


def test_an_outage_of_the_receiver_loses_no_event(shop: Shop) -> None:
    """Waybill itself repeats the webhooks."""
    reference = new_reference()
    assert shop.order(reference).delivery
    shop.kill_at(1)
    shop.business.report(reference, *DELIVERY)
    eventually(lambda: not shop.is_serving, "the death of the receiver")
    shop.serve()
    shop.webhooks.forward_to = shop.receiver_url
    shop.until_shown(reference, "delivered", pause=1.5)


def events_held_back(shop: Shop) -> Iterator[tuple[str, Webhook, str]]:
    """Reference, webhook and status of each event of as many orders as it takes."""
    while True:
        reference, webhooks = held_back(shop, *DELIVERY)
        for webhook, status in zip(webhooks[1:], STATUSES, strict=True):
            yield reference, webhook, status


def test_a_receiver_that_dies_applies_the_event(shop: Shop) -> None:
    """Kills it before its first message to the database, and before the last one."""
    deaths, unanswered = receive_and_die(shop, every_step=False)
    assert deaths >= 2 and unanswered >= 1, f"{deaths} deaths, {unanswered} without an answer"


@pytest.mark.long
def test_a_receiver_that_dies_at_any_step_applies_the_event(shop: Shop) -> None:
    """Kills it before its first message to the database, its second, …."""
    deaths, unanswered = receive_and_die(shop, every_step=True)
    assert deaths >= 3 and unanswered >= 3, f"{deaths} deaths, {unanswered} without an answer"


def receive_and_die(shop: Shop, *, every_step: bool) -> tuple[int, int]:
    """Kills the receiver at each of its steps, or at the first and the last, and repeats webhooks without a 200.

    Returns how often it died, and how often it gave no 200.
    """
    events = events_held_back(shop)
    # A new process prepares its statements again, so it sends more for its first event.
    shop.stop()
    shop.serve()
    taken = []
    for _ in range(2):
        reference, webhook, status = next(events)
        shop.steps.arm(None)
        assert shop.send(webhook) == 200
        shop.until_shown(reference, status)
        taken.append(shop.steps.taken)
    most, least = taken
    deaths = unanswered = 0
    steps = list(range(1, most + 1)) if every_step else [1, least]
    while steps:
        step = steps.pop(0)
        reference, webhook, status = next(events)
        shop.kill_at(step)
        answer = shop.send(webhook)
        eventually(lambda: not shop.is_serving or shop.shows(reference, status), f"{reference}: step {step}")  # noqa: B023
        shop.steps.arm(None)
        if not shop.is_serving:
            deaths += 1
            shop.serve()
        elif not every_step:
            # Messages that arrive together count as one: this event had fewer.
            steps.append(step - 1)
        if answer != 200:
            unanswered += 1
            assert shop.send(webhook) == 200
        shop.until_shown(reference, status)
    return deaths, unanswered


def test_the_feed_brings_what_no_webhook_brought(shop: Shop) -> None:
    reference, webhooks = held_back(shop, *DELIVERY)
    with shop.following():
        shop.until_shown(reference, "delivered")
        new, _ = held_back(shop, *DELIVERY[:2])
        shop.until_shown(new, "picked_up")
    for webhook in webhooks:
        assert shop.send(webhook) == 200
    shop.until_shown(reference, "delivered")


@pytest.mark.long
def test_a_follower_that_dies_at_any_step_loses_no_event(shop: Shop) -> None:
    references = [held_back(shop, *DELIVERY)[0] for _ in range(FOLLOWED_ORDERS)]
    for step in range(1, FOLLOW_STEPS + 1):
        assert shop.run_until(step, "follow").status == -9
    with shop.following():
        for reference in references:
            shop.until_shown(reference, "delivered")
