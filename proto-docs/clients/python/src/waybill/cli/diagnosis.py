"""Why a recorded webhook does not verify: the mistakes that the portal's check names too."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

from ..errors import WebhookError
from ..webhooks import construct_event


class NamedSecret(NamedTuple):
    """A secret that may have signed the webhook, and how the developer knows it."""

    name: str
    secret: str


def diagnose(
    error: WebhookError,
    body: bytes,
    headers: Mapping[str, str],
    secret: NamedSecret,
    other: Optional[NamedSecret],
    header_prefix: str,
    tolerance_seconds: int,
) -> Sequence[str]:
    """`secret` is the one that was expected, `other` one that is known too."""
    if error.reason not in {"mismatch", "too_old", "too_new"}:
        return []
    found = _age(headers, header_prefix, tolerance_seconds)
    if _is_signed(body, headers, secret, header_prefix):
        return [*found, "The signature matches."]
    for altered, mistake in _altered(body):
        if _is_signed(altered, headers, secret, header_prefix):
            return [*found, mistake]
    if other and _is_signed(body, headers, other, header_prefix):
        return [*found, f"It is signed with {other.name}, not with {secret.name}."]
    if _json(body) is None:
        return [
            *found,
            "The body is not JSON, so it is not what was sent. Was it truncated or changed before it was recorded?",
        ]
    return [
        *found,
        "No common mistake explains the signature: the secret or the body is another one. Use the raw bytes as they "
        f"arrived, and the secret of this endpoint; it was compared with {secret.name}.",
    ]


def _is_signed(body: bytes, headers: Mapping[str, str], secret: NamedSecret, header_prefix: str) -> bool:
    """Whatever its age."""
    try:
        construct_event(body, headers, secret.secret, header_prefix=header_prefix, tolerance_seconds=sys.maxsize)
    except WebhookError as error:
        return error.reason == "not_an_event"
    return True


def _age(headers: Mapping[str, str], header_prefix: str, tolerance: int) -> list[str]:
    given = {name.lower(): value for name, value in headers.items()}
    text = given.get("webhook-timestamp") or given.get(f"{header_prefix}-timestamp".lower()) or ""
    age = int(time.time()) - int(text)
    if abs(age) <= tolerance:
        return []
    when = f"{age} s ago" if age > 0 else f"{-age} s in the future"
    return [
        f"It was signed {when}, and {tolerance} s are allowed: a recorded webhook is old, a live one means a wrong "
        "clock. --tolerance allows more."
    ]


def _altered(body: bytes) -> Iterator[tuple[bytes, str]]:
    """Bodies that may have been sent, each with the change that explains the given one."""
    newline = "The body differs by a line break at its end. Use the raw bytes, without adding or trimming any."
    yield body + b"\n", newline
    yield body.rstrip(), newline
    yield body.replace(b"\r\n", b"\n"), "The body's line breaks were changed (CRLF and LF)."
    yield body.removeprefix(b"\xef\xbb\xbf"), "The body has an additional byte order mark at its start."
    again = _json(body)
    if again is not None:
        yield (
            again,
            "The body is the same JSON, serialised again. The signature covers the raw bytes as they arrived, before "
            "parsing.",
        )


def _json(body: bytes) -> Optional[bytes]:
    """As the service writes the same value."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None
