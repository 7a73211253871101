"""Creates the one delivery of a local order, however often and from however many processes it is asked for.

A process that dies during its call leaves `creating` behind. When its lease has ended, the next call repeats the
request with the same key and body, so the service returns the delivery that it created, if any.
"""

from __future__ import annotations

import functools
import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Literal, Optional

from . import _calls
from ._retry import is_transient
from .client import Waybill
from .errors import ApiError, OrderExistsError, WaybillError
from .sync_store import Claim, Delivery, OpenRecord, SyncError, SyncStore, sha256_of

if TYPE_CHECKING:
    from .schema import ExistingOrder, NewOrder

#: How much longer than the client's deadline a lease is: time to store the outcome.
_LEASE_MARGIN_S = 30.0
#: The service has not accepted this body, so the next attempt may send a corrected one. Otherwise it repeats it.
_BODY_REFUSED = frozenset({400, 402, 413, 415, 422})


#: Between the attempts of `retry_due`: growing, for about half a day.
_RETRY_MIN_S, _RETRY_MAX_S, _RETRIES_MAX = 30.0, 3600.0, 20
_LIMIT = 100
_WORK_EVERY_S = 15.0
_log = logging.getLogger("waybill")


def _log_error(local_order_id: str) -> None:
    _log.exception("waybill sync: %s", local_order_id or "the records cannot be read")


def _retry_after_s(cause: WaybillError, attempt: int) -> Optional[float]:
    """The pause after an attempt that failed by itself; none if a person decides."""
    if not is_transient(cause) or attempt >= _RETRIES_MAX:
        return None
    growing = min(_RETRY_MAX_S, _RETRY_MIN_S * 2.0 ** (attempt - 1))
    asked = cause.retry_after if isinstance(cause, ApiError) else None
    return max(growing, asked or 0.0)


@dataclass(frozen=True)
class SyncOutcome:
    #: After `failed`, keep the customer's order, show the error to your staff, and call again for this one order.
    status: Literal["created", "recovered", "already_created", "in_progress", "failed"]
    delivery: Optional[Delivery] = None
    error: Optional[SyncError] = None
    #: Whether `retry_due` repeats it: the service was busy or unreachable. Otherwise a person must do something first.
    retryable: bool = False
    #: When.
    retry_after_s: Optional[float] = None
    #: What the call of this process failed with.
    cause: Optional[WaybillError] = field(default=None, repr=False)


