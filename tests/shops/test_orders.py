"""One delivery and one debit for each order, whatever the shop, the network and the wallet do."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from shop import QUICK, Shop
from stack import ORDER_API, Business, eventually, new_reference
from wires import Network

#: Far more than a command sends. An endless loop would otherwise never end.
STEPS_MAX = 100
CONCURRENT = 4
#: Bounds the attempts of a shop that never succeeds.
REQUESTS_MAX = 20


def test_an_order_is_delivered_once(shop: Shop) -> None:
    reference = new_reference()
    created = shop.order(reference)
    assert created.delivery, created.said
    assert shop.sync(reference).delivery == created.delivery
    again = shop.order(reference)
    assert again.status != 0, again.said
    unknown = shop.sync(new_reference())
    assert unknown.status != 0, unknown.said
    shown = shop.shown(reference)
    assert shown and (shown.sync_status, shown.tracking_url) == ("created", created.delivery)
    assert shop.business.deliveries_and_debits(reference) == (1, 1)


@pytest.mark.long
def test_duplicate_calls_send_one_request(shop: Shop) -> None:
    reference = new_reference()
    with Network(ORDER_API) as network, ThreadPoolExecutor(CONCURRENT) as threads:
        network.faults = ["hold"]
        first = threads.submit(shop.order, reference, BASE_URL=network.base_url)
        assert network.held.wait(60)
        others = [threads.submit(shop.sync, reference, BASE_URL=network.base_url) for _ in range(CONCURRENT - 1)]
        # The request is held for less time than its lease.
        outcomes = [other.result() for other in others]
        network.release.set()
        assert first.result().delivery, first.result().said
        assert all(outcome.in_progress for outcome in outcomes), outcomes
        assert len(network.connections) == 1
    assert shop.business.deliveries_and_debits(reference) == (1, 1)


@pytest.mark.long
def test_a_dead_process_keeps_others_away_until_its_lease_ends(shop: Shop) -> None:
    reference = new_reference()
    with Network(ORDER_API) as network:
        network.faults = ["hold"]
        process = shop.start("order", reference, "prepaid", BASE_URL=network.base_url)
        assert network.held.wait(60)
        process.kill()
        process.communicate()
        outcome = shop.sync(reference, BASE_URL=network.base_url)
        assert outcome.in_progress, outcome.said
        assert len(network.connections) == 1


@pytest.mark.long
def test_lost_requests_and_answers_are_repeated_with_the_same_bytes(shop: Shop) -> None:
    reference = new_reference()
    # Otherwise a webhook may prove the delivery.
    shop.webhooks.forward_to = None
    with Network(ORDER_API) as network:
        # More than one call repeats in its time, so that another call has to go on.
        network.faults = ["cut-before", "cut-after", "cut-after", "cut-after", "cut-after", "cut-after"]
        result = shop.order(reference, BASE_URL=network.base_url, **QUICK)
        assert result.status != 0, result.said
        while not result.delivery and len(network.connections) < REQUESTS_MAX:
            result = shop.sync(reference, BASE_URL=network.base_url, **QUICK)
        assert result.delivery, result.said
        posted = network.posted()
        # A client may send the body behind the headers, and then the first request has none.
        assert not network.faults and len(posted) >= 6
        assert len(set(posted)) == 1, posted
    assert shop.business.deliveries_and_debits(reference) == (1, 1)


@pytest.mark.long
def test_an_outage_fails_no_order(shop: Shop) -> None:
    reference = new_reference()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        failed = shop.order(reference, BASE_URL=nowhere, **QUICK)
    assert failed.status != 0 and "unreachable" in failed.said, failed.said
    shown = shop.shown(reference)
    assert shown and shown.sync_status == "failed" and shown.error != "-"
    assert shop.sync(reference).delivery
    assert shop.business.deliveries_and_debits(reference) == (1, 1)


@pytest.mark.long
def test_an_empty_wallet_fails_no_order_and_a_top_up_sends_it(shop: Shop) -> None:
    reference, poor = new_reference(), Business(top_up_paise=4_000)
    refused = shop.order(reference, API_KEY=poor.key)
    assert refused.status != 0 and "insufficient_wallet_balance" in refused.said, refused.said
    shown = shop.shown(reference)
    assert shown and shown.sync_status == "failed" and shown.error != "-"
    assert poor.deliveries_and_debits(reference) == (0, 0)
    poor.top_up(4_000)
    sent = shop.sync(reference, API_KEY=poor.key)
    assert sent.delivery, sent.said
    shown = shop.shown(reference)
    assert shown and (shown.sync_status, shown.error) == ("created", "-")
    assert poor.deliveries_and_debits(reference) == (1, 1)


@pytest.mark.long
def test_a_409_with_the_existing_delivery_is_recovered(shop: Shop) -> None:
    reference = new_reference()
    # Otherwise a webhook may prove the delivery.
    shop.webhooks.forward_to = None
    existing = shop.business.place(reference, f"another-key-{reference}")
    recovered = shop.order(reference)
    assert recovered.delivery == existing["trackingUrl"], recovered.said
    shown = shop.shown(reference)
    assert shown and (shown.sync_status, shown.tracking_url) == ("created", existing["trackingUrl"])
    assert shop.business.deliveries_and_debits(reference) == (1, 1)


def test_a_process_that_dies_leaves_one_delivery(shop: Shop) -> None:
    """Kills the command before its first message, before its request, and before it stores the answer."""
    references = [new_reference() for _ in range(3)]
    steps = (
        lambda reference: shop.run_until(1, "order", reference, "prepaid"),
        lambda reference: shop.run_until(1, "order", reference, "prepaid", to="waybill"),
        lambda reference: shop.run_until(1, "order", reference, "prepaid", to="database", after_answer=True),
    )
    with ThreadPoolExecutor(CONCURRENT) as threads:
        killed = list(threads.map(lambda step, reference: step(reference), steps, references))
        assert [result.status for result in killed] == [-9, -9, -9], killed
        assert [len(shop.business.orders(reference)) for reference in references] == [0, 0, 1]
        list(threads.map(lambda reference: recover(shop, reference), references))
    for reference in references:
        assert shop.business.deliveries_and_debits(reference) == (1, 1), reference


@pytest.mark.long
def test_a_process_that_dies_at_any_step_leaves_one_delivery(shop: Shop) -> None:
    """Kills the command before its first message, its second, …, until it ends before it is killed.

    Repeats that from Waybill's answer on, because the number of messages before it may vary.
    """
    early, late = kill_at_each_step(shop, after_answer=False), kill_at_each_step(shop, after_answer=True)
    assert len(early) >= 3 and late
    assert all(shop.business.orders(reference) for reference in late)
    with ThreadPoolExecutor(CONCURRENT) as threads:
        list(threads.map(lambda reference: recover(shop, reference), early + late))
    for reference in early + late:
        assert shop.business.deliveries_and_debits(reference) == (1, 1), reference


def kill_at_each_step(shop: Shop, *, after_answer: bool) -> list[str]:
    """The references of the orders whose processes were killed."""
    killed: list[str] = []

    def die(step: int) -> bool:
        reference = new_reference()
        result = shop.run_until(step, "order", reference, "prepaid", after_answer=after_answer)
        assert result.status in {0, -9}, result.said
        if result.status == -9:
            killed.append(reference)
        return result.status == -9

    with ThreadPoolExecutor(CONCURRENT) as threads:
        for first in range(1, STEPS_MAX, CONCURRENT):
            if not all(threads.map(die, range(first, first + CONCURRENT))):
                return killed
    raise AssertionError("the command does not end")


def recover(shop: Shop, reference: str) -> None:
    """What the customer and the staff do: the checkout again, then `sync` until there is a delivery."""
    if not shop.order(reference, **QUICK).delivery:
        eventually(lambda: shop.sync(reference, **QUICK).delivery, f"the delivery of {reference}", pause=2.5)
