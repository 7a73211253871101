"""The sync record of each local order, in one table. No row means `not_started`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Optional, Protocol

from ._call import Mode
from .database import Connection, Database, first


def sha256_of(body: str) -> str:
    """What a body is compared by after it was deleted."""
    return hashlib.sha256(body.encode()).hexdigest()


@dataclass(frozen=True)
class Delivery:
    """What the local order keeps of its delivery."""

    id: str
    tracking_code: str
    tracking_url: str
    status: str


@dataclass(frozen=True)
class SyncError:
    code: str
    message: str


@dataclass(frozen=True)
class Claim:
    attempt: int
    #: The body to send.
    body: str


@dataclass(frozen=True)
class SyncRecord:
    status: Literal["creating", "created", "failed"]
    #: What an earlier attempt may have sent; the next one has to repeat it. Deleted once the delivery is known.
    body: Optional[str]
    #: Of the body that was sent last; empty if the delivery has another body, which is unknown.
    body_sha256: str
    lease_until_ms: int
    delivery: Optional[Delivery]
    error: Optional[SyncError]
    #: When `retry_due` repeats a failed attempt; none if a person decides.
    retry_at_ms: Optional[int] = None


@dataclass(frozen=True)
class OpenRecord:
    """An order without a delivery."""

    local_order_id: str
    attempt: int
    attempted_at_ms: int
    record: SyncRecord


class SyncStore(Protocol):
    def claim(self, local_order_id: str, body: str, now_ms: int, lease_until_ms: int) -> Optional[Claim]:
        """A compare-and-set: of several callers one gets the claim, until its lease ends."""

    def created(self, local_order_id: str, delivery: Delivery, body_sha256: str) -> None:
        """Any attempt's success counts, even after its lease. `body_sha256`: empty if its body is unknown."""

    def failed(
        self, local_order_id: str, attempt: int, error: SyncError, keep_body: bool, retry_at_ms: Optional[int] = None
    ) -> bool:
        """Only of the latest attempt; false if another one has taken over. `keep_body`: the order may exist."""

    def get(self, local_order_id: str) -> Optional[SyncRecord]: ...

    def open(self, limit: int, due_at_ms: Optional[int] = None) -> Sequence[OpenRecord]:
        """Orders without a delivery, the longest untouched first.

        With `due_at_ms` only those to be repeated by then: failed ones by their `retry_at_ms`, and those whose process
        died by the end of its lease.
        """


_CLAIM = """
INSERT INTO waybill_sync (mode, local_order_id, status, body, body_sha256, attempt, attempted_at_ms, lease_until_ms)
VALUES (%s, %s, 'creating', %s, %s, 1, %s, %s)
ON CONFLICT (mode, local_order_id) DO UPDATE SET
  status = 'creating', body = COALESCE(waybill_sync.body, excluded.body), attempt = waybill_sync.attempt + 1,
  body_sha256 = CASE WHEN waybill_sync.body IS NULL THEN excluded.body_sha256 ELSE waybill_sync.body_sha256 END,
  attempted_at_ms = excluded.attempted_at_ms, lease_until_ms = excluded.lease_until_ms,
  error_code = NULL, error_message = NULL, retry_at_ms = NULL
WHERE waybill_sync.status = 'failed'
   OR (waybill_sync.status = 'creating' AND waybill_sync.lease_until_ms <= excluded.attempted_at_ms)
RETURNING attempt, body
"""

_CREATED = """
UPDATE waybill_sync SET status = 'created', body = NULL, error_code = NULL, error_message = NULL, retry_at_ms = NULL,
  order_id = %s, tracking_code = %s, tracking_url = %s, delivery_status = %s,
  body_sha256 = %s
WHERE mode = %s AND local_order_id = %s AND status <> 'created' RETURNING attempt
"""

_FAILED = """
UPDATE waybill_sync SET status = 'failed', error_code = %s, error_message = %s,
  body = CASE WHEN %s = 1 THEN body END, retry_at_ms = %s
WHERE mode = %s AND local_order_id = %s AND status = 'creating' AND attempt = %s RETURNING attempt
"""

_SELECT = """
SELECT status, body, body_sha256, lease_until_ms, order_id, tracking_code, tracking_url, delivery_status,
  error_code, error_message, retry_at_ms, local_order_id, attempt, attempted_at_ms
FROM waybill_sync WHERE mode = %s
"""

_GET = _SELECT + "AND local_order_id = %s"

_OPEN = _SELECT + "AND status <> 'created' ORDER BY attempted_at_ms LIMIT %s"

_DUE = (
    _SELECT
    + """
AND status <> 'created' AND CASE status WHEN 'failed' THEN retry_at_ms ELSE lease_until_ms END <= %s
ORDER BY attempted_at_ms LIMIT %s
"""
)


class SqlSyncStore(Generic[Connection]):
    """Each call is a transaction of its own: a claim that another transaction rolls back would be lost."""

    def __init__(self, database: Database[Connection], mode: Mode) -> None:
        """`mode` is that of the API key, because a local order may be sent with both: `client.mode`."""
        self._database, self._mode = database, mode

    def claim(self, local_order_id: str, body: str, now_ms: int, lease_until_ms: int) -> Optional[Claim]:
        row = self._first(_CLAIM, self._mode, local_order_id, body, sha256_of(body), now_ms, lease_until_ms)
        return Claim(row[0], row[1]) if row else None

    def created(self, local_order_id: str, delivery: Delivery, body_sha256: str) -> None:
        details = (delivery.id, delivery.tracking_code, delivery.tracking_url, delivery.status)
        self._first(_CREATED, *details, body_sha256, self._mode, local_order_id)

    def failed(
        self, local_order_id: str, attempt: int, error: SyncError, keep_body: bool, retry_at_ms: Optional[int] = None
    ) -> bool:
        changes = (error.code, error.message, int(keep_body), retry_at_ms)
        return bool(self._first(_FAILED, *changes, self._mode, local_order_id, attempt))

    def get(self, local_order_id: str) -> Optional[SyncRecord]:
        row = self._first(_GET, self._mode, local_order_id)
        return _record(row) if row else None

    def open(self, limit: int, due_at_ms: Optional[int] = None) -> Sequence[OpenRecord]:
        statement, due = (_OPEN, ()) if due_at_ms is None else (_DUE, (due_at_ms,))
        with self._database.transaction(durable=True) as connection:
            rows = self._database.rows(connection, statement, (self._mode, *due, limit))
        return [OpenRecord(row[11], row[12], row[13], _record(row)) for row in rows]

    def _first(self, statement: str, *parameters: Any) -> Any:
        with self._database.transaction(durable=True) as connection:
            return first(self._database.rows(connection, statement, parameters))


def _record(row: Sequence[Any]) -> SyncRecord:
    status, body, body_sha256, lease_until_ms = row[:4]
    delivery = Delivery(*row[4:8]) if status == "created" else None
    error = SyncError(*row[8:10]) if row[8] is not None else None
    return SyncRecord(status, body, body_sha256, lease_until_ms, delivery, error, row[10])