class Sync:
    def __init__(
        self,
        client: Waybill,
        store: SyncStore,
        website: str,
        *,
        lease_s: Optional[float] = None,
        recover_other_body: bool = True,
    ) -> None:
        """The Idempotency-Key is `<website>-<local order id>`: never change `website`.

        Several websites of one account need different references: an existing delivery with the order's reference
        counts as this order's, and its body may differ after the sync record was lost. With
        `recover_other_body=False`, such a call fails, and its `cause` has the delivery as `order`.
        """
        self._recover_other_body = recover_other_body
        self._client, self._store, self._website = client, store, website
        self._lease_s = client.deadline_s + _LEASE_MARGIN_S if lease_s is None else lease_s
        if self._lease_s < client.deadline_s + 1:
            raise ValueError("lease_s must be longer than the client's deadline by at least a second")
        _calls.check_idempotency_key(self._key("1"))

    def ensure(self, local_order_id: str, to_waybill: Callable[[], NewOrder]) -> SyncOutcome:
        """Call it when the order is confirmed, and again when somebody retries a failed order.

        Never call it for old orders or when your program starts. `to_waybill` is called only if no earlier attempt may
        have sent a body. A process that is interrupted leaves `in_progress` until its lease ends.
        """
        _calls.check_idempotency_key(self._key(local_order_id))
        record = self._store.get(local_order_id)
        if record and record.delivery:
            return SyncOutcome("already_created", record.delivery)
        if record and record.status == "creating" and record.lease_until_ms > self._now_ms():
            return SyncOutcome("in_progress")
        body = record.body if record and record.body is not None else _calls.body_of(to_waybill())
        now_ms = self._now_ms()
        claim = self._store.claim(local_order_id, body, now_ms, now_ms + int(self._lease_s * 1000))
        return self._create(local_order_id, claim) if claim else self._outcome_of_other(local_order_id)

    def open(self, limit: int = _LIMIT) -> Sequence[OpenRecord]:
        """The orders without a delivery, the longest untouched first, to show them to your staff."""
        return self._store.open(limit)

    def retry_due(
        self,
        to_waybill: Callable[[str], NewOrder],
        *,
        limit: int = _LIMIT,
        on_outcome: Callable[[str, SyncOutcome], object] = lambda *_: None,
        on_error: Callable[[str], object] = _log_error,
    ) -> None:
        """Repeats what is due, one order after the other. Call it from a scheduled job, or use `work`.

        Due are attempts that failed because the service was busy or unreachable, with growing pauses, and those of
        processes that died. `on_error` is called while an order's exception is handled, for instance of `to_waybill`.
        """
        for due in self._store.open(limit, self._now_ms()):
            try:
                outcome = self.ensure(due.local_order_id, functools.partial(to_waybill, due.local_order_id))
            # One order must not keep the others from their attempts.
            except Exception:  # noqa: BLE001
                on_error(due.local_order_id)
            else:
                on_outcome(due.local_order_id, outcome)

    def work(
        self,
        to_waybill: Callable[[str], NewOrder],
        stop: threading.Event,
        *,
        every_s: float = _WORK_EVERY_S,
        on_outcome: Callable[[str, SyncOutcome], object] = lambda *_: None,
        on_error: Callable[[str], object] = _log_error,
    ) -> None:
        """Calls `retry_due` until `stop` is set. Several processes may do so at once."""
        while not stop.is_set():
            try:
                self.retry_due(to_waybill, on_outcome=on_outcome, on_error=on_error)
            # The database may be back the next time.
            except Exception:  # noqa: BLE001
                on_error("")
            stop.wait(every_s)

    def has_changed(self, local_order_id: str, order: NewOrder) -> bool:
        """Whether the order differs from what was sent last. Build it with the same function as for `ensure`.

        True also if the delivery was recovered with a body that is unknown here.
        """
        record = self._store.get(local_order_id)
        return record is not None and record.body_sha256 != sha256_of(_calls.body_of(order))

    def _create(self, local_order_id: str, claim: Claim) -> SyncOutcome:
        try:
            created = self._client.orders.create(claim.body, idempotency_key=self._key(local_order_id))
            order, recovered, body_sha256 = created.order, created.replayed, sha256_of(claim.body)
            delivery = Delivery(order["id"], order["trackingCode"], order["trackingUrl"], order["status"])
        except WaybillError as error:
            found = _existing_order(error, claim.body) if self._recover_other_body else None
            recovered, body_sha256 = True, ""
            if not found:
                return self._fail(local_order_id, claim.attempt, error)
            delivery = Delivery(found["id"], found["trackingCode"], found["trackingUrl"], found["status"])
        except Exception:
            # A hook failed, for instance: the service may have accepted the order.
            self._store.failed(
                local_order_id, claim.attempt, SyncError("internal", "The call failed in this process."), True
            )
            raise
        self._store.created(local_order_id, delivery, body_sha256)
        return SyncOutcome("recovered" if recovered else "created", delivery)

    def _fail(self, local_order_id: str, attempt: int, cause: WaybillError) -> SyncOutcome:
        error = SyncError(cause.code, str(cause))
        keep_body = not (isinstance(cause, ApiError) and cause.status in _BODY_REFUSED)
        after_s = _retry_after_s(cause, attempt)
        retry_at_ms = None if after_s is None else self._now_ms() + int(after_s * 1000)
        if self._store.failed(local_order_id, attempt, error, keep_body, retry_at_ms):
            return SyncOutcome("failed", None, error, after_s is not None, after_s, cause)
        return self._outcome_of_other(local_order_id)

    def _outcome_of_other(self, local_order_id: str) -> SyncOutcome:
        """Another caller got the claim."""
        record = self._store.get(local_order_id)
        if record and record.delivery:
            return SyncOutcome("already_created", record.delivery)
        if record and record.status == "failed":
            at = record.retry_at_ms
            left_s = None if at is None else max(0.0, (at - self._now_ms()) / 1000)
            return SyncOutcome("failed", None, record.error, at is not None, left_s)
        return SyncOutcome("in_progress")

    def _key(self, local_order_id: str) -> str:
        return f"{self._website}-{local_order_id}"

    def _now_ms(self) -> int:
        return int(self._client.environment.now() * 1000)


def _existing_order(error: WaybillError, body: str) -> Optional[ExistingOrder]:
    """The delivery of this local order that the service has already, if the error contains it."""
    if isinstance(error, OrderExistsError):
        return error.order
    # After the sync record was lost, a new body may differ. Key and reference still prove that it is the same order.
    if not isinstance(error, ApiError) or error.code != "idempotency_key_reused" or not error.order:
        return None
    is_same = error.order.get("orderReference") == json.loads(body).get("orderReference")
    return error.order if is_same else None
