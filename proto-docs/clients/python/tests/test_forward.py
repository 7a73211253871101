"""The forwarder of `waybill listen` and what it keeps on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Optional, cast

from waybill import sign_test_event
from waybill.cli.forward import Attempt, Forwarder
from waybill.schema import WebhookEvent
from waybill.webhooks import SigningSecret

from .support import (
    BASE_URL,
    LIVE_KEY,
    TEST_KEY,
    TestCase,
    client,
    eventually,
    faulty_proxy,
    new_order,
    new_reference,
)
from .test_webhooks import VECTORS

LISTEN = ["listen", "--forward-to", "http://127.0.0.1:9/"]


def event(number: int, order: str) -> WebhookEvent:
    about = {"id": order, "orderReference": order}
    return cast(WebhookEvent, {"id": f"evt_{number}", "event": "order.delivered", "sequence": number, "order": about})


class Forwarding(TestCase):
    def setUp(self) -> None:
        self.started: list[str] = []
        self.sent: list[str] = []
        self.saved: list[Optional[str]] = []
        self.done: list[str] = []
        self.attempts: list[dict[str, int]] = []
        self.refused: set[str] = set()
        self.down = 0
        self.reports: list[tuple[str, bool, int, bool]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.forwarder = Forwarder(
            self.send, self.report, self.save, cursor="at_0", retries_s=(0.01, 0.01), unreachable_pause_s=0.01
        )
        self.addCleanup(self.forwarder.close)

    def send(self, body: bytes) -> Attempt:
        name = body.decode()
        self.started.append(name)
        self.gate.wait(10)
        self.sent.append(name)
        if self.down:
            self.down -= 1
            return Attempt(None, 1, "nothing listens there", unreachable=True)
        return Attempt(500, 1, "refused") if name in self.refused else Attempt(200, 1, None)

    def save(self, cursor: Optional[str], done: Sequence[str], attempts: Mapping[str, int]) -> None:
        self.saved.append(cursor)
        self.done = list(done)
        self.attempts.append(dict(attempts))

    def offer(self, number: int, order: str) -> None:
        self.forwarder.offer(event(number, order), f"evt_{number}".encode())

    def report(self, event: WebhookEvent, attempt: Attempt, number: int, again_s: Optional[float]) -> None:
        self.reports.append((event["id"], attempt.failure is None, number, again_s is not None))

    def test_each_order_in_sequence_and_the_cursor_behind_the_first_open_event(self) -> None:
        self.refused = {"evt_1"}
        self.gate.clear()
        for number, order in ((1, "ord_a"), (2, "ord_b"), (3, "ord_a"), (4, "ord_b")):
            self.offer(number, order)
            eventually(lambda: len(self.started) >= min(number, 2), "an attempt")  # noqa: B023 - used at once
        self.assertEqual(sorted(self.started), ["evt_1", "evt_2"])
        self.forwarder.reached("at_end")
        self.assertEqual(set(self.saved), {"at_0"})
        self.assertEqual(self.done, ["at_end"])
        self.gate.set()
        eventually(lambda: self.saved[-1:] == ["at_end"], "the last cursor")
        # Two retries follow; then the event is given up, and the next one of its order is sent.
        order_a = [name for name in self.sent if name in {"evt_1", "evt_3"}]
        order_b = [name for name in self.sent if name in {"evt_2", "evt_4"}]
        self.assertEqual((order_a, order_b), (["evt_1", "evt_1", "evt_1", "evt_3"], ["evt_2", "evt_4"]))
        attempts = [report for report in self.reports if report[0] == "evt_1"]
        self.assertEqual([each[1:] for each in attempts], [(False, 1, True), (False, 2, True), (False, 3, False)])
        # No cursor is saved before all events before it have ended.
        self.assertIn(next(name for name in self.saved if name != "at_0"), {"evt_1", "evt_2", "evt_4"})
        self.assertNotIn("evt_1", self.sent[self.sent.index("evt_3") :])
        self.assertEqual(self.done, [])
        self.assertIn({"evt_1": 2}, self.attempts)
        self.assertEqual(self.attempts[-1], {})

    def test_attempts_of_an_earlier_run_count(self) -> None:
        self.refused = {"evt_1"}
        self.forwarder.offer(event(1, "ord_a"), b"evt_1", 1)
        eventually(lambda: len(self.reports) == 2, "the last two attempts")
        self.assertEqual([each[1:] for each in self.reports], [(False, 2, True), (False, 3, False)])

    def test_while_nothing_listens_one_event_tries_and_uses_up_no_retry(self) -> None:
        self.down = 5
        self.gate.clear()
        self.offer(1, "ord_a")
        eventually(lambda: self.started, "an attempt")
        self.gate.set()
        eventually(lambda: self.reports, "the first report")
        for number in (2, 3):
            self.offer(number, f"ord_{number}")
        eventually(lambda: len([report for report in self.reports if report[1]]) == 3, "all events")
        self.assertEqual([report[1:] for report in self.reports[:5]], [(False, 1, True)] * 5)
        self.assertEqual([report[1:3] for report in self.reports[5:]], [(True, 1)] * 3)
        self.assertEqual(len(self.sent), 8)

    def test_a_failure_of_a_thread_reaches_the_reader(self) -> None:
        def full(_: Optional[str], __: Sequence[str], ___: Mapping[str, int]) -> None:
            raise OSError("the disk is full")

        forwarder = Forwarder(self.send, self.report, full)
        self.addCleanup(forwarder.close)
        forwarder.offer(event(1, "ord_a"), b"evt_1")

        def raised() -> bool:
            try:
                forwarder.check()
            except OSError:
                return True
            return False

        eventually(raised, "the failure")


class Program(TestCase):
    def setUp(self) -> None:
        self.folder = self.enter(TemporaryDirectory())

    def environment(self, key: str = TEST_KEY, base_url: str = BASE_URL, **changes: str) -> dict[str, str]:
        return {
            **os.environ,
            "WAYBILL_API_KEY": key,
            "WAYBILL_BASE_URL": base_url,
            "WAYBILL_STATE_DIRECTORY": self.folder + "/state",
            **changes,
        }

    def failing_lookups(self, count: int, code: str) -> dict[str, str]:
        """For a program in which the first lookups of a name fail so: Python runs this file at its start."""
        script = f"""
