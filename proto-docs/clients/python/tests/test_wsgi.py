"""The receiver without a database, over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import socket
import threading
import unittest
from collections.abc import Mapping
from contextlib import closing
from typing import Optional

from waybill import sign_test_event
from waybill.schema import WebhookEvent
from waybill.wsgi import event_app, event_server

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
NEXT_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def body_of(number: int, kind: str = "order.picked_up", note: str = "") -> bytes:
    return json.dumps({"id": f"evt_{number}", "event": kind, "mode": "test", "data": {"note": note}}).encode()


class WithoutADatabase(unittest.TestCase):
    def setUp(self) -> None:
        self.handled: list[str] = []
        self.errors = io.StringIO()
        redirected = contextlib.redirect_stderr(self.errors)
        redirected.__enter__()
        self.addCleanup(redirected.__exit__, None, None, None)
        self.server = event_server("127.0.0.1", 0, event_app([NEXT_SECRET, SECRET], self.handle), timeout_s=1)
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        for cleanup in (thread.join, self.server.server_close, self.server.shutdown):
            self.addCleanup(cleanup)

    def handle(self, event: WebhookEvent) -> None:
        if event["event"] == "order.failed":
            raise RuntimeError("the work failed")
        self.handled.append(event["id"])

    def post(self, body: bytes, secret: str = SECRET, now: Optional[float] = None) -> int:
        return self.send(body, {**sign_test_event(body, secret, now=now), "Content-Length": str(len(body))})

    def send(self, body: bytes, headers: Mapping[str, str]) -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=30)) as connection:
            connection.putrequest("POST", "/webhook")
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            # No more of the body comes.
            connection.sock.shutdown(socket.SHUT_WR)
            return connection.getresponse().status

    def test_verified_events_alone_are_handled(self) -> None:
        self.assertEqual(self.post(body_of(1)), 200)
        self.assertEqual(self.post(body_of(2), NEXT_SECRET), 200)
        other = "whsec_" + "A" * 32
        self.assertEqual(self.post(body_of(3), other), 401)
        self.assertEqual(self.post(body_of(3), now=1.0), 401)
        self.assertEqual(self.post(body_of(3, "order.failed")), 503)
        self.assertEqual(self.handled, ["evt_1", "evt_2"])
        said = self.errors.getvalue()
        for part in ("webhook refused: mismatch\n", "webhook refused: too_old\n", "RuntimeError: the work failed\n"):
            self.assertEqual(said.count(part), 1, said)

    def test_bodies_without_a_length_cut_or_too_large_are_refused(self) -> None:
        self.assertEqual(self.send(b"", {}), 411)
        self.assertEqual(self.send(b"", {"Transfer-Encoding": "chunked"}), 411)
        for length in ("many", "-1", "1000"):
            self.assertEqual(self.send(b"", {"Content-Length": length}), 400, length)
        body = body_of(4)
        self.assertEqual(self.send(body, {**sign_test_event(body, SECRET), "Content-Length": "1000"}), 400)
        self.assertEqual(self.post(body_of(4, note="x" * 1024 * 1024)), 413)
        self.assertEqual(self.handled, [])
        self.assertEqual(self.post(body), 200)

    def test_clients_that_send_too_little_delay_nobody_and_are_disconnected(self) -> None:
        address = ("127.0.0.1", self.server.server_port)
        with socket.create_connection(address, 30) as silent, socket.create_connection(address, 30) as slow:
            slow.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            self.assertEqual(self.post(body_of(5)), 200)
            self.assertEqual(silent.recv(1), b"")
            self.assertIn(b"408", slow.recv(100))

    def test_a_wrong_secret_is_refused_at_once(self) -> None:
        for secret in ("", "whsec_short"):
            with self.assertRaises(ValueError):
                event_app(secret, self.handle)
