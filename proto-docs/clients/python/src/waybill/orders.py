"""The calls about orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _calls
from ._call import Call
from ._transport import Transport

if TYPE_CHECKING:
    from .schema import (
        NewDelivery,
        NewOrder,
        Order,
        OrderCreated,
        OrderEvidence,
        SimulatedEvent,
        SimulatedOrder,
        TimelineEntry,
    )


@dataclass(frozen=True)
class Created:
    order: OrderCreated
    #: The order already existed, and this is the answer to its first request.
    replayed: bool


class Orders:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, order: Union[NewOrder, str], *, idempotency_key: str) -> Created:
        """Creates one delivery. Pass a text to send the stored body of an earlier attempt.

        The key is stable for the local order, such as `<website>-<order id>`. Use the same one for every attempt.
        """
        answer = self._transport.send(_calls.create(order, idempotency_key))
        return Created(answer.body, answer.headers.get("idempotent-replayed") == "true")

    def get(self, order_id: str) -> Order:
        order: Order = self._transport.send(_calls.get(order_id)).body
        return order

    def list(
        self,
        *,
        order_reference: Optional[str] = None,
        tracking_code: Optional[str] = None,
        status: Optional[str] = None,
        updated_after: Optional[str] = None,
        cod_status: Optional[str] = None,
        payment_type: Optional[str] = None,
        created_from: Optional[str] = None,
        created_until: Optional[str] = None,
        search: Optional[str] = None,
        starting_after: Optional[str] = None,
        page_size: int = 100,
    ) -> Iterator[Order]:
        """All orders that match: newest first, or with `updated_after` by their last change, oldest first."""
        filters = _calls.order_filters(
            order_reference=order_reference,
            tracking_code=tracking_code,
            status=status,
            updated_after=updated_after,
            cod_status=cod_status,
            payment_type=payment_type,
            created_from=created_from,
            created_until=created_until,
            search=search,
            page_size=page_size,
        )
        return self._pages(lambda cursor: _calls.order_page({**filters, "startingAfter": cursor}), starting_after)

    def timeline(
        self,
        order_id: str,
        *,
        starting_after: Optional[str] = None,
        on_incomplete: Optional[Callable[[Sequence[str]], None]] = None,
    ) -> Iterator[TimelineEntry]:
        """Everything that happened to an order, oldest first.

        `on_incomplete` gets the services (`wallet`, `webhook-dispatcher`) that did not answer, for each page that lacks
        their entries.
        """

        def page(cursor: Optional[str]) -> Call:
            return _calls.timeline_page(order_id, {"startingAfter": cursor})

        return self._pages(page, starting_after, on_incomplete)

    def cancel(self, order_id: str, *, reason: Optional[str] = None) -> Order:
        """Cancels an order before its pickup. A repeated call returns the same order."""
        order: Order = self._transport.send(_calls.cancel(order_id, reason)).body
        return order

    def reattempt(self, order_id: str, *, date: Optional[str] = None, note: Optional[str] = None) -> Order:
        """Asks for another attempt at a delivery that failed after its pickup. A repeated call returns the same order.

        The day is `2026-01-31`, in India. Without one: as soon as possible.
        """
        order: Order = self._transport.send(_calls.reattempt(order_id, date, note)).body
        return order

    def request_return(self, order_id: str) -> Order:
        """Asks for the parcel of a delivery that failed after its pickup. A repeated call returns the same order."""
        order: Order = self._transport.send(_calls.request_return(order_id)).body
        return order

    def correct_delivery(
        self, order_id: str, *, phone: Optional[str] = None, delivery: Optional[NewDelivery] = None
    ) -> Order:
        """Corrects the phone, the whole address, or both, before the delivery has ended."""
        order: Order = self._transport.send(_calls.correct_delivery(order_id, phone, delivery)).body
        return order

    def issue_delivery_code(self, order_id: str) -> str:
        """A code for the customer, who tells it to the driver. A repeated call returns the same code."""
        code: str = self._transport.send(_calls.delivery_code(order_id)).body["deliveryCode"]
        return code

    def evidence(self, order_id: str) -> OrderEvidence:
        """The records of an order's attempts, for disputes."""
        evidence: OrderEvidence = self._transport.send(_calls.evidence(order_id)).body
        return evidence

    def simulate(self, order_id: str, event: SimulatedEvent) -> SimulatedOrder:
        """Moves a test order. After a lost answer, look at the order before you move it again."""
        order: SimulatedOrder = self._transport.send(_calls.simulate(order_id, event)).body
        return order

    def _pages(
        self,
        page: Callable[[Optional[str]], Call],
        cursor: Optional[str],
        on_incomplete: Optional[Callable[[Sequence[str]], None]] = None,
    ) -> Iterator[Any]:
        while True:
            answer = self._transport.send(page(cursor))
            if on_incomplete and answer.body.get("incomplete"):
                on_incomplete(answer.body["incomplete"])
            yield from answer.body["data"]
            cursor = _calls.page_after(answer)
            if cursor is None:
                return
