"""A receiver of webhooks, over HTTP, that can refuse, hang or be down."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from waybill import construct_event
from waybill.schema import WebhookEvent

from .support import serving


class HttpReceiver:
    def __init__(self, secret: str, port: int = 0) -> None:
        self.secret = secret
        #: The statuses of the next answers; -1 hangs; 200 when there is none.
        self.answers: list[int] = []
        self.taken: list[WebhookEvent] = []
        #: The bytes of each event by its id.
        self.bodies: dict[str, bytes] = {}
        self.in_flight: dict[str, int] = {}
        self.overlaps = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.port = int(self.server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/webhook?shop=1"


@contextmanager
def http_receiver(secret: str, port: int = 0) -> Iterator[HttpReceiver]:
    receiver = HttpReceiver(secret, port)
    with serving(receiver.server, receiver.closing):
        yield receiver


def _handler(receiver: HttpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            # Raises, and so closes the connection, if either signature is wrong.
            headers = {name.lower(): value for name, value in self.headers.items()}
            for scheme in ("webhook-", "service-"):
                event = construct_event(
                    body, {name: value for name, value in headers.items() if name.startswith(scheme)}, receiver.secret
                )
            order = str(event["order"] and event["order"]["id"])
            with receiver.lock:
                receiver.overlaps += receiver.in_flight.get(order, 0)
                receiver.in_flight[order] = receiver.in_flight.get(order, 0) + 1
                answer = receiver.answers.pop(0) if receiver.answers else 200
            if answer == -1:
                receiver.closing.wait(30)
                return
            with receiver.lock:
                receiver.in_flight[order] -= 1
                if answer == 200:
                    receiver.taken.append(event)
                    receiver.bodies[event["id"]] = body
            self.send_response(answer)
            self.end_headers()
            self.wfile.write(b"said the receiver")

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    return Handler
