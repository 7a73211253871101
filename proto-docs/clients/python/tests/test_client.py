"""The client against a real stack, directly and through a proxy that fails."""

from __future__ import annotations

import json
import os
import pickle
import time
import traceback
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from unittest import mock

from waybill import (
    AuthenticationError,
    ConflictError,
    Environment,
    ExchangeResult,
    InsufficientBalanceError,
    InvalidRequestError,
    NoAnswerError,
    OrderExistsError,
    PermissionDeniedError,
    ServerError,
    Waybill,
)
from waybill._secret import redact
from waybill.aio import AsyncWaybill

from .support import (
    BASE_URL,
    LIVE_KEY,
    ONE_ATTEMPT,
    TEST_KEY,
    Fault,
    TestCase,
    client,
    faulty_proxy,
    new_order,
    new_reference,
    orders_and_debits,
)

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
NO_PAUSES = Environment(sleep=lambda _: None, jitter=lambda: 0.0)


class ThroughAFailingNetwork(TestCase):
    def setUp(self) -> None:
        self.proxy = self.enter(faulty_proxy())

    def test_one_order_and_one_debit(self) -> None:
        singles: list[list[Fault]] = [["cut-before"], ["cut-after"], ["cut-body"], ["hang"], [429], [503], [500], [408]]
        live = client(LIVE_KEY)
        several: list[Fault] = ["cut-after", 503, "cut-body", 429]
        for faults in [*singles, several]:
            with self.subTest(faults=faults):
                # Only what hangs needs a short limit: on a busy machine, an order may take longer.
                hangs = "hang" in faults
                limit = 3.0 if hangs else 15.0
                waybill = client(LIVE_KEY, self.proxy.base_url, attempt_timeout_s=limit, environment=NO_PAUSES)
                reference = new_reference()
                self.proxy.faults, self.proxy.seen = list(faults), []
                created = waybill.orders.create(new_order(reference), idempotency_key=f"shop-{reference}")
                superfluous = len(self.proxy.seen) - len(faults) - 1
                self.assertTrue(superfluous >= 0 if hangs else superfluous == 0, superfluous)
                self.assertEqual(len(set(self.proxy.seen)), 1)
                orders, debits = orders_and_debits(live, reference)
                self.assertEqual(([order["id"] for order in orders], debits), ([created.order["id"]], 1))

    def test_a_call_ends_at_its_deadline(self) -> None:
        self.proxy.faults = ["hang"] * 9
        waybill = client(TEST_KEY, self.proxy.base_url, attempt_timeout_s=0.3, deadline_s=1.5)
        started_at = time.monotonic()
        with self.assertRaises(NoAnswerError) as caught:
            waybill.orders.create(new_order(new_reference()), idempotency_key=new_reference())
        self.assertEqual(caught.exception.code, "timeout")
        self.assertLess(time.monotonic() - started_at, 5.0)
        self.assertGreaterEqual(len(self.proxy.seen), 2)

    def test_retry_after_is_honoured_unless_it_is_too_long(self) -> None:
        pauses: list[float] = []
        environment = Environment(sleep=pauses.append, jitter=lambda: 0.5)
        waybill = client(TEST_KEY, self.proxy.base_url, environment=environment)
        self.proxy.faults = [503, 503]
        waybill.orders.create(new_order(new_reference()), idempotency_key=new_reference())
        self.assertEqual(pauses, [0.5, 1.0])
        self.proxy.faults, self.proxy.retry_after = [429], "7"
        waybill.orders.create(new_order(new_reference()), idempotency_key=new_reference())
        self.assertEqual(pauses[2:], [7.0])
        self.proxy.faults, self.proxy.retry_after = [503], "61"
        with self.assertRaises(ServerError) as caught:
            waybill.orders.get("ord_1")
        self.assertEqual((len(pauses), caught.exception.retry_after), (3, 61.0))

    def test_a_simulated_move_is_never_sent_twice(self) -> None:
        waybill = client(TEST_KEY, self.proxy.base_url)
        order = waybill.orders.create(new_order(new_reference()), idempotency_key=new_reference()).order
        self.proxy.faults, self.proxy.seen = ["cut-after"], []
        with self.assertRaises(NoAnswerError):
            waybill.orders.simulate(order["id"], "driver.assigned")
        self.assertEqual(len(self.proxy.seen), 1)
        self.assertEqual(waybill.orders.get(order["id"])["status"], "driver_assigned")


