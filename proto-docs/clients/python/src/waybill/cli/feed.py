"""What the commands that follow the feed have in common: the bodies as they were sent, and word of outages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from ..errors import WaybillError
from ..events import EventPage
from ..webhooks import PREFIX
from .output import say_error

if TYPE_CHECKING:
    from ..schema import WebhookEvent


class Feed:
    def __init__(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """`on_ready` is called after the first answered poll."""
        self.header_prefix = PREFIX
        self._on_ready = on_ready
        self._bodies: dict[str, bytes] = {}
        self._ready = self._interrupted = False

    def body_of(self, event: WebhookEvent) -> bytes:
        """The body of an event of the present page. Serializing the event again could change its bytes."""
        return self._bodies[event["id"]]

    def on_page(self, page: EventPage) -> None:
        self.header_prefix = page.header_prefix
        self._bodies = {event["id"]: body for event, body in zip(page.data, page.bodies)}
        if self._interrupted:
            say_error("Connected again.")
        if not self._ready:
            self._on_ready()
        self._ready, self._interrupted = True, False

    def on_retry(self, error: WaybillError) -> None:
        if not self._interrupted:
            say_error(f"The feed is unavailable: {error.message} Trying again.")
        self._interrupted = True
