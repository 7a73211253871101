"""The feed of events: everything that webhooks report about orders, in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional, Protocol

from . import _calls
from ._call import Answer, Call
from ._elements import elements_of
from ._retry import is_transient, pause
from ._transport import Transport
from .errors import NoAnswerError, WaybillError
from .webhooks import PREFIX, is_event

#: A reader waits no longer than this, whatever `Retry-After` says.
PAUSE_MAX_S = 60.0
#: Polls in a row without a usable answer: a captive portal or a wrong address, which waiting does not end.
_UNUSABLE_MAX = 10

if TYPE_CHECKING:
    from .schema import WebhookEvent


@dataclass(frozen=True)
class EventPage:
    data: Sequence[WebhookEvent]
    #: The body of each event's webhook, byte for byte.
    bodies: Sequence[bytes]
    #: The cursor after this page, also of an empty one.
    next: str
    #: Whether more events may follow now, even if `data` is empty.
    has_more: bool
    #: Begins the names of the operator's webhook headers.
    header_prefix: str

    @staticmethod
    def of(answer: Answer) -> EventPage:
        data, bodies = answer.body["data"], elements_of(answer.text)
        if len(bodies) != len(data) or not all(is_event(event) for event in data):
            raise NoAnswerError("unusable_answer")
        prefix = answer.headers.get("webhook-header-prefix", PREFIX)
        return EventPage(data, bodies, answer.body["next"], answer.body["hasMore"], prefix)


class CursorStore(Protocol):
    """Where a reader of the feed keeps its place."""

    def load(self) -> Optional[str]: ...

    def save(self, cursor: str) -> None: ...


class Reading:
    """The state of a reader that follows the feed. Its caller sends the calls, and waits."""

    def __init__(self, cursor: Optional[str], start: Optional[str], types: Sequence[str], wait_seconds: int) -> None:
        self._since = start if cursor is None and start != "now" else None
        self._cursor = "now" if cursor is None and start == "now" else cursor
        self._types, self._wait_seconds = types, wait_seconds
        # The first poll does not wait, so that its answer shows at once whether the key works.
        self._wait = self._failures = self._unusable = 0

    def poll(self) -> Call:
        return _calls.events(self._cursor, self._since, self._types, _calls.PAGE_MAX, self._wait)

    def failed(self, error: WaybillError, jitter: float) -> float:
        """The seconds until the next poll. Raises an error that waiting cannot end."""
        if not is_transient(error):
            raise error
        self._failures += 1
        self._unusable = self._unusable + 1 if error.code == "unusable_answer" else 0
        if self._unusable == _UNUSABLE_MAX:
            raise error
        return min(pause(self._failures, error, jitter), PAUSE_MAX_S)

    def has_moved(self, page: EventPage) -> bool:
        """Continues after this page. Returns whether the place has changed."""
        moved = page.next != self._cursor
        self._cursor, self._since = page.next, None
        self._wait, self._failures, self._unusable = self._wait_seconds, 0, 0
        return moved


class Events:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, event_id: str) -> WebhookEvent:
        event: WebhookEvent = self._transport.send(_calls.event(event_id)).body
        return event

    def page(
        self,
        *,
        starting_after: Optional[str] = None,
        since: Optional[str] = None,
        types: Sequence[str] = (),
        limit: int = _calls.PAGE_MAX,
        wait_seconds: int = 0,
    ) -> EventPage:
        """One page, oldest event first. With `wait_seconds` the service waits for the first event.

        `starting_after` is a page's `next`, an event's id, or `now` for later events only.
        """
        return EventPage.of(self._transport.send(_calls.events(starting_after, since, types, limit, wait_seconds)))

    def list(
        self,
        *,
        starting_after: Optional[str] = None,
        since: Optional[str] = None,
        types: Sequence[str] = (),
    ) -> Iterator[WebhookEvent]:
        """All events up to now."""
        while True:
            page = self.page(starting_after=starting_after, since=since, types=types)
            yield from page.data
            if not page.has_more:
                return
            starting_after, since = page.next, None

    def follow(
        self,
        cursors: CursorStore,
        *,
        types: Sequence[str] = (),
        start: Optional[str] = None,
        wait_seconds: int = _calls.WAIT_MAX_S,
        on_page: Optional[Callable[[EventPage], None]] = None,
        on_retry: Optional[Callable[[WaybillError], None]] = None,
        stop: Optional[threading.Event] = None,
    ) -> Iterator[WebhookEvent]:
        """All events, for ever, or until `stop` is set, which is noticed when the present poll ends.

        An event's place is saved when you ask for the next one, so an event whose handling failed comes again. Without
        a stored cursor it begins with the oldest event, or at `start`: `now` or a time (RFC 3339). Outages are waited
        out; log them with `on_retry`. An error that waiting cannot end, such as an invalid key, is raised, and so is
        `unusable_answer` after ten polls in a row.
        """
        reading = Reading(cursors.load(), start, types, wait_seconds)
        environment = self._transport.settings.environment
        while not (stop and stop.is_set()):
            try:
                page = EventPage.of(self._transport.send(reading.poll()))
            except WaybillError as error:
                seconds = reading.failed(error, environment.jitter())
                if on_retry:
                    on_retry(error)
                environment.sleep(seconds)
                continue
            if on_page:
                on_page(page)
            for event in page.data:
                yield event
                cursors.save(event["id"])
            if reading.has_moved(page):
                cursors.save(page.next)
