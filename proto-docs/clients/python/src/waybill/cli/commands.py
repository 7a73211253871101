"""The short commands: events, orders, verify."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Optional, cast

from ..errors import NoAnswerError, ServerError, WebhookError
from ..schema import SimulatedEvent
from ..webhooks import construct_event
from .diagnosis import NamedSecret, diagnose
from .feed import Feed
from .output import (
    FAILED,
    OK,
    UsageError,
    explain,
    read_input,
    read_json,
    say,
    say_error,
    say_json,
    until_answered,
    waybill,
)
from .state import listen_secret


class _NoCursor:
    def load(self) -> Optional[str]:
        return None

    def save(self, cursor: str) -> None:
        """Every run begins again."""


def list_events(options: Namespace) -> None:
    events, types = waybill().events, kinds(options)
    page = events.page(since=options.since, types=types)
    while True:
        for body in page.bodies:
            say(body.decode())
        if not page.has_more:
            return
        page = events.page(starting_after=page.next, types=types)


def follow_events(options: Namespace) -> None:
    """Prints later events, or those since a time, until it is stopped."""
    feed, events = Feed(), waybill().events
    start = options.since or "now"

    def follow() -> None:
        for event in events.follow(
            _NoCursor(), types=kinds(options), start=start, on_page=feed.on_page, on_retry=feed.on_retry
        ):
            say(feed.body_of(event).decode())

    until_answered(follow)


def create_order(options: Namespace) -> int:
    if not options.idempotency_key:
        raise UsageError("orders create needs --idempotency-key, stable for the order.")
    body = read_input(options.file).decode("utf-8", "replace")
    try:
        created = waybill().orders.create(body, idempotency_key=options.idempotency_key)
    except (NoAnswerError, ServerError) as error:
        code = explain(error)
        say_error(
            "It is unknown whether the order was created. Repeat the command: the same key creates no second one."
        )
        return code
    say_json({**created.order, "replayed": created.replayed})
    return OK


def get_order(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders get needs the order's id.")
    say_json(waybill().orders.get(order_id))


def list_orders(options: Namespace) -> None:
    """Prints orders as JSON lines."""
    for order in waybill().orders.list(order_reference=options.reference, status=options.status):
        say_json(order)


def cancel_order(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders cancel needs the order's id.")
    say_json(waybill().orders.cancel(order_id, reason=options.reason))


def reattempt_order(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders reattempt needs the order's id.")
    say_json(waybill().orders.reattempt(order_id, date=options.date, note=options.note))


def return_order(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders return needs the order's id.")
    say_json(waybill().orders.request_return(order_id))


def correct_delivery(options: Namespace) -> None:
    """The file has the address. The service checks it."""
    [order_id] = _parameters(options, 1, "orders correct needs the order's id.")
    if options.phone is None and options.file is None:
        raise UsageError("orders correct needs --phone, --file with the address, or both.")
    delivery = None if options.file is None else read_json(options.file)
    say_json(waybill().orders.correct_delivery(order_id, phone=options.phone, delivery=delivery))


def issue_delivery_code(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders delivery-code needs the order's id.")
    say(waybill().orders.issue_delivery_code(order_id))


def print_evidence(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders evidence needs the order's id.")
    say_json(waybill().orders.evidence(order_id))


def print_timeline(options: Namespace) -> None:
    [order_id] = _parameters(options, 1, "orders timeline needs the order's id.")
    for entry in waybill().orders.timeline(order_id, on_incomplete=_say_incomplete):
        say_json(entry)


def _say_incomplete(services: Sequence[str]) -> None:
    say_error(f"The entries of {' and '.join(services)} are missing. Repeat the command later.")


def simulate_order(options: Namespace) -> None:
    needs = "orders simulate needs the order's id and an event, such as auto."
    order_id, event = _parameters(options, 2, needs)
    say_json(waybill().orders.simulate(order_id, cast(SimulatedEvent, event)))


def verify(options: Namespace) -> int:
    """Tells whether a recorded webhook has a valid signature, and if not, why."""
    if not re.fullmatch(r"[0-9]{1,9}", options.tolerance):
        raise UsageError("--tolerance must be a whole number of seconds.")
    headers = dict(_header(line) for line in options.header)
    own = os.environ.get("WAYBILL_WEBHOOK_SECRET")
    secret = NamedSecret("WAYBILL_WEBHOOK_SECRET", own) if own else _of_listen()
    prefix, tolerance_seconds = options.header_prefix, int(options.tolerance)
    body = read_input(options.body)
    try:
        event = construct_event(body, headers, secret.secret, header_prefix=prefix, tolerance_seconds=tolerance_seconds)
    except WebhookError as error:
        say_error(f"invalid ({error.reason}): {error.message}")
        other = _of_listen() if own else None
        for mistake in diagnose(error, body, headers, secret, other, prefix, tolerance_seconds):
            say_error(f"  {mistake}")
        return FAILED
    say(f"valid: the signature of {event['event']} {event['id']} matches")
    return OK


def _of_listen() -> NamedSecret:
    return NamedSecret("the secret of listen", listen_secret())


def kinds(options: Namespace) -> Sequence[str]:
    return [kind.strip() for kind in (options.events or "").split(",") if kind.strip()]


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise UsageError("--header must be 'Name: value'.")
    return name.strip(), value.strip()


def _parameters(options: Namespace, count: int, needs: str) -> Sequence[str]:
    given: list[str] = options.words[2 : 2 + count]
    if len(given) < count:
        raise UsageError(needs)
    return given
