"""The feed of events: its iterators, the receiver that follows it, and `waybill listen` as a real program."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Optional

import httpx
from sqlalchemy import Connection, text

from waybill import AuthenticationError, InvalidRequestError, NoAnswerError, WaybillError
from waybill.aio import AsyncWaybill
from waybill.receiver import Receiver
from waybill.schema import SimulatedEvent, WebhookEvent
from waybill.sqlalchemy import SqlAlchemy

from .databases import engine_with_tables
from .receiver import HttpReceiver, http_receiver
from .support import (
    BASE_URL,
    ONE_ATTEMPT,
    Fault,
    TestCase,
    client,
    eventually,
    faulty_proxy,
    new_order,
    new_reference,
    new_test_key,
    variable,
)

MOVES: tuple[SimulatedEvent, ...] = ("driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered")
KINDS = ["order.created", *MOVES]


@functools.cache
def own_key() -> str:
    return new_test_key()


def moved_order() -> str:
    """Creates a test order and delivers it; its events are KINDS."""
    reference = new_reference()
    order = client(own_key()).orders.create(new_order(reference), idempotency_key=reference).order
    for move in MOVES:
        client(own_key()).orders.simulate(order["id"], move)
    return reference


def kinds_of(events: Any, reference: str) -> list[str]:
    return [e["event"] for e in list(events) if e["order"] and e["order"]["orderReference"] == reference]


class MemoryCursor:
    def __init__(self, cursor: Optional[str] = None) -> None:
        self.cursor = cursor

    def load(self) -> Optional[str]:
        return self.cursor

    def save(self, cursor: str) -> None:
        self.cursor = cursor


class Feed(TestCase):
    def test_list_page_and_get(self) -> None:
        events = client(own_key()).events
        start = events.page(starting_after="now").next
        reference = moved_order()
        eventually(lambda: kinds_of(events.list(starting_after=start), reference) == KINDS, "all events")
        # Other tests may create orders meanwhile.
        first, second = list(events.list(starting_after=start))[:2]
        self.assertEqual(events.get(first["id"]), first)
        self.assertEqual(next(events.list(starting_after=first["id"])), second)
        self.assertEqual(events.page(starting_after=start, limit=1).data, [first])
        chosen = events.list(starting_after=start, types=["order.delivered"])
        self.assertEqual(kinds_of(chosen, reference), ["order.delivered"])
        with self.assertRaises(InvalidRequestError) as caught:
            events.page(since="yesterday", types=["order.lost"])
        self.assertEqual({error["field"] for error in caught.exception.errors}, {"since", "types"})

    def test_follow_waits_out_an_outage_and_repeats_an_unhandled_event(self) -> None:
        cursor = MemoryCursor(client(own_key()).events.page(starting_after="now").next)
        retries: list[WaybillError] = []
        reference = moved_order()
        with faulty_proxy() as proxy:
            proxy.faults = [503] * 3
            events = client(own_key(), proxy.base_url, environment=ONE_ATTEMPT).events
            found: list[WebhookEvent] = []
            for event in events.follow(cursor, on_retry=retries.append):
                found.append(event)
                if kinds_of(found, reference) == KINDS[:2]:
                    break
            self.assertEqual(len(retries), 3)
            # The last event was not handled to its end.
            self.assertEqual(next(events.follow(cursor)), found[-1])
        with self.assertRaises(AuthenticationError):
            next(client("sk_test_waybill_wrong").events.follow(MemoryCursor()))

    def test_a_reader_ends_after_ten_answers_in_a_row_that_cannot_be_read(self) -> None:
        retries: list[str] = []
        with faulty_proxy() as proxy:
            proxy.said = b"<html>Welcome to the hotel</html>"
            events = client(own_key(), proxy.base_url, environment=ONE_ATTEMPT).events

            def follow(faults: list[Fault]) -> None:
                retries.clear()
                proxy.faults, stop = list(faults), threading.Event()
                reader = events.follow(
                    MemoryCursor(),
                    start="now",
                    stop=stop,
                    on_page=lambda _: stop.set(),
                    on_retry=lambda error: retries.append(error.code),
                )
                # It ends. Other tests may create events meanwhile.
                list(reader)

            with self.assertRaises(NoAnswerError) as caught:
                follow([200] * 11)
            self.assertEqual((caught.exception.code, retries), ("unusable_answer", ["unusable_answer"] * 9))
            # An outage in between starts the count again, and never ends the reader.
            follow([*[200] * 9, 503, *[200] * 9, *["cut-before"] * 20])
            self.assertEqual(len(retries), 39)

    def test_an_element_without_an_id_is_no_answer_of_the_service_and_any_other_shape_passes(self) -> None:
        with faulty_proxy() as proxy:
            events = client(own_key(), proxy.base_url, environment=ONE_ATTEMPT).events
            odd = {"id": "evt_1", "event": "order.created", "sequence": "one", "order": {"status": 5}, "data": []}
            proxy.faults, proxy.said = [200], json.dumps({"data": [odd], "hasMore": False, "next": "c"}).encode()
            self.assertEqual(events.page().data, [odd])
            proxy.faults, proxy.said = [200], b'{"data":[{"event":"order.created"}],"hasMore":false,"next":"c"}'
            with self.assertRaises(NoAnswerError) as caught:
                events.page()
            self.assertEqual(caught.exception.code, "unusable_answer")

    def test_the_receiver_follows_until_it_is_stopped(self) -> None:
        stop, waybill = threading.Event(), client(own_key())
        start = waybill.events.page(starting_after="now").next
        reference = moved_order()
        with engine_with_tables("postgresql") as engine:
            with engine.begin() as connection:
                connection.execute(text("INSERT INTO waybill_cursors VALUES ('shop', :start)"), {"start": start})
            applied: list[WebhookEvent] = []

            def apply(event: WebhookEvent, _: Connection) -> None:
                applied.append(event)
                if kinds_of(applied, reference) == KINDS:
                    stop.set()

            receiver = Receiver(SqlAlchemy(engine), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "test")
            for _ in range(2):
                receiver.follow(waybill, "shop", apply, wait_seconds=1, stop=stop)
            self.assertEqual(kinds_of(applied, reference), KINDS)

    def test_the_asynchronous_client_follows(self) -> None:

        start = client(own_key()).events.page(starting_after="now").next
        reference = moved_order()

        class Cursor(MemoryCursor):
            async def load(self) -> Optional[str]:  # type: ignore[override]
                return self.cursor

            async def save(self, cursor: str) -> None:  # type: ignore[override]
                self.cursor = cursor

        async def follow() -> list[WebhookEvent]:
            found: list[WebhookEvent] = []
            async with AsyncWaybill(own_key(), BASE_URL) as waybill:
                async for event in waybill.events.follow(Cursor(start)):
                    found.append(event)
                    if kinds_of(found, reference)[-1:] == KINDS[-1:]:
                        break
            return found

        self.assertEqual(kinds_of(asyncio.run(follow()), reference), KINDS)


class Listen(TestCase):
    def setUp(self) -> None:
        self.state = self.enter(TemporaryDirectory())
        self.environment = {
            **os.environ,
            "WAYBILL_API_KEY": own_key(),
            "WAYBILL_BASE_URL": variable("ORDER_API") + "/v1",
            "WAYBILL_STATE_DIRECTORY": self.state,
        }
        command = [sys.executable, "-m", "waybill", "listen", "--print-secret"]
        self.secret = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    def command(self, receiver: HttpReceiver) -> list[str]:
        return [sys.executable, "-m", "waybill", "listen", "--json", "--forward-to", receiver.url]

    @contextmanager
    def listening(self, receiver: HttpReceiver) -> Iterator[tuple[subprocess.Popen[str], list[dict[str, Any]]]]:
        lines: list[dict[str, Any]] = []
        with subprocess.Popen(
            self.command(receiver), env=self.environment, stdout=subprocess.PIPE, text=True
        ) as program:

            def read() -> None:
                lines.extend(json.loads(line) for line in program.stdout or ())

            reader = threading.Thread(target=read)
            reader.start()
            try:
                eventually(lambda: any(line["type"] == "ready" for line in lines), "ready")
                yield program, lines
            finally:
                program.terminate()
                program.wait(60)
                reader.join()

    def test_events_of_a_time_when_the_program_was_killed_arrive(self) -> None:
        with http_receiver(self.secret) as receiver:
            with self.listening(receiver) as (program, _):
                first = moved_order()
                eventually(lambda: kinds_of(receiver.taken, first) == KINDS, "all events")
                # The bytes are those of the service.
                last = receiver.taken[-1]["id"]
                asked = httpx.get(
                    f"{BASE_URL}/integration/events/{last}", headers={"Authorization": f"Bearer {own_key()}"}
                )
                self.assertEqual(receiver.bodies[last], asked.content)
                rival = subprocess.run(
                    self.command(receiver),
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=300,
                )
                self.assertEqual(rival.returncode, 1)
                self.assertRegex(rival.stderr, r"^Another listen forwards the same events \(process \d+, ")
                program.send_signal(signal.SIGSTOP)
                second = moved_order()
                program.send_signal(signal.SIGCONT)
                eventually(lambda: kinds_of(receiver.taken, second) == KINDS, "the events of its sleep")
                program.kill()
            third = moved_order()
            with self.listening(receiver):
                eventually(lambda: kinds_of(receiver.taken, third)[-len(KINDS) :] == KINDS, "the missed events")
            self.assertEqual(receiver.overlaps, 0)

    def test_a_receiver_that_refuses_or_hangs_takes_every_event_in_order(self) -> None:
        with http_receiver(self.secret) as receiver, self.listening(receiver) as (_, lines):

            def failures() -> list[dict[str, Any]]:
                return [line for line in lines if line.get("failure")]

            receiver.answers = [500, -1]
            references = [moved_order(), moved_order()]
            eventually(lambda: all(kinds_of(receiver.taken, one) == KINDS for one in references), "all events")
            # It may be an event of another test that hangs, and longer than these take.
            eventually(lambda: len(failures()) == 2, "both failures")
            self.assertCountEqual(
                [(line["status"], line["failure"]) for line in failures()],
                [(500, "said the receiver"), (None, "no complete answer in 10 s")],
            )

    def test_a_receiver_that_was_down_takes_every_event_in_order(self) -> None:
        with http_receiver(self.secret) as receiver:
            port = receiver.port
        with self.listening(receiver) as (_, lines):
            reference = moved_order()
            failed = eventually(lambda: [line for line in lines if line.get("failure")], "a failed attempt")
            self.assertEqual((failed[0]["failure"], failed[0]["attempt"]), ("nothing listens there", 1))
            with http_receiver(self.secret, port) as opened:
                eventually(lambda: kinds_of(opened.taken, reference) == KINDS, "all events")