import socket
lookup, left = socket.getaddrinfo, [socket.{code}] * {count}
def fails(*given, **named):
    if left:
        raise socket.gaierror(left.pop(), "no address")
    return lookup(*given, **named)
socket.getaddrinfo = fails
"""
        Path(self.folder, "sitecustomize.py").write_text(script, encoding="utf-8")
        return {"PYTHONPATH": os.pathsep.join([self.folder, *sys.path])}

    def run_it(self, *arguments: str, given: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        environment = self.environment(**changes)
        command = [sys.executable, "-m", "waybill", *arguments]
        return subprocess.run(
            command, env=environment, input=given, capture_output=True, text=True, check=False, timeout=300
        )

    def test_the_secret_is_made_once_and_private(self) -> None:
        secrets = [self.run_it("listen", "--print-secret").stdout.strip() for _ in range(2)]
        SigningSecret(secrets[0])
        self.assertEqual(secrets[0], secrets[1])
        path = self.folder + "/state/secret"
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.folder + "/state"), ["secret"])

    def test_exit_codes(self) -> None:
        self.assertEqual(self.run_it(*LISTEN, key=LIVE_KEY).returncode, 3)
        for words in (["dance"], ["events", "list", "more"], ["orders", "get", "ord_1", "ord_2"], ["verify", "more"]):
            self.assertEqual(self.run_it(*words).returncode, 2, words)
        self.assertEqual(self.run_it("listen", "--dance").returncode, 2)
        self.assertEqual(self.run_it(*LISTEN, key="sk_test_waybill_wrong").returncode, 3)
        self.assertEqual(self.run_it(*LISTEN, key="wrong").returncode, 3)
        for nowhere in ("example", "99999"):
            self.assertEqual(self.run_it("listen", "--forward-to", nowhere).returncode, 2, nowhere)
        self.assertEqual(self.run_it("orders", "get", "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV").returncode, 1)

    def test_a_base_url_at_which_no_api_answers_ends_a_command_with_code_4_and_listen_after_three_calls(self) -> None:
        create = ["orders", "create", "--idempotency-key", "1"]
        # After a 200, an order may exist.
        cases = ((LISTEN, 3, (200, 301, 404)), (["events", "list"], 1, (200, 301, 404)), (create, 1, (301, 404)))
        with faulty_proxy() as proxy:
            proxy.said = b"<html>"
            for words, calls, statuses in cases:
                for status in statuses:
                    proxy.faults = [status] * calls
                    run = self.run_it(*words, given="{}", base_url=proxy.base_url)
                    self.assertEqual((run.returncode, proxy.faults), (4, []), run.stderr)
                    self.assertIn(f" {proxy.base_url}/integration/", run.stderr)
                    self.assertRegex(run.stderr, rf"\b{status}\b[^?]* Check WAYBILL_BASE_URL\.\n$")
        nowhere = "http://nowhere.example/v1"
        run = self.run_it(*LISTEN, base_url=nowhere, **self.failing_lookups(3, "EAI_NONAME"))
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertIn(nowhere, run.stderr)

    def test_listen_waits_for_names_and_for_a_proxy_that_answers_before_the_api_does(self) -> None:
        with faulty_proxy() as proxy:
            proxy.said, proxy.faults = b"<html>", [404, 503, 200]
            base_url = proxy.base_url.replace("127.0.0.1", "localhost")
            environment = self.environment(base_url=base_url, **self.failing_lookups(3, "EAI_AGAIN"))
            command = [sys.executable, "-m", "waybill", *LISTEN]
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as program:
                # The end of the program ends the line, too.
                line = program.stdout.readline() if program.stdout else ""
                program.terminate()
            self.assertEqual((line[:7], proxy.faults), ("Ready: ", []))

    def test_after_an_answer_that_cannot_be_read_an_order_is_created_with_the_same_key(self) -> None:
        reference = new_reference()
        create, order = ["orders", "create", "--idempotency-key", reference], json.dumps(new_order(reference))
        with faulty_proxy() as proxy:
            # Longer than the client waits, so it gives up.
            proxy.retry_after, proxy.faults = "61", [200, 503]
            unknown = self.run_it(*create, given=order, base_url=proxy.base_url)
            self.assertEqual(unknown.returncode, 1, unknown.stderr)
            self.assertRegex(unknown.stderr, r"503.*\nIt is unknown whether the order was created\. Repeat .* same key")
            proxy.faults = [200]
            created = self.run_it(*create, given=order, base_url=proxy.base_url)
            self.assertEqual(json.loads(created.stdout)["orderReference"], reference)
            self.assertEqual({key for _, key in proxy.seen}, {reference})

    def test_its_output_is_utf_8_as_on_windows_with_another_code_page(self) -> None:
        help_text = (VECTORS / "help.txt").read_bytes()
        command = [sys.executable, "-m", "waybill", "--help"]
        environment = self.environment(PYTHONIOENCODING="cp1252")
        self.assertEqual(subprocess.check_output(command, env=environment), help_text)

    def test_a_reader_that_has_enough_ends_the_list_quietly(self) -> None:
        reference = new_reference()
        client(TEST_KEY).orders.create(new_order(reference), idempotency_key=reference)
        eventually(lambda: client(TEST_KEY).events.page(limit=1).data, "an event")
        environment = {**os.environ, "WAYBILL_API_KEY": TEST_KEY, "WAYBILL_BASE_URL": BASE_URL}
        command = [sys.executable, "-m", "waybill", "events", "list"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as program:
            if program.stdout:
                program.stdout.close()
            self.assertEqual((program.stderr and program.stderr.read(), program.wait(30)), ("", 0))

    def test_the_help_is_that_of_all_clients(self) -> None:
        shared = (VECTORS / "help.txt").read_text(encoding="utf-8")
        self.assertEqual(self.run_it("--help").stdout, shared)

    def test_orders_and_verify(self) -> None:

        reference = new_reference()
        create = ["orders", "create", "--idempotency-key", reference]
        order = json.loads(self.run_it(*create, given=json.dumps(new_order(reference))).stdout)
        moved = json.loads(self.run_it("orders", "simulate", order["id"], "driver.assigned").stdout)
        self.assertEqual(moved["status"], "driver_assigned")
        refused = self.run_it("orders", "simulate", order["id"], "order.delivered")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("possible now: ", refused.stderr)
        self.assertEqual(json.loads(self.run_it("orders", "get", order["id"]).stdout)["status"], "driver_assigned")

        body = '{"id":"evt_1","event":"order.created","mode":"test"}'
        secret = self.run_it("listen", "--print-secret").stdout.strip()
        headers = [f"--header={name}: {value}" for name, value in sign_test_event(body, secret).items()]
        matched = self.run_it("verify", *headers, given=body)
        self.assertEqual(
            (matched.returncode, matched.stdout), (0, "valid: the signature of order.created evt_1 matches\n")
        )
        old = sign_test_event(body, secret, now=time.time() - 900)
        other = "whsec_" + "A" * 43 + "="
        cases: Sequence[tuple[str, dict[str, str], dict[str, str], str, str]] = (
            (body + "\n", {}, {}, "mismatch", "differs by a line break at its end"),
            (json.dumps(json.loads(body)), {}, {}, "mismatch", "the same JSON, serialised again"),
            (body, sign_test_event(body, other), {}, "mismatch", "the secret or the body is another one"),
            (body, {}, {"WAYBILL_WEBHOOK_SECRET": other}, "mismatch", "with the secret of listen, not with WAYBILL_"),
            (body, old, {}, "too_old", r"signed 9\d\d s ago, and 300 s are allowed[^\n]*\n  The signature matches"),
        )
        for given, signed, variables, reason, mistake in cases:
            sent = [f"--header={name}: {value}" for name, value in signed.items()] or headers
            invalid = self.run_it("verify", *sent, given=given, **variables)
            self.assertEqual(invalid.returncode, 1)
            self.assertIn(f"invalid ({reason}): ", invalid.stderr)
            self.assertRegex(invalid.stderr, mistake)

        [listed] = self.run_it("orders", "list", "--reference", reference).stdout.splitlines()
        self.assertEqual(json.loads(listed)["id"], order["id"])
        self.assertIn("order.created", self.run_it("orders", "timeline", order["id"]).stdout)
        cancelled = self.run_it("orders", "cancel", order["id"], "--reason", "a test")
        self.assertEqual(json.loads(cancelled.stdout)["status"], "cancelled")

    def test_what_follows_a_failed_delivery(self) -> None:
        reference = new_reference()
        orders = client(TEST_KEY).orders
        order_id = orders.create(new_order(reference), idempotency_key=reference).order["id"]
        orders.simulate(order_id, "driver.assigned")
        self.assertEqual(self.run_it("orders", "reattempt", order_id).returncode, 1)
        code = self.run_it("orders", "delivery-code", order_id)
        self.assertRegex(code.stdout, r"^[0-9]{6}\n$")
        orders.simulate(order_id, "order.picked_up")
        orders.simulate(order_id, "order.failed")

        address, broken = Path(self.folder, "address.json"), Path(self.folder, "broken.json")
        address.write_text(json.dumps({**new_order(reference)["delivery"], "addressLine1": "7 Residency Road"}))
        broken.write_text("{")
        corrected = self.run_it("orders", "correct", order_id, "--phone", "+919800000009", "--file", str(address))
        order = json.loads(corrected.stdout)
        self.assertEqual(
            (order["customer"]["phone"], order["delivery"]["addressLine1"]), ("+919800000009", "7 Residency Road")
        )
        for words, exit_code in (("", 2), (f"--file {broken}", 2), ("--phone 98", 1)):
            self.assertEqual(self.run_it("orders", "correct", order_id, *words.split()).returncode, exit_code, words)

        again = json.loads(self.run_it("orders", "reattempt", order_id, "--note", "ring twice").stdout)["reattempt"]
        self.assertEqual((again["number"], again["note"]), (2, "ring twice"))
        past = self.run_it("orders", "reattempt", order_id, "--date", "2020-01-31")
        # Said once.
        self.assertEqual((past.returncode, past.stderr.count("date must be")), (1, 1), past.stderr)
        returned = json.loads(self.run_it("orders", "return", order_id).stdout)
        self.assertEqual((returned["reattempt"], returned["returnRequestedAt"] is None), (None, False))
        evidence = json.loads(self.run_it("orders", "evidence", order_id).stdout)
        self.assertEqual((len(evidence["attempts"]), evidence["intact"]), (1, True))
        for command in ("reattempt", "return", "correct", "delivery-code", "evidence"):
            self.assertEqual(self.run_it("orders", command).returncode, 2, command)
