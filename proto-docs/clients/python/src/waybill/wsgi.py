"""A receiver without a database: `event_server("127.0.0.1", 3000, event_app(secret, handle)).serve_forever()`."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import traceback
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Callable, Union
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from .errors import WebhookError
from .webhooks import PREFIX, TOLERANCE_SECONDS, Secrets, construct_event, parse_secrets

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from .schema import WebhookEvent

_BODY_MAX_BYTES = 1024 * 1024
_CHUNK_BYTES = 64 * 1024

_OK = "200 OK"
_BAD_REQUEST = "400 Bad Request"
_UNAUTHORIZED = "401 Unauthorized"
_TIMEOUT = "408 Request Timeout"
_LENGTH_REQUIRED = "411 Length Required"
_TOO_LARGE = "413 Content Too Large"
_UNAVAILABLE = "503 Service Unavailable"


def event_app(
    secrets: Secrets,
    handle: Callable[[WebhookEvent], object],
    *,
    header_prefix: str = PREFIX,
    tolerance_seconds: int = TOLERANCE_SECONDS,
) -> WSGIApplication:
    """A WSGI application that hands over each verified event.

    The same event may come again and out of order. If `handle` raises, it certainly comes again.
    """
    known = parse_secrets(secrets)

    def answer(environ: WSGIEnvironment) -> str:
        body = _read(environ)
        if isinstance(body, str):
            return body
        headers = {name[5:].replace("_", "-"): text for name, text in environ.items() if name.startswith("HTTP_")}
        try:
            event = construct_event(
                body, headers, known, header_prefix=header_prefix, tolerance_seconds=tolerance_seconds
            )
        except WebhookError as error:
            print(f"webhook refused: {error.reason}", file=environ["wsgi.errors"], flush=True)
            return _UNAUTHORIZED
        try:
            handle(event)
        # Whatever it is, the service sends the event again.
        except Exception:  # noqa: BLE001
            traceback.print_exc(file=environ["wsgi.errors"])
            return _UNAVAILABLE
        return _OK

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        status = answer(environ)
        body = json.dumps({"received": True} if status == _OK else {"message": status}).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    return app


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def handle(self) -> None:
        # A client that sends no request in time gets no answer.
        with contextlib.suppress(socket.timeout):
            super().handle()


def event_server(host: str, port: int, app: WSGIApplication, *, timeout_s: float = 10.0) -> WSGIServer:
    """A server of the standard library with threads, which closes connections that send nothing for so long.

    `make_server` waits for ever for a client that sends nothing, and serves no other one meanwhile.
    """
    handler = type("Handler", (_Handler,), {"timeout": timeout_s})
    return make_server(host, port, app, _Server, handler)


def _read(environ: WSGIEnvironment) -> Union[bytes, str]:
    """The body, or the status of its refusal."""
    text = environ.get("CONTENT_LENGTH") or ""
    if not text or "HTTP_TRANSFER_ENCODING" in environ:
        return _LENGTH_REQUIRED
    if not re.fullmatch("[0-9]{1,15}", text):
        return _BAD_REQUEST
    length = left = int(text)
    chunks = []
    # One that is too large is read and dropped, so that the sender gets the answer.
    try:
        while left and (chunk := environ["wsgi.input"].read(min(left, _CHUNK_BYTES))):
            left -= len(chunk)
            if length <= _BODY_MAX_BYTES:
                chunks.append(chunk)
    except socket.timeout:
        return _TIMEOUT
    if length > _BODY_MAX_BYTES:
        return _TOO_LARGE
    return b"".join(chunks) if left == 0 else _BAD_REQUEST
