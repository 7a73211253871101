"""What each method sends, shared by the synchronous and the asynchronous client."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union, cast

from ._call import Answer, Call, Query
from .errors import DELIVERY_FIELDS, NoAnswerError

if TYPE_CHECKING:
    from .schema import NewDelivery, NewOrder

PAGE_MAX = 100
#: The longest wait for events that the service allows.
WAIT_MAX_S = 25
ORDERS = "/integration/orders"


def create(order: Union[NewOrder, str], idempotency_key: str) -> Call:
    check_idempotency_key(idempotency_key)
    body = order if isinstance(order, str) else body_of(order)
    return Call("POST", ORDERS, True, DELIVERY_FIELDS, body=body, idempotency_key=idempotency_key)


def check_idempotency_key(key: str) -> None:
    if not isinstance(key, str) or not re.fullmatch(r"[!-~](?:[ -~]{0,253}[!-~])?", key):
        raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters, stable for the order")


def body_of(order: NewOrder) -> str:
    return json.dumps(order, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def get(order_id: str) -> Call:
    return Call("GET", _path(order_id), True, DELIVERY_FIELDS)


def cancel(order_id: str, reason: Optional[str]) -> Call:
    body = json.dumps({} if reason is None else {"reason": reason}, ensure_ascii=False)
    return Call("POST", f"{_path(order_id)}/cancel", True, DELIVERY_FIELDS, body=body)


def reattempt(order_id: str, date: Optional[str], note: Optional[str]) -> Call:
    return _change(order_id, "reattempt", {"date": date, "note": note})


def request_return(order_id: str) -> Call:
    return _change(order_id, "return", {})


def correct_delivery(order_id: str, phone: Optional[str], delivery: Optional[NewDelivery]) -> Call:
    return _change(order_id, "delivery-details", {"phone": phone, "delivery": delivery})


def delivery_code(order_id: str) -> Call:
    return Call("POST", f"{_path(order_id)}/delivery-code", True, ("deliveryCode",), body="{}")


def evidence(order_id: str) -> Call:
    return Call("GET", f"{_path(order_id)}/evidence", True, ("order", "attempts"))


def _change(order_id: str, call: str, fields: dict[str, Any]) -> Call:
    given = {name: value for name, value in fields.items() if value is not None}
    body = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return Call("POST", f"{_path(order_id)}/{call}", True, DELIVERY_FIELDS, body=body)


def simulate(order_id: str, event: str) -> Call:
    # A second move would not be the same, so a lost answer is an error.
    body = json.dumps({"event": event})
    return Call("POST", f"{_path(order_id)}/simulate", False, DELIVERY_FIELDS, body=body)


def order_filters(
    *,
    order_reference: Optional[str],
    tracking_code: Optional[str],
    status: Optional[str],
    updated_after: Optional[str],
    cod_status: Optional[str],
    payment_type: Optional[str],
    created_from: Optional[str],
    created_until: Optional[str],
    search: Optional[str],
    page_size: int,
) -> Query:
    return {
        "orderReference": order_reference,
        "trackingCode": tracking_code,
        "status": status,
        "updatedAfter": updated_after,
        "codStatus": cod_status,
        "paymentType": payment_type,
        "createdFrom": created_from,
        "createdUntil": created_until,
        "search": search,
        "limit": page_size,
    }


def order_page(query: Query) -> Call:
    return Call("GET", ORDERS, True, ("data", "hasMore"), query)


def timeline_page(order_id: str, query: Query) -> Call:
    return Call("GET", f"{_path(order_id)}/events", True, ("data", "hasMore"), {"limit": PAGE_MAX, **query})


def page_after(answer: Answer) -> Optional[str]:
    """The cursor of the page after this one, if there is one."""
    data = answer.body["data"]
    if not answer.body["hasMore"]:
        return None
    if answer.body.get("next"):
        return cast(str, answer.body["next"])
    if not data:
        raise NoAnswerError("unusable_answer")
    return cast(str, data[-1]["id"])


def events(
    starting_after: Optional[str],
    since: Optional[str],
    types: Sequence[str],
    limit: int,
    wait_seconds: int,
) -> Call:
    if not 0 <= wait_seconds <= WAIT_MAX_S:
        raise ValueError(f"wait_seconds must be 0 to {WAIT_MAX_S}")
    query = {
        "limit": limit,
        "startingAfter": starting_after,
        "since": since,
        "types": ",".join(types) or None,
        "waitSeconds": wait_seconds or None,
    }
    return Call("GET", "/integration/events", True, ("data", "hasMore", "next"), query, wait_s=wait_seconds)


def event(event_id: str) -> Call:
    if not re.fullmatch(r"evt_\w{1,64}", event_id, re.ASCII):
        raise ValueError("the event's id must begin with evt_")
    return Call("GET", f"/integration/events/{event_id}", True, ("id", "event"))


def _path(order_id: str) -> str:
    if not re.fullmatch(r"ord_\w{1,64}", order_id, re.ASCII):
        raise ValueError(
            "an order's id is ord_ and 26 characters, from the response that created it; by your reference, use list"
        )
    return f"{ORDERS}/{order_id}"
