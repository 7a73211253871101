"""Decides whether and when a call is repeated. Pure: the clock and the jitter come from outside."""

from __future__ import annotations

import email.utils
import re
from typing import Optional

from .errors import ApiError, NoAnswerError

ATTEMPTS_MAX = 10
_PAUSE_MIN_S = 0.5
_PAUSE_MAX_S = 8.0
#: 409s that end by themselves; all others are final.
_PASSING_CONFLICTS = frozenset({"order_in_progress", "idempotency_in_progress"})


def is_transient(error: BaseException) -> bool:
    """Whether the same request can succeed later."""
    if isinstance(error, NoAnswerError):
        return True
    if not isinstance(error, ApiError):
        return False
    return (
        error.status in {408, 429} or error.status >= 500 or (error.status == 409 and error.code in _PASSING_CONFLICTS)
    )


def had_no_effect(error: BaseException) -> bool:
    """Whether the failed attempt certainly had no effect, so that even a call without a key can be repeated."""
    return isinstance(error, ApiError) and error.status == 429


def pause(attempts: int, error: BaseException, jitter: float) -> float:
    """The seconds after the given number of attempts: growing, ±50 %, and never shorter than `Retry-After`."""
    growing = min(_PAUSE_MAX_S, _PAUSE_MIN_S * 2.0 ** min(attempts - 1, 10)) * (0.5 + jitter)
    asked = error.retry_after if isinstance(error, ApiError) else None
    return max(growing, asked or 0.0)


def read_retry_after(header: Optional[str], now: float) -> Optional[float]:
    """`Retry-After` as seconds or as a date."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - now)
    except (TypeError, ValueError):
        return None
