"""`listen`: forwards the events of test orders to a receiver on this machine."""

from __future__ import annotations

import os
import re
import time
from argparse import Namespace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Optional
from urllib.parse import urlsplit

from .._http import UNKNOWN_HOST, exchange
from .._secret import safe_text
from ..errors import NoAnswerError
from ..webhooks import sign_test_event
from .commands import kinds
from .feed import Feed
from .forward import Attempt, Forwarder
from .output import KeyRefusedError, UsageError, say, say_json, until_answered, waybill
from .state import Place, listen_secret

if TYPE_CHECKING:
    from ..client import Waybill
    from ..schema import WebhookEvent

_TIMEOUT_S = 10.0
_ANSWER_MAX_BYTES = 1024 * 1024
_SAID_MAX_CHARS = 200
_UNREACHABLE = frozenset({"ConnectionRefusedError", "gaierror", "OSError", UNKNOWN_HOST})


def listen(options: Namespace) -> None:
    secret = listen_secret()
    if options.print_secret:
        say(secret)
        return
    url = _url(options.forward_to or "")
    client = waybill()
    if client.mode == "live":
        raise KeyRefusedError("listen needs a Test key: a Live key would bring customers' data to this machine.")
    listener = _Listener(options, url, secret)
    try:
        until_answered(lambda: listener.follow(client))
    finally:
        listener.forwarder.close()


def _url(text: str) -> str:
    """The URL that is meant by 3000, or by localhost:3000/webhook."""
    if re.fullmatch("[0-9]{1,5}", text):
        text = f"http://localhost:{text}"
    elif re.match(r"localhost\b", text):
        text = f"http://{text}"
    try:
        url = urlsplit(text)
        is_usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UsageError("--forward-to must be the http or https URL of your receiver, or its port.")
    return text


class _Listener:
    def __init__(self, options: Namespace, url: str, secret: str) -> None:
        self._options, self._url, self._secret = options, url, secret
        service = os.environ["WAYBILL_BASE_URL"]
        self._place = Place(service, os.environ["WAYBILL_API_KEY"], self._url, ",".join(kinds(options)))
        self._place.lock()
        if options.since:
            self._place.forget()
        self._starts_after = self._place.cursor
        self.feed = Feed(self._say_ready)
        self.forwarder = Forwarder(self._send, self._report, self._place.save, cursor=self._place.cursor)

    # The feed's cursor store: cursors are saved when the events before them have ended.
    def load(self) -> Optional[str]:
        return self._place.cursor

    def save(self, cursor: str) -> None:
        self.forwarder.reached(cursor)

    def follow(self, client: Waybill) -> None:
        events = client.events.follow(
            self,
            types=kinds(self._options),
            start=self._options.since or "now",
            on_page=self.feed.on_page,
            on_retry=self.feed.on_retry,
        )
        for event in events:
            self._offer(event)

    def _offer(self, event: WebhookEvent) -> None:
        if event["id"] in self._place.done:
            self.forwarder.reached(event["id"])
        else:
            self.forwarder.offer(event, self.feed.body_of(event), self._place.attempts.get(event["id"], 0))

    def _send(self, body: bytes) -> Attempt:
        headers = sign_test_event(body, self._secret, header_prefix=self.feed.header_prefix)
        started_at = time.monotonic()
        answer = exchange("POST", self._url, headers, body, _TIMEOUT_S, _ANSWER_MAX_BYTES)
        duration_ms = round((time.monotonic() - started_at) * 1000)
        if isinstance(answer, NoAnswerError):
            unreachable = answer.code == "unreachable" and answer.kind in _UNREACHABLE
            return Attempt(None, duration_ms, _no_answer(answer, unreachable), unreachable)
        taken = 200 <= answer.status < 300
        said = safe_text(answer.body.decode("utf-8", "replace"))[:_SAID_MAX_CHARS]
        return Attempt(answer.status, duration_ms, None if taken else said or "an empty answer")

    def _say_ready(self) -> None:
        if self._options.json:
            say_json({"type": "ready", "forwardTo": self._url, "startsAfter": self._starts_after})
            return
        say(f"Ready: test events are forwarded to {self._url}. Their secret: listen --print-secret")
        if self._options.since:
            say(f"It replays the events since {self._options.since}.")
        elif self._place.saved_at is None:
            say("It begins with new events. --since TIME replays earlier ones.")
        else:
            stopped = f"It continues where it stopped, at {self._place.saved_at.isoformat(timespec='seconds')}."
            say(f"{stopped} --since TIME begins elsewhere ({self._place.path}).")

    def _report(self, event: WebhookEvent, attempt: Attempt, number: int, retry_in_s: Optional[float]) -> None:
        order = event["order"]
        reference = order["orderReference"] if order else None
        if self._options.json:
            say_json(
                {
                    "type": "attempt",
                    "at": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                    "eventId": event["id"],
                    "event": event["event"],
                    "sequence": event["sequence"],
                    "orderReference": reference,
                    "attempt": number,
                    "status": attempt.status,
                    "durationMs": attempt.duration_ms,
                    "failure": attempt.failure,
                    "retryInMs": None if retry_in_s is None else round(retry_in_s * 1000),
                }
            )
            return
        name = f"{event['event']} {reference or '-'} #{event['sequence'] or '-'}"
        again = "given up" if retry_in_s is None else f"again in {round(retry_in_s)} s"
        end = "" if attempt.failure is None else f": {attempt.failure}; {again}"
        result = f"{attempt.status or 'no answer'} in {attempt.duration_ms} ms"
        say(f"{time.strftime('%H:%M:%S')} {name} attempt {number}: {result}{end}")


def _no_answer(error: NoAnswerError, unreachable: bool) -> str:
    if error.code == "unreachable":
        return "nothing listens there" if unreachable else "the connection was closed"
    return "no complete answer in 10 s" if error.code == "timeout" else "the answer is too large"
