"""Applies each event once and in order, whether it arrives as a webhook or from the feed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, Optional, Union

from ._call import Environment, Mode
from ._calls import WAIT_MAX_S
from .client import Waybill
from .database import Connection, Database, first
from .errors import Reason, WaybillError, WebhookError
from .webhooks import PREFIX, TOLERANCE_SECONDS, Secrets, construct_event, parse_secrets

if TYPE_CHECKING:
    from .schema import WebhookEvent

Receipt = Literal["applied", "duplicate", "stale", "other_mode"]
#: `other_mode` is answered with 200; all others with 401.
IgnoredReason = Union[Reason, Literal["other_mode"]]

_logger = logging.getLogger("waybill")

_IS_NEW = """
INSERT INTO waybill_events (event_id, received_at_ms) VALUES (%s, %s)
ON CONFLICT (event_id) DO NOTHING RETURNING event_id
"""
# The row's lock keeps two events of an order apart.
_IS_NEXT = """
INSERT INTO waybill_sequences (order_id, last_sequence) VALUES (%s, %s)
ON CONFLICT (order_id) DO UPDATE SET last_sequence = excluded.last_sequence
WHERE waybill_sequences.last_sequence < excluded.last_sequence RETURNING order_id
"""
_FORGET = "DELETE FROM waybill_events WHERE received_at_ms < %s RETURNING event_id"
_LOAD = "SELECT feed_cursor FROM waybill_cursors WHERE reader = %s"
_SAVE = """
INSERT INTO waybill_cursors (reader, feed_cursor) VALUES (%s, %s)
ON CONFLICT (reader) DO UPDATE SET feed_cursor = excluded.feed_cursor RETURNING reader
"""


def _log_refusal(reason: IgnoredReason) -> None:
    """The sender learns no reason, and a wrong clock must not look like a wrong secret."""
    _logger.warning("webhook refused: %s", reason)


class Receiver(Generic[Connection]):
    """`apply` gets the event and the connection of the transaction.

    It only updates local orders that exist. If it raises, nothing is stored, and the event comes again.
    """

    def __init__(
        self,
        database: Database[Connection],
        secrets: Secrets,
        mode: Mode,
        *,
        on_stale: Optional[Callable[[WebhookEvent, Connection], None]] = None,
        on_refused: Optional[Callable[[IgnoredReason], None]] = None,
        header_prefix: str = PREFIX,
        tolerance_seconds: int = TOLERANCE_SECONDS,
        environment: Optional[Environment] = None,
    ) -> None:
        """`secrets` are the signing secrets: one, or two while you rotate.

        Events of the other `mode` are ignored, because their references may be the same. `on_stale` is called instead
        of `apply` for an event that is older than the last one of its order, to record what matters on its own.
        `on_refused` is called when a webhook is not applied because it is refused or of the other mode; by default, the
        reason is logged.
        """
        self._database, self._mode = database, mode
        self._on_stale, self._on_refused = on_stale, on_refused or _log_refusal
        self._secrets = parse_secrets(secrets)
        self._header_prefix, self._tolerance_seconds = header_prefix, tolerance_seconds
        self._environment = environment or Environment()

    def receive(
        self,
        raw_body: Union[bytes, str],
        headers: Mapping[str, str],
        apply: Callable[[WebhookEvent, Connection], None],
    ) -> Receipt:
        """Verifies a webhook and applies its event. Answer 200 for every receipt, and 401 after a WebhookError."""
        try:
            event = construct_event(
                raw_body,
                headers,
                self._secrets,
                header_prefix=self._header_prefix,
                tolerance_seconds=self._tolerance_seconds,
                now=self._environment.now(),
            )
        except WebhookError as error:
            self._on_refused(error.reason)
            raise
        if event["mode"] != self._mode:
            self._on_refused("other_mode")
        return self.accept(event, apply)

    def accept(self, event: WebhookEvent, apply: Callable[[WebhookEvent, Connection], None]) -> Receipt:
        """Applies an event that is trusted already, because it comes from the feed."""
        if event.get("mode") != self._mode:
            return "other_mode"
        with self._database.transaction() as connection:
            now_ms = int(self._environment.now() * 1000)
            if not self._database.rows(connection, _IS_NEW, (event["id"], now_ms)):
                return "duplicate"
            if self._is_next(event, connection):
                apply(event, connection)
                return "applied"
            if self._on_stale:
                self._on_stale(event, connection)
            return "stale"

    def _is_next(self, event: WebhookEvent, connection: Connection) -> bool:
        place = _place_of(event)
        return place is None or bool(self._database.rows(connection, _IS_NEXT, place))

    def follow(
        self,
        client: Waybill,
        reader: str,
        apply: Callable[[WebhookEvent, Connection], None],
        *,
        types: Sequence[str] = (),
        start: Optional[str] = None,
        on_receipt: Optional[Callable[[WebhookEvent, Receipt], None]] = None,
        on_retry: Optional[Callable[[WaybillError], None]] = None,
        stop: Optional[threading.Event] = None,
        wait_seconds: int = WAIT_MAX_S,
    ) -> None:
        """Follows the feed into the same tables, with a cursor under the name of this reader."""
        if client.mode != self._mode:
            raise ValueError("the receiver and the key have different modes")
        cursors = _Cursors(self._database, reader)
        for event in client.events.follow(
            cursors, types=types, start=start, wait_seconds=wait_seconds, on_retry=on_retry, stop=stop
        ):
            receipt = self.accept(event, apply)
            if on_receipt:
                on_receipt(event, receipt)

    def forget(self, before_ms: int) -> int:
        """Forgets the ids of events received before a time. Keep 30 days: the service sends none again after that."""
        with self._database.transaction() as connection:
            return len(self._database.rows(connection, _FORGET, (before_ms,)))


def _place_of(event: Mapping[str, Any]) -> Optional[tuple[str, int]]:
    """The order's id and the sequence. Events without an order, or of a later form, wait for no others."""
    order, sequence = event.get("order"), event.get("sequence")
    order_id = order.get("id") if isinstance(order, dict) else None
    if isinstance(order_id, str) and order_id and type(sequence) is int and abs(sequence) < 2**53:
        return order_id, sequence
    return None


class _Cursors(Generic[Connection]):
    def __init__(self, database: Database[Connection], reader: str) -> None:
        self._database, self._reader = database, reader

    def load(self) -> Optional[str]:
        with self._database.transaction() as connection:
            row = first(self._database.rows(connection, _LOAD, (self._reader,)))
        return str(row[0]) if row else None

    def save(self, cursor: str) -> None:
        with self._database.transaction() as connection:
            self._database.rows(connection, _SAVE, (self._reader, cursor))
