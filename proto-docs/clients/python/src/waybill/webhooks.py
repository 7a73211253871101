"""Verifies the signature of webhooks, and signs test events for your own tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._secret import Secret
from .errors import Reason, WebhookError

if TYPE_CHECKING:
    from .schema import WebhookEvent

TOLERANCE_SECONDS = 300
PREFIX = "Service"
_SECRETS_MAX = 8
_KINDS = frozenset(
    {
        "order.created",
        "driver.assigned",
        "driver.unassigned",
        "order.picked_up",
        "order.out_for_delivery",
        "order.delivered",
        "order.failed",
        "order.cancelled",
        "order.returned",
        "order.reattempt_scheduled",
        "order.returning",
        "cod.collected",
        "cod.handed_over",
        "cod.settled",
        "wallet.low_balance",
        "webhook.test",
    }
)
#: The number of signatures checked in one header; a rotation needs two.
_SIGNATURES_MAX = 8


class SigningSecret:
    """A well-formed signing secret, so that a truncated one is refused at once instead of every webhook later."""

    def __init__(self, text: str) -> None:
        found = re.fullmatch(r"whsec_([A-Za-z0-9+/]+={0,2})", text)
        try:
            key = base64.b64decode(found[1], validate=True) if found else b""
        except binascii.Error:
            key = b""
        # Comparing the text again finds base64 that was decoded leniently.
        if not found or not 24 <= len(key) <= 64 or base64.b64encode(key).decode() != found[1]:
            raise ValueError(
                "a signing secret is whsec_ and base64 of 24 to 64 bytes; use it as it was shown"
            ) from None
        self._text = Secret(text)

    def standard(self, event_id: str, timestamp: str, body: bytes) -> str:
        """The signature of Standard Webhooks: the key is the decoded base64 after `whsec_`."""
        key = base64.b64decode(self._text.expose()[len("whsec_") :])
        signed = _bytes(f"{event_id}.{timestamp}.") + body
        return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

    def own(self, timestamp: str, body: bytes) -> str:
        """The signature of the operator's own scheme: the key is the whole secret as shown."""
        signed = _bytes(f"{timestamp}.") + body
        return "sha256=" + hmac.new(self._text.expose().encode(), signed, hashlib.sha256).hexdigest()

    def __repr__(self) -> str:
        return f"SigningSecret({self._text!r})"


Secrets = Union[str, SigningSecret, Sequence[Union[str, SigningSecret]]]


def parse_secrets(secrets: Secrets) -> list[SigningSecret]:
    given = [secrets] if isinstance(secrets, (str, SigningSecret)) else list(secrets)
    if not 1 <= len(given) <= _SECRETS_MAX:
        raise ValueError(f"pass 1 to {_SECRETS_MAX} signing secrets")
    return [one if isinstance(one, SigningSecret) else SigningSecret(one) for one in given]


def construct_event(
    raw_body: Union[bytes, str],
    headers: Mapping[str, str],
    secrets: Secrets,
    *,
    header_prefix: str = PREFIX,
    tolerance_seconds: int = TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Verifies a webhook and returns its event; kinds that are unknown to this version pass too.

    Pass the raw bytes of the body: JSON that was parsed and serialized again has another signature. `secrets` may
    contain the present and the next secret of a rotation. `header_prefix` begins the names of the operator's own
    headers; Standard Webhooks headers are accepted whatever it is.

    Raises WebhookError if the webhook cannot be trusted: answer 401.
    """
    body = _body_bytes(raw_body)
    checked = parse_secrets(secrets)
    given = {name.lower(): value for name, value in headers.items()}
    moment = int(time.time() if now is None else now)
    standard = _standard_refusal(body, given, checked, moment, tolerance_seconds)
    if standard:
        own = _own_refusal(body, given, header_prefix.lower(), checked, moment, tolerance_seconds)
        # The reason is that of the scheme that was sent.
        reason = own and (own if standard == "missing_headers" else standard)
        if reason:
            raise WebhookError(reason)
    return _parse(body)


def sign_test_event(
    raw_body: Union[bytes, str],
    secret: Union[str, SigningSecret],
    *,
    header_prefix: str = PREFIX,
    now: Optional[float] = None,
) -> dict[str, str]:
    """The headers of a signed event, for tests of your receiver."""
    body = _body_bytes(raw_body)
    [key] = parse_secrets(secret)
    event = _parse(body)
    timestamp = str(int(time.time() if now is None else now))
    return {
        "Content-Type": "application/json",
        "webhook-id": event["id"],
        "webhook-timestamp": timestamp,
        "webhook-signature": key.standard(event["id"], timestamp, body),
        f"{header_prefix}-Timestamp": timestamp,
        f"{header_prefix}-Signature": key.own(timestamp, body),
        f"{header_prefix}-Event-Id": event["id"],
        f"{header_prefix}-Mode": event["mode"],
    }


def _standard_refusal(
    body: bytes, headers: Mapping[str, str], secrets: Sequence[SigningSecret], now: int, tolerance: int
) -> Optional[Reason]:
    event_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if event_id is None or timestamp is None or signatures is None:
        return "missing_headers"
    return _age_refusal(timestamp, now, tolerance) or _mismatch(
        signatures.split(" ")[:_SIGNATURES_MAX], [secret.standard(event_id, timestamp, body) for secret in secrets]
    )


def _own_refusal(
    body: bytes, headers: Mapping[str, str], prefix: str, secrets: Sequence[SigningSecret], now: int, tolerance: int
) -> Optional[Reason]:
    timestamp = headers.get(f"{prefix}-timestamp")
    given = [headers[name] for name in (f"{prefix}-signature", f"{prefix}-signature-next") if name in headers]
    if timestamp is None or not given:
        return "missing_headers"
    return _age_refusal(timestamp, now, tolerance) or _mismatch(
        given, [secret.own(timestamp, body) for secret in secrets]
    )


def _age_refusal(timestamp: str, now: int, tolerance: int) -> Optional[Reason]:
    if not re.fullmatch(r"[0-9]{1,15}", timestamp):
        return "malformed_timestamp"
    age = now - int(timestamp)
    if age > tolerance:
        return "too_old"
    return "too_new" if age < -tolerance else None


def _mismatch(given: Iterable[str], expected: Sequence[str]) -> Optional[Reason]:
    """Compares every pair in constant time. The lengths are no secret."""
    pairs = [hmac.compare_digest(_bytes(one), other.encode()) for one in given for other in expected]
    return None if any(pairs) else "mismatch"


def _parse(body: bytes) -> WebhookEvent:
    try:
        event: Any = json.loads(body.decode())
    except (ValueError, RecursionError):
        event = None
    if not is_event(event) or not isinstance(event.get("mode"), str):
        raise WebhookError("not_an_event") from None
    found: WebhookEvent = event
    return found


def is_known(event: WebhookEvent) -> bool:
    """Whether this version of the package knows the event's kind. Ignore others, and answer them with 200."""
    return event["event"] in _KINDS


def is_event(value: Any) -> bool:
    """Whether a JSON value is an event of any kind."""
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("event"), str)


def _body_bytes(raw_body: Union[bytes, str]) -> bytes:
    if isinstance(raw_body, str):
        return raw_body.encode()
    if isinstance(raw_body, (bytes, bytearray, memoryview)):
        return bytes(raw_body)
    raise TypeError("pass the raw bytes of the body, not parsed JSON")


def _bytes(text: str) -> bytes:
    # Never fails: a text of any kind is only compared.
    return text.encode("utf-8", "surrogatepass")
