"""`waybill listen`: forwards the events of test orders to a receiver on this machine, signed like webhooks."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import urlsplit

from .._http import exchange
from .._secret import safe_text
from ..client import Waybill
from ..errors import NoAnswerError, WaybillError
from ..events import EventPage
from ..webhooks import PREFIX, sign_test_event
from . import commands, state
from .forward import Attempt, Forwarder, header_prefix

if TYPE_CHECKING:
    from ..schema import WebhookEvent

_TIMEOUT_S = 10.0
_ANSWER_MAX_BYTES = 1024 * 1024
_SAID_MAX_CHARS = 200
_NO_ANSWER = {
    "timeout": "no complete answer in 10 s",
    "unreachable": "the receiver is unreachable, or closed the connection",
    "unusable_answer": "the answer is too large",
}


class LiveKeyError(Exception):
    def __init__(self) -> None:
        super().__init__("listen takes a Test key only: live events contain data of customers and drivers")


def add_to(subparsers: Any) -> None:
    parser = subparsers.add_parser("listen", help="forward events of test orders to a receiver, signed like webhooks")
    parser.add_argument("--forward-to", metavar="URL", help="where your receiver listens")
    parser.add_argument("--events", metavar="KINDS", default="", help="kinds of events, separated by commas")
    parser.add_argument("--since", metavar="TIME", help="begin again at this time (RFC 3339)")
    parser.add_argument(
        "--print-secret", action="store_true", help="print the signing secret for your receiver, and end"
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    commands.add_base_url(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    if options.print_secret:
        print(state.signing_secret())
        return
    url = urlsplit(options.forward_to or "")
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise commands.ArgumentError("--forward-to must be an http or https URL")
    client = commands.client(options)
    if client.mode == "live":
        raise LiveKeyError
    Listener(client, options).run()


class Listener:
    def __init__(self, client: Waybill, options: argparse.Namespace) -> None:
        self._client, self._options = client, options
        self._secret = state.signing_secret()
        self._cursor = state.Cursor(
            commands.base_url(options), commands.api_key().expose(), options.forward_to, options.events
        )
        self._prefix = PREFIX
        self._ready = self._interrupted = False
        self._forwarder = Forwarder(self._send, self._report, self._cursor.save, client.environment)

    # The feed's cursor store: cursors are saved when the events before them have ended.
    def load(self) -> Optional[str]:
        return None if self._options.since else self._cursor.load()

    def save(self, cursor: str) -> None:
        self._forwarder.reached(cursor)

    def run(self) -> None:
        events = self._client.events.follow(
            self,
            types=commands.kinds(self._options.events),
            start=self._options.since or "now",
            on_page=self._on_page,
            on_retry=self._on_retry,
        )
        try:
            for event in events:
                self._forwarder.offer(event)
        finally:
            self._forwarder.close()

    def _on_page(self, page: EventPage) -> None:
        self._forwarder.check()
        self._prefix = header_prefix(page.headers) or PREFIX
        if not self._ready:
            self._say("ready", f"Ready: forwarding events to {self._options.forward_to}")
        elif self._interrupted:
            self._say("connected", "Connected again.")
        self._ready, self._interrupted = True, False

    def _on_retry(self, error: WaybillError) -> None:
        if not self._interrupted:
            self._say("disconnected", f"{error} Trying again until it answers; no event is lost.")
        self._interrupted = True

    def _send(self, event: WebhookEvent) -> Attempt:
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {**sign_test_event(body, self._secret, header_prefix=self._prefix), "User-Agent": "waybill-listen"}
        started_at = time.monotonic()
        answer = exchange("POST", self._options.forward_to, headers, body, _TIMEOUT_S, _ANSWER_MAX_BYTES)
        duration_s = time.monotonic() - started_at
        if isinstance(answer, NoAnswerError):
            return Attempt(False, None, duration_s, _NO_ANSWER[answer.code])
        taken = 200 <= answer.status < 300
        said = safe_text(answer.body.decode("utf-8", "replace"))[:_SAID_MAX_CHARS]
        return Attempt(taken, answer.status, duration_s, None if taken else said or "an empty body")

    def _report(self, event: WebhookEvent, attempt: Attempt, number: int, again_s: Optional[float]) -> None:
        order = event["order"]
        reference = order["orderReference"] if order else None
        duration_ms = round(attempt.duration_s * 1000)
        if self._options.json:
            fields = {
                "type": "attempt",
                "id": event["id"],
                "event": event["event"],
                "orderReference": reference,
                "attempt": number,
                "taken": attempt.taken,
                "status": attempt.status,
                "durationMs": duration_ms,
                "error": attempt.error,
                "retryInSeconds": again_s and round(again_s, 1),
            }
            print(json.dumps(fields), flush=True)
            return
        result = f"{attempt.status or 'no answer'} in {duration_ms} ms"
        if not attempt.taken:
            after = f"again in {again_s:.0f} s" if again_s is not None else f"given up after {number} attempts"
            result += f": {attempt.error} ({after})"
        print(f"{time.strftime('%H:%M:%S')} {event['event']} {reference or '-'} {event['id']} {result}", flush=True)

    def _say(self, kind: str, text: str) -> None:
        """Messages are no results, so they go to the standard error, except as JSON."""
        if self._options.json:
            print(json.dumps({"type": kind}), flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
