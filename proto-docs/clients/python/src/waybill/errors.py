"""What a call can fail with. `code` is for programs and stays the same; the message is for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional

from ._secret import redact_all, safe_text

if TYPE_CHECKING:
    from .schema import ExistingOrder, Fault, Warning

NoAnswerCode = Literal["timeout", "unreachable", "unusable_answer"]


class WaybillError(Exception):
    """The base of every error of this package, except wrong arguments (`ValueError`)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(safe_text(message))
        self.code = code
        self.message = safe_text(message)


class NoAnswerError(WaybillError):
    """No usable answer: the outcome is unknown. Repeat the call with the same key and body."""

    def __init__(self, code: NoAnswerCode, kind: str = "", call: str = "") -> None:
        """`kind` names what failed, such as `SSLCertVerificationError`; texts of errors contain addresses."""
        details = ", ".join(detail for detail in (call, kind) if detail)
        super().__init__(code, _NO_ANSWER[code] + (f" ({details})." if details else "."))
        self.code: NoAnswerCode = code
        self.kind = kind


_NO_ANSWER: Mapping[NoAnswerCode, str] = {
    "timeout": "The service did not answer in time",
    "unreachable": "The service is unreachable, or closed the connection",
    "unusable_answer": "The service's answer cannot be read",
}


class ApiError(WaybillError):
    """An answer that is no success."""

    def __init__(
        self,
        status: int,
        body: Mapping[str, Any],
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        message = _text(body.get("message")) or f"The service answered {status}."
        super().__init__(_text(body.get("code")) or f"http_{status}", message)
        self.status = status
        #: Names the request in the service's logs; include it when you ask for help.
        self.request_id = _text(body.get("requestId")) or request_id
        self.retry_after = retry_after
        #: Every error of the request at once (400).
        self.errors: Sequence[Fault] = _list(body.get("errors"), "field", "message")
        self.warnings: Sequence[Warning] = _list(body.get("warnings"))
        #: The open items of the go-live list (403 `live_api_locked`).
        self.missing: Sequence[str] = _list(body.get("missing"))
        #: The events that are possible next (409 `illegal_transition`).
        self.legal: Sequence[str] = _list(body.get("legal"))
        #: 402: the missing amount, the balance and the fee.
        self.shortfall_paise = _whole(body.get("shortfallPaise"))
        self.balance_paise = _whole(body.get("balancePaise"))
        self.required_paise = _whole(body.get("requiredPaise"))
        #: The delivery that has the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`).
        self.order: Optional[ExistingOrder] = body["order"] if has_all(body.get("order"), DELIVERY_FIELDS) else None
        #: The whole parsed answer without keys and secrets: `status` of the order, `differences`, `requiredScope` …
        self.body: Mapping[str, Any] = redact_all({name: part for name, part in body.items() if part is not None})

    def __str__(self) -> str:
        named = "; ".join(f"{fault['field'] or 'body'}: {fault['message']}" for fault in self.errors)
        request = f" (request {self.request_id})" if self.request_id else ""
        return safe_text(f"{self.status} {self.code}: {named or self.message}{request}")


class InvalidRequestError(ApiError):
    """400, 413, 415, 422 and the like: correct the request."""


class AuthenticationError(ApiError):
    """401: check the key."""


class InsufficientBalanceError(ApiError):
    """402: top up `shortfall_paise`, then repeat."""


class PermissionDeniedError(ApiError):
    """403: complete the items in `missing`, or use a key of the other mode."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: see `code`."""


class OrderExistsError(ConflictError):
    """409 `order_reference_exists`: the delivery exists; save the details in `order`."""

    def __init__(self, status: int, body: Mapping[str, Any], request_id: Optional[str] = None) -> None:
        super().__init__(status, body, request_id)
        self.order: ExistingOrder = body["order"]


class RateLimitError(ApiError):
    """429: wait for `retry_after` seconds."""


class ServerError(ApiError):
    """408 and 5xx: the outcome is unknown. Repeat the call with the same key and body."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: AuthenticationError,
    402: InsufficientBalanceError,
    403: PermissionDeniedError,
    404: NotFoundError,
    408: ServerError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(status: int, body: Mapping[str, Any], request_id: Optional[str], retry_after: Optional[float]) -> ApiError:
    """The error of an answer that is no success."""
    if status == 409 and body.get("code") == "order_reference_exists" and has_all(body.get("order"), DELIVERY_FIELDS):
        return OrderExistsError(status, body, request_id)
    fallback = ServerError if status >= 500 else InvalidRequestError if status >= 400 else ApiError
    return _BY_STATUS.get(status, fallback)(status, body, request_id, retry_after)


Reason = Literal["missing_headers", "malformed_timestamp", "too_old", "too_new", "mismatch", "not_an_event"]

_REASONS: Mapping[Reason, str] = {
    "missing_headers": "A signature header is missing; check the header prefix, and proxies that remove headers.",
    "malformed_timestamp": "The timestamp is not a number of Unix seconds.",
    "too_old": "The webhook was signed too long ago; check the clock of this machine.",
    "too_new": "The webhook was signed in the future; check the clock of this machine.",
    "mismatch": "The signature does not match; check the secret, and pass the raw bytes of the body.",
    "not_an_event": "The signed body is not an event.",
}


class WebhookError(WaybillError):
    """Why a webhook was refused. Answer 401 in every case; the reason is for your own log."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason, _REASONS[reason])
        self.reason = reason


#: What a sync record needs of an order.
DELIVERY_FIELDS = ("id", "trackingCode", "trackingUrl", "status")


def has_all(value: object, fields: Sequence[str]) -> bool:
    """Whether an answer has these fields. An answer of a proxy or captive portal has not."""
    return isinstance(value, dict) and all(name in value for name in fields)


# Another program than the service may have answered, with fields of any type.


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: object, *fields: str) -> list[Any]:
    """Its elements that have these texts. A gateway in between may answer with errors of another form."""
    elements = value if isinstance(value, list) else []
    if not fields:
        return elements
    objects = [element for element in elements if isinstance(element, dict)]
    return [element for element in objects if all(isinstance(element.get(field), str) for field in fields)]
