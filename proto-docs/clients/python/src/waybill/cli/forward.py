"""Forwards events: one in flight per order, each order in sequence, with the retries of webhooks in test mode."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional

from .._call import Environment

if TYPE_CHECKING:
    from ..schema import WebhookEvent

#: ±20 %.
RETRIES_S = (5.0, 30.0, 120.0, 600.0, 1800.0)
_WORKERS = 8
#: The feed is not read further while so many cursors wait; an event is followed by its cursor.
_UNFINISHED_MAX = 200


@dataclass(frozen=True)
class Attempt:
    """What came of sending an event once."""

    taken: bool
    status: Optional[int]
    duration_s: float
    #: What the receiver said, or why it said nothing.
    error: Optional[str]


class _Queued:
    def __init__(self, event: WebhookEvent) -> None:
        self.event = event
        self.attempts = 0
        self.due_at = 0.0
        self.in_flight = False


class Forwarder:
    """The reader of the feed calls `offer` and `reached`; threads send."""

    def __init__(
        self,
        send: Callable[[WebhookEvent], Attempt],
        report: Callable[[WebhookEvent, Attempt, int, Optional[float]], None],
        save: Callable[[str], None],
        environment: Environment,
        retries_s: Sequence[float] = RETRIES_S,
    ) -> None:
        """`report` gets the event, the attempt, its number, and the seconds until the next one."""
        self._send, self._report, self._save, self._environment = send, report, save, environment
        self._retries_s = retries_s
        self._changed = threading.Condition()
        self._orders: dict[str, deque[_Queued]] = {}
        #: Cursors in the order of the feed; those with an event wait for its end.
        self._unfinished: deque[tuple[str, Optional[str]]] = deque()
        self._ended: set[str] = set()
        self._closed = False
        self._failure: Optional[BaseException] = None
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(_WORKERS)]
        for thread in self._threads:
            thread.start()

    def offer(self, event: WebhookEvent) -> None:
        """Takes an event over, as soon as fewer are waiting."""
        order = event["order"]
        with self._changed:
            while len(self._unfinished) >= _UNFINISHED_MAX:
                self._changed.wait(1)
                self.check()
            self.check()
            self._unfinished.append((event["id"], event["id"]))
            self._orders.setdefault(order["id"] if order else event["id"], deque()).append(_Queued(event))
            self._changed.notify()

    def reached(self, cursor: str) -> None:
        """The feed was read up to a cursor; it is saved when all events before it have ended."""
        with self._changed:
            self.check()
            self._unfinished.append((cursor, None))
            self._save_progress()

    def close(self) -> None:
        """Begins nothing more, and waits for the attempts in flight."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def check(self) -> None:
        """Raises what a thread failed with."""
        if self._failure:
            raise self._failure

    def _work(self) -> None:
        try:
            while True:
                taken = self._take()
                if taken is None:
                    return
                order, queued = taken
                self._settle(order, queued, self._send(queued.event))
        except BaseException as error:  # noqa: BLE001 - raised again in the reader's thread
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _take(self) -> Optional[tuple[str, _Queued]]:
        with self._changed:
            while not self._closed:
                now = self._environment.monotonic()
                heads = [(queue[0], order) for order, queue in self._orders.items() if not queue[0].in_flight]
                head, order = min(heads, key=lambda each: each[0].due_at, default=(None, ""))
                if head and head.due_at <= now:
                    head.in_flight = True
                    head.attempts += 1
                    return order, head
                self._changed.wait(head.due_at - now if head else None)
            return None

    def _settle(self, order: str, queued: _Queued, attempt: Attempt) -> None:
        with self._changed:
            again = None
            if not attempt.taken and queued.attempts <= len(self._retries_s):
                again = self._retries_s[queued.attempts - 1] * (0.8 + 0.4 * self._environment.jitter())
                queued.due_at = self._environment.monotonic() + again
                queued.in_flight = False
            else:
                queue = self._orders[order]
                queue.popleft()
                if not queue:
                    del self._orders[order]
                self._ended.add(queued.event["id"])
                self._save_progress()
            self._report(queued.event, attempt, queued.attempts, again)
            self._changed.notify_all()

    def _save_progress(self) -> None:
        reached = None
        while self._unfinished:
            cursor, event_id = self._unfinished[0]
            if event_id is not None and event_id not in self._ended:
                break
            self._ended.discard(cursor)
            reached = cursor
            self._unfinished.popleft()
        if reached is not None:
            self._save(reached)


def header_prefix(headers: Mapping[str, str]) -> Optional[str]:
    """How the names of the operator's own webhook headers begin, from an answer of the feed."""
    return headers.get("webhook-header-prefix")