class Answers(unittest.TestCase):
    def setUp(self) -> None:
        self.test, self.live = client(TEST_KEY), client(LIVE_KEY)

    def test_a_repeated_key_replays_and_another_body_is_refused(self) -> None:
        reference = new_reference()
        first = self.test.orders.create(new_order(reference), idempotency_key=reference)
        second = self.test.orders.create(new_order(reference), idempotency_key=reference)
        self.assertEqual((first.replayed, second.replayed, second.order), (False, True, first.order))
        with self.assertRaises(InvalidRequestError) as caught:
            self.test.orders.create(new_order(reference, 5000), idempotency_key=reference)
        self.assertEqual((caught.exception.status, caught.exception.code), (422, "idempotency_key_reused"))

    def test_an_existing_reference_carries_its_order(self) -> None:
        reference = new_reference()
        first = self.test.orders.create(new_order(reference), idempotency_key=f"a-{reference}").order
        with self.assertRaises(OrderExistsError) as caught:
            self.test.orders.create(new_order(reference), idempotency_key=f"b-{reference}")
        found = caught.exception.order
        self.assertEqual((found["id"], found["trackingUrl"]), (first["id"], first["trackingUrl"]))

    def test_a_400_names_every_field_and_the_request(self) -> None:
        with self.assertRaises(InvalidRequestError) as caught:
            self.test.orders.create(new_order("", 0), idempotency_key="wrong")
        fields = sorted(error["field"] for error in caught.exception.errors)
        self.assertEqual(fields, ["orderReference", "payment.deliveryFeePaise"])
        self.assertRegex(caught.exception.request_id or "", "^req_")
        self.assertIn("payment.deliveryFeePaise: ", str(caught.exception))

    def test_a_fee_above_the_balance_is_a_shortfall(self) -> None:
        reference = new_reference()
        with self.assertRaises(InsufficientBalanceError) as caught:
            self.live.orders.create(new_order(reference, 100_000_000_000), idempotency_key=reference)
        error = caught.exception
        self.assertEqual(error.shortfall_paise, (error.required_paise or 0) - (error.balance_paise or 0))

    def test_a_live_key_simulates_nothing_and_an_order_is_cancelled_once(self) -> None:
        reference = new_reference()
        order = self.live.orders.create(new_order(reference), idempotency_key=reference).order
        with self.assertRaises(PermissionDeniedError):
            self.live.orders.simulate(order["id"], "auto")
        cancelled = self.live.orders.cancel(order["id"], reason="changed their mind")
        self.assertEqual((cancelled["status"], cancelled["reason"]), ("cancelled", "changed their mind"))
        self.assertEqual(self.live.orders.cancel(order["id"])["status"], "cancelled")
        moved = self.test.orders.create(new_order(reference), idempotency_key=reference).order
        self.test.orders.simulate(moved["id"], "driver.assigned")
        self.test.orders.simulate(moved["id"], "order.picked_up")
        with self.assertRaises(ConflictError) as caught:
            self.test.orders.cancel(moved["id"])
        self.assertEqual(caught.exception.code, "order_not_cancellable")
        corrected = self.test.orders.correct_delivery(moved["id"], phone="+919800000009")
        self.assertEqual(corrected["customer"]["phone"], "+919800000009")
        self.test.orders.simulate(moved["id"], "order.failed")
        again = self.test.orders.reattempt(moved["id"], note="ring twice")["reattempt"]
        assert again is not None
        self.assertEqual((again["number"], again["note"]), (2, "ring twice"))
        self.assertIsNotNone(self.test.orders.request_return(moved["id"])["returnRequestedAt"])
        code = self.test.orders.issue_delivery_code(moved["id"])
        self.assertEqual(self.test.orders.issue_delivery_code(moved["id"]), code)
        evidence = self.test.orders.evidence(moved["id"])
        self.assertEqual((len(evidence["attempts"]), evidence["intact"]), (1, True))
        with self.assertRaises(ConflictError) as caught:
            self.live.orders.reattempt(order["id"])
        self.assertEqual(caught.exception.code, "reattempt_not_possible")

    def test_lists_continue_over_pages(self) -> None:
        references = [new_reference() for _ in range(3)]
        for reference in references:
            self.test.orders.create(new_order(reference), idempotency_key=reference)
        minute_ago = (datetime.now(timezone.utc) - timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
        for updated_after in (None, minute_ago):
            listed = self.test.orders.list(page_size=2, updated_after=updated_after)
            found = {order["orderReference"] for order in listed}
            self.assertLessEqual(set(references), found)
        listed = self.test.orders.list(search=references[0], payment_type="prepaid", created_from=minute_ago)
        self.assertIn(references[0], [order["orderReference"] for order in listed])
        self.assertEqual(list(self.test.orders.list(search=references[0], created_until="2020-01-01T00:00:00Z")), [])


class OtherPrograms(TestCase):
    def test_their_answers_are_none_of_the_service_whatever_the_fields_are(self) -> None:
        proxy = self.enter(faulty_proxy())
        impatient, order = client(TEST_KEY, proxy.base_url, environment=ONE_ATTEMPT), "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV"
        proxy.faults = [200, 502, 409]
        proxy.said = b'{"message":{"a":1},"code":"order_reference_exists","errors":"x","order":{"id":1}}'
        with self.assertRaises(NoAnswerError) as unusable:
            impatient.orders.get(order)
        self.assertEqual(unusable.exception.code, "unusable_answer")
        with self.assertRaises(ServerError) as failed:
            impatient.orders.get(order)
        self.assertEqual((failed.exception.message, failed.exception.errors), ("The service answered 502.", []))
        with self.assertRaises(ConflictError) as conflict:
            impatient.orders.get(order)
        self.assertNotIsInstance(conflict.exception, OrderExistsError)

    def test_a_timeline_names_the_services_whose_entries_are_missing(self) -> None:
        proxy = self.enter(faulty_proxy())
        proxy.faults, missing = [200], list[str]()
        proxy.said = b'{"data":[],"hasMore":false,"incomplete":["wallet"]}'
        orders = client(TEST_KEY, proxy.base_url).orders
        entries = orders.timeline("ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", on_incomplete=missing.extend)
        self.assertEqual((list(entries), missing), ([], ["wallet"]))


class Keys(unittest.TestCase):
    def test_are_redacted_in_errors_dumps_hooks_and_tracebacks(self) -> None:
        results: list[ExchangeResult] = []
        key = TEST_KEY[:-1] + ("1" if TEST_KEY.endswith("0") else "0")
        waybill = client(key, on_response=results.append, app_info="shop/1")
        with self.assertRaises(AuthenticationError) as caught:
            waybill.orders.get("ord_1")
        # Error trackers show the local variables of each frame like this.
        trace = traceback.TracebackException.from_exception(caught.exception, capture_locals=True)
        shown = [repr(waybill), repr(vars(waybill.orders)["_transport"].settings), repr(results), *trace.format()]
        # This test's own variable is none of the client's.
        self.assertFalse([text for text in shown if key[12:] in text and "key = " not in text])
        self.assertEqual(results[0].exchange.headers["authorization"], "Bearer sk_test_…")
        self.assertRegex(results[0].exchange.headers["user-agent"], r"^waybill-python/\S+ python/\S+ shop/1$")
        self.assertEqual((results[0].status, results[0].request_id), (401, caught.exception.request_id))
        with self.assertRaises(TypeError):
            pickle.dumps(waybill)

    def test_are_redacted_wherever_a_text_or_an_answer_contains_them(self) -> None:
        urls: list[str] = []
        with faulty_proxy() as proxy:
            waybill = client(
                TEST_KEY,
                proxy.base_url,
                environment=ONE_ATTEMPT,
                on_request=lambda exchange: urls.append(exchange.url),
            )
            fields = {"code": TEST_KEY, "missing": [TEST_KEY], "errors": [{"field": TEST_KEY, "message": "x"}]}
            proxy.said, proxy.faults = json.dumps(fields).encode(), [401, 403]
            for kind in (AuthenticationError, PermissionDeniedError):
                with self.assertRaises(kind) as caught:
                    waybill.events.page(starting_after=f'"{TEST_KEY}"')
                self.assertNotIn(TEST_KEY[12:], repr(vars(caught.exception)))
                self.assertEqual(caught.exception.missing, ["sk_test_…"])
                self.assertEqual(caught.exception.body["missing"], ["sk_test_…"])
        self.assertTrue(all("%22sk_test_…" in url and TEST_KEY[12:] not in url for url in urls), urls)

    def test_a_live_key_is_sent_over_plain_http_to_this_machine_only(self) -> None:
        urls = json.loads((VECTORS / "live-urls.json").read_text(encoding="utf-8"))
        for url in urls["allowed"]:
            with self.subTest(url):
                client(LIVE_KEY, url)
        for url in [*urls["refused"], "http://127.0.0.1 .example/v1"]:
            with self.subTest(url):
                client(TEST_KEY, url)
                with self.assertRaisesRegex(ValueError, "https"):
                    client(LIVE_KEY, url)

    def test_values_of_an_order_that_look_like_keys_stay_as_they_are(self) -> None:
        order = {"id": "ord_1", "trackingCode": "c", "trackingUrl": "u", "status": "created"}
        order["orderReference"] = "desk-sk_test_17"
        body = json.dumps({"code": "order_reference_exists", "message": "?", "order": order})
        # Behind an escape, and with one inside, the key is still found.
        message = f"key:\\n{TEST_KEY[:-1]}\\u00{ord(TEST_KEY[-1]):x}"
        with faulty_proxy() as proxy:
            proxy.faults, proxy.said = [409], body.replace("?", message).encode()
            with self.assertRaises(OrderExistsError) as caught:
                client(TEST_KEY, proxy.base_url).orders.create(new_order("1"), idempotency_key="1")
        self.assertEqual(caught.exception.message, "key: sk_test_…")
        self.assertEqual(caught.exception.order["orderReference"], "desk-sk_test_17")
        text = "risk_live_1 desk_test_17 (sk_live_1)"
        self.assertEqual(redact(text), "risk_live_1 desk_test_17 (sk_live_…)")
        self.assertEqual(redact(f"n{LIVE_KEY}"), "nsk_live_…")

    def test_times_are_positive_and_at_most_a_day(self) -> None:
        for seconds in (0.0, -1.0, float("nan"), float("inf"), 86_400.1):
            with self.assertRaises(ValueError):
                client(TEST_KEY, attempt_timeout_s=seconds)
            with self.assertRaises(ValueError):
                client(TEST_KEY, deadline_s=seconds)

    def test_the_key_and_the_url_come_from_the_environment_unless_they_are_given(self) -> None:
        variables = {"WAYBILL_API_KEY": LIVE_KEY, "WAYBILL_BASE_URL": BASE_URL}
        with mock.patch.dict(os.environ, variables):
            self.assertEqual((Waybill().mode, AsyncWaybill().mode), ("live", "live"))
            Waybill().events.page(limit=1)
            self.assertEqual(Waybill(TEST_KEY).mode, "test")
            with self.assertRaisesRegex(ValueError, "api_key .*WAYBILL_API_KEY"):
                Waybill("")
        for name, option in (("WAYBILL_API_KEY", "api_key"), ("WAYBILL_BASE_URL", "base_url")):
            others = {other: value for other, value in variables.items() if other != name}
            for given in ({}, {name: ""}):
                with mock.patch.dict(os.environ, {**others, **given}):
                    if not given:
                        os.environ.pop(name, None)
                    for kind in (Waybill, AsyncWaybill):
                        with self.assertRaisesRegex(ValueError, f"{option} .*{name}"):
                            kind()

    def test_wrong_arguments_are_refused_before_any_call(self) -> None:
        for key, base_url in (("", BASE_URL), (f"{TEST_KEY}\n", BASE_URL), (TEST_KEY, "https://api.example")):
            with self.assertRaises(ValueError) as caught:
                client(key, base_url)
            self.assertNotIn(TEST_KEY, str(caught.exception))
        waybill = client(TEST_KEY)
        with self.assertRaises(ValueError):
            waybill.orders.create(new_order("x"), idempotency_key="")
        with self.assertRaises(ValueError):
            waybill.orders.get("../orders")
