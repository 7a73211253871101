"""The stack under test, and a proxy in front of it that fails as networks do."""

from __future__ import annotations

import http.client
import itertools
import os
import threading
import time
import unittest
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional, TypeVar, Union
from urllib.parse import urlsplit

import httpx

from waybill import Environment, Waybill
from waybill.schema import NewOrder, Order

T = TypeVar("T")


def variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set: run the tests as test.sh says")
    return value


BASE_URL = variable("ORDER_API") + "/v1"
TEST_KEY = variable("TEST_KEY")
LIVE_KEY = variable("LIVE_KEY")

_numbers = itertools.count(1)
_run = f"py-{time.time_ns():x}"


def new_reference() -> str:
    """A reference that no other test uses."""
    return f"{_run}-{next(_numbers)}"


def new_order(reference: str, delivery_fee_paise: int = 4900) -> NewOrder:
    return {
        "orderReference": reference,
        "customer": {"name": "Asha Rao", "phone": "+919800000001"},
        "delivery": {
            "addressLine1": "12th Main Road",
            "city": "Bengaluru",
            "state": "Karnataka",
            "pincode": "560038",
        },
        "payment": {"paymentType": "prepaid", "deliveryFeePaise": delivery_fee_paise},
    }


#: The pause after an attempt is longer than the time for the call.
ONE_ATTEMPT = Environment(sleep=lambda _: None, jitter=lambda: 1_000.0)


def client(key: str, base_url: str = BASE_URL, **options: Any) -> Waybill:
    return Waybill(key, base_url, **options)


class TestCase(unittest.TestCase):
    def enter(self, context: AbstractContextManager[T]) -> T:
        """As `enterContext` of Python 3.11."""
        stack = ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(context)


def new_test_key() -> str:
    """Of a business of its own: other tests place no orders there, and two calls of a key may wait for events."""
    portal = variable("PORTAL")
    with httpx.Client(base_url=f"{portal}/v1/portal", headers={"origin": portal}, timeout=60) as caller:
        email, password = f"{uuid.uuid4().hex}@shop.example", "a long enough secret"
        account = {"businessName": "Malabar Coffee", "email": email, "password": password}
        caller.post("/accounts", json=account).raise_for_status()
        created = caller.post("/api-keys", json={"mode": "test", "name": "tests"}).raise_for_status()
        return str(created.json()["key"])


#: `cut-before` closes the connection before the service sees the request, `cut-after` when it has answered, `cut-body`
#: within its answer, `hang` never answers after the service has; a number is a status without asking the service.
Fault = Union[str, int]


class FaultyProxy:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.retry_after = "0"
        self.said = b"from the proxy"
        #: The body and the key of each request.
        self.seen: list[tuple[bytes, Optional[str]]] = []
        self.closing = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.base_url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@contextmanager
def faulty_proxy() -> Iterator[FaultyProxy]:
    proxy = FaultyProxy()
    with serving(proxy.server, proxy.closing):
        yield proxy


@contextmanager
def serving(server: ThreadingHTTPServer, closing: threading.Event) -> Iterator[None]:
    """Serves in a thread. `closing` is set at the end, and ends handlers that hang."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(proxy: FaultyProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            proxy.seen.append((body, self.headers.get("idempotency-key")))
            fault = proxy.faults.pop(0) if proxy.faults else None
            if fault == "cut-before":
                return
            if isinstance(fault, int):
                self._answer(fault, {"retry-after": proxy.retry_after}, proxy.said)
                return
            status, headers, answer = self._forward(body)
            if fault == "hang":
                proxy.closing.wait(30)
            elif fault == "cut-body":
                self._answer(status, headers, answer, len(answer) // 2)
            elif fault != "cut-after":
                self._answer(status, headers, answer)

        do_POST = do_GET

        def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            with closing(http.client.HTTPConnection(urlsplit(BASE_URL).netloc, timeout=30)) as service:
                service.request(self.command, self.path, body or None, dict(self.headers))
                response = service.getresponse()
                return response.status, dict(response.getheaders()), response.read()

        def _answer(self, status: int, headers: dict[str, str], body: bytes, sent: Optional[int] = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in {"transfer-encoding", "content-length", "connection"}:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:sent])

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    return Handler


def orders_and_debits(waybill: Waybill, reference: str) -> tuple[list[Order], int]:
    """All orders with the reference, and how often the wallet paid for them."""
    orders = list(waybill.orders.list(order_reference=reference))
    entries = [entry for order in orders for entry in waybill.orders.timeline(order["id"])]
    return orders, sum(entry["type"] == "money" and entry["kind"] == "delivery_fee" for entry in entries)


def eventually(read: Callable[[], Optional[T]], what: str, seconds: float = 60) -> T:
    """Waits for a condition."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        value = read()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")
