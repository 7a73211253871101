"""Sends events to the receiver as the service would: in order for each order, with the retries of test mode."""

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
#: Between attempts while nothing listens at the URL. They use up no retry.
UNREACHABLE_PAUSE_S = 2.0
_WORKERS = 8
#: The feed is not read further while so many events and cursors wait.
_UNFINISHED_MAX = 100


@dataclass(frozen=True)
class Attempt:
    """What came of sending an event once."""

    status: Optional[int]
    duration_ms: int
    #: What the receiver said, or why there was no answer; none after a success.
    failure: Optional[str]
    #: Nothing listens at the URL.
    unreachable: bool = False


class _Queued:
    def __init__(self, event: WebhookEvent, body: bytes, attempts: int) -> None:
        self.event, self.body = event, body
        self.attempts = attempts
        self.due_at = 0.0
        self.in_flight = False


class Forwarder:
    """The reader of the feed calls `offer` and `reached`; threads send."""

    def __init__(
        self,
        send: Callable[[bytes], Attempt],
        report: Callable[[WebhookEvent, Attempt, int, Optional[float]], None],
        save: Callable[[Optional[str], Sequence[str], Mapping[str, int]], None],
        environment: Optional[Environment] = None,
        cursor: Optional[str] = None,
        retries_s: Sequence[float] = RETRIES_S,
        unreachable_pause_s: float = UNREACHABLE_PAUSE_S,
    ) -> None:
        """`report` gets the event, the attempt, its number, and the seconds until the next one.

        `save` gets the last cursor before which all events have ended, the ids of later events that have ended, and the
        failed attempts of those that have not.
        """
        self._send, self._report, self._save = send, report, save
        self._environment = environment or Environment()
        self._retries_s, self._unreachable_pause_s = retries_s, unreachable_pause_s
        self._changed = threading.Condition()
        self._orders: dict[str, deque[_Queued]] = {}
        #: Cursors in the order of the feed, and whether what they stand for has ended.
        self._unfinished: dict[str, bool] = {}
        self._reached = cursor
        self._in_flight = 0
        #: While the receiver is down, one event at a time tries, and not before this moment.
        self._down_until: Optional[float] = None
        self._closed = False
        self._error: Optional[BaseException] = None
        for _ in range(_WORKERS):
            threading.Thread(target=self._work, daemon=True).start()

    def offer(self, event: WebhookEvent, body: bytes, attempts: int = 0) -> None:
        """Takes an event over, as soon as fewer are waiting. `attempts`: those of an earlier run."""
        order = event["order"]
        with self._changed:
            while len(self._unfinished) >= _UNFINISHED_MAX:
                self.check()
                self._changed.wait(1)
            self.check()
            self._unfinished[event["id"]] = False
            self._orders.setdefault(order["id"] if order else event["id"], deque()).append(
                _Queued(event, body, attempts)
            )
            self._changed.notify_all()

    def reached(self, cursor: str) -> None:
        """The feed was read up to a cursor; it is saved when all events before it have ended."""
        with self._changed:
            self.check()
            self._unfinished.setdefault(cursor, True)
            self._save_place()

    def close(self) -> None:
        """Begins nothing more. Attempts in flight are not recorded; the next run repeats them."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def check(self) -> None:
        """Raises what a thread failed with."""
        if self._error:
            raise self._error

    def _work(self) -> None:
        try:
            while queued := self._take():
                self._settle(queued, self._send(queued.body))
        except BaseException as error:  # noqa: BLE001 - raised again in the reader's thread
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _take(self) -> Optional[_Queued]:
        with self._changed:
            while not self._closed:
                now = self._environment.monotonic()
                heads = [queue[0] for queue in self._orders.values() if not queue[0].in_flight]
                head = min(heads, key=lambda each: each.due_at, default=None)
                if head is None or (self._down_until is not None and self._in_flight > 0):
                    self._changed.wait()
                    continue
                due_at = max(head.due_at, self._down_until or 0.0)
                if due_at <= now:
                    head.in_flight = True
                    head.attempts += 1
                    self._in_flight += 1
                    return head
                self._changed.wait(due_at - now)
            return None

    def _settle(self, queued: _Queued, attempt: Attempt) -> None:
        with self._changed:
            if self._closed:
                return
            number = queued.attempts
            retry_in_s = self._retry_in_s(queued, attempt)
            now = self._environment.monotonic()
            self._in_flight -= 1
            self._down_until = now + self._unreachable_pause_s if attempt.unreachable else None
            if attempt.unreachable:
                queued.attempts -= 1
            if retry_in_s is not None:
                queued.due_at = now + retry_in_s
                queued.in_flight = False
                self._save_place()
            else:
                self._end(queued.event)
            self._report(queued.event, attempt, number, retry_in_s)
            self._changed.notify_all()

    def _retry_in_s(self, queued: _Queued, attempt: Attempt) -> Optional[float]:
        if attempt.failure is None:
            return None
        if attempt.unreachable:
            return self._unreachable_pause_s
        if queued.attempts > len(self._retries_s):
            return None
        return self._retries_s[queued.attempts - 1] * (0.8 + 0.4 * self._environment.jitter())

    def _end(self, event: WebhookEvent) -> None:
        key = event["order"]["id"] if event["order"] else event["id"]
        self._orders[key].popleft()
        if not self._orders[key]:
            del self._orders[key]
        self._unfinished[event["id"]] = True
        self._save_place()

    def _save_place(self) -> None:
        for cursor, ended in list(self._unfinished.items()):
            if not ended:
                break
            self._reached = cursor
            del self._unfinished[cursor]
        done = [cursor for cursor, ended in self._unfinished.items() if ended]
        waiting = [each for queue in self._orders.values() for each in queue if each.attempts and not each.in_flight]
        self._save(self._reached, done, {each.event["id"]: each.attempts for each in waiting})
