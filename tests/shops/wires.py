"""Proxies between a shop and everything that it talks to: its database, Waybill, and Waybill's webhooks."""

from __future__ import annotations

import json
import socket
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

from stack import exchange

Receiver = Literal["database", "waybill"]


class Steps:
    """Counts the messages that a process sends, and kills it before one of them arrives.

    Between two messages nothing changes outside of the process, so a kill before each covers every step.
    """

    def __init__(self, *, after_answer: bool = False, to: Receiver | None = None) -> None:
        """`after_answer` counts only what follows the first answer of Waybill, `to` only what this receiver gets."""
        self.taken = 0
        self._counts, self._to = not after_answer, to
        self._last: int | None = None
        self._kill: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def arm(self, last: int | None, kill: Callable[[], None] | None = None) -> None:
        """Counts from 0 again, and kills at step `last`."""
        with self._lock:
            self.taken, self._last, self._kill = 0, last, kill

    def answered(self) -> None:
        with self._lock:
            self._counts = True

    def take(self, to: Receiver) -> bool:
        """Whether the message may pass."""
        with self._lock:
            if not self._counts or self._to not in {None, to}:
                return True
            self.taken += 1
            if self._last is None or self._kill is None or self.taken < self._last:
                return True
            self._kill()
            return False


class Tap:
    """What happens to the chunks of one connection: each is passed on, or the connection is cut."""

    def there(self, chunk: bytes) -> bool:  # noqa: ARG002 - for subclasses
        return True

    def back(self, chunk: bytes) -> bool:  # noqa: ARG002 - for subclasses
        return True


class Wire:
    """A TCP proxy."""

    def __init__(self, host: str, port: int, tap: Callable[[], Tap]) -> None:
        self._target, self._tap = (host, port), tap
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accepts no more connections. Those that are open end with the processes that use them."""
        # Unlike close(), wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=[client], daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        tap = self._tap()
        with client:
            try:
                server = socket.create_connection(self._target)
            except OSError:
                return
            with server:
                back = threading.Thread(target=_pump, args=[server, client, tap.back], daemon=True)
                back.start()
                _pump(client, server, tap.there)
                back.join()


def _pump(source: socket.socket, target: socket.socket, may_pass: Callable[[bytes], bool]) -> None:
    """Forwards until one side closes or the tap cuts, then closes both directions."""
    # The other direction, or the process, may have closed them.
    with suppress(OSError):
        while (chunk := source.recv(65_536)) and may_pass(chunk):
            target.sendall(chunk)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


class StatementTap(Tap):
    """Counts statements of PostgreSQL's protocol, and neither its handshake nor the end of a connection."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def there(self, chunk: bytes) -> bool:
        return chunk[:1] not in b"BCDEPQS" or self._steps.take("database")


class RequestTap(Tap):
    """Counts the chunks of requests."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def there(self, chunk: bytes) -> bool:  # noqa: ARG002
        return self._steps.take("waybill")

    def back(self, chunk: bytes) -> bool:  # noqa: ARG002
        self._steps.answered()
        return True


#: `cut-before` closes the connection before Waybill sees the request, `cut-after` when it has answered, `hold` waits
#: until the test releases the request.
Fault = Literal["cut-before", "cut-after", "hold"]


class Network:
    """The network between a shop and Waybill, with faults, and a record of the requests that create orders."""

    def __init__(self, waybill: str) -> None:
        address = urlsplit(waybill)
        self.faults: list[Fault] = []
        self.held, self.release = threading.Event(), threading.Event()
        #: What each connection sent.
        self.connections: list[bytearray] = []
        self._wire = Wire(str(address.hostname), int(address.port or 80), self._tap)
        self.base_url = f"http://127.0.0.1:{self._wire.port}/v1"

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._wire.close()

    def _tap(self) -> Tap:
        seen = bytearray()
        self.connections.append(seen)
        return _NetworkTap(self, seen)

    def posted(self) -> list[tuple[str, bytes]]:
        """The Idempotency-Key and the body of each request that creates an order."""
        return [request for seen in self.connections for request in _requests(bytes(seen))]


class _NetworkTap(Tap):
    def __init__(self, network: Network, seen: bytearray) -> None:
        self._network, self._seen = network, seen
        self._cuts_answer = False

    def there(self, chunk: bytes) -> bool:
        self._seen += chunk
        if not chunk.startswith(b"POST "):
            return True
        fault = self._network.faults.pop(0) if self._network.faults else None
        if fault == "hold":
            self._network.held.set()
            self._network.release.wait(60)
        self._cuts_answer = fault == "cut-after"
        return fault != "cut-before"

    def back(self, chunk: bytes) -> bool:  # noqa: ARG002
        return not self._cuts_answer


def _requests(seen: bytes) -> list[tuple[str, bytes]]:
    """Without one that was cut before the end of its body."""
    found = []
    while seen:
        head, _, rest = seen.partition(b"\r\n\r\n")
        fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
        headers = {name.lower(): value.strip() for name, _, value in fields}
        length = int(headers.get(b"content-length", b"0"))
        if head.startswith(b"POST ") and len(rest) >= length:
            found.append((headers[b"idempotency-key"].decode(), rest[:length]))
        seen = rest[length:]
    return found


@dataclass(frozen=True)
class Webhook:
    """A genuine webhook of Waybill."""

    body: bytes
    headers: dict[str, str]

    @property
    def kind(self) -> str:
        return str(json.loads(self.body)["event"])


class Webhooks:
    """Receives Waybill's webhooks, keeps them, and forwards them to the shop unless the test holds them back."""

    def __init__(self) -> None:
        #: Where the shop receives webhooks; None answers Waybill in its place.
        self.forward_to: str | None = None
        self._received: dict[str, list[Webhook]] = defaultdict(list)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/webhook"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def of(self, reference: str) -> list[Webhook]:
        """The first arrival of each webhook of an order, in order."""
        unique: dict[bytes, Webhook] = {}
        for webhook in list(self._received[reference]):
            unique.setdefault(webhook.body, webhook)
        return list(unique.values())

    def take(self, webhook: Webhook) -> int | None:
        """The status for Waybill; None if the shop does not answer."""
        order = json.loads(webhook.body)["order"]
        self._received[order["orderReference"] if order else ""].append(webhook)
        return send(self.forward_to, webhook) if self.forward_to else 200


def send(url: str, webhook: Webhook) -> int | None:
    try:
        response, _ = exchange("POST", url, webhook.body, webhook.headers)
    except (OSError, HTTPException):
        return None
    return response.status


def _handler(webhooks: Webhooks) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            own = ("content-type", "webhook-", "service-")
            headers = {name: value for name, value in self.headers.items() if name.lower().startswith(own)}
            status = webhooks.take(Webhook(body, headers))
            # Without an answer the connection is closed, as when the shop dies.
            if status is not None:
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler
