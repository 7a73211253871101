"""Keeps keys and secrets out of messages, dumps and tracebacks."""

from __future__ import annotations

import re
from typing import Any

# Behind a letter, only what is as long as a key: `desk_test_17` is none. Also percent-encoded, as in `%22sk_live_…`.
_SECRET = re.compile(
    r"(?:(?<![A-Za-z])|(?=[A-Za-z0-9_+/=%-]{32}))(sk_(?:test|live)_|whsec_)[A-Za-z0-9_+/=%-]+",
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_MESSAGE_MAX_CHARS = 500


def redact(text: str) -> str:
    """Replaces API keys and signing secrets, as `sk_test_…`."""
    return _SECRET.sub(r"\1…", text)


def redact_all(value: Any) -> Any:
    """The same JSON value without secrets in its texts."""
    if isinstance(value, dict):
        return {name: redact_all(part) for name, part in value.items()}
    if isinstance(value, list):
        return [redact_all(part) for part in value]
    return redact(value) if isinstance(value, str) else value


def safe_text(text: str) -> str:
    """Makes a text from outside safe to store and show: short, on one line, without secrets."""
    return _CONTROLS.sub(" ", redact(text))[:_MESSAGE_MAX_CHARS]


class Secret:
    """A text that only `expose` shows. Error trackers dump local variables, so variables contain this."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def expose(self) -> str:
        return self._text

    def __repr__(self) -> str:
        shown = redact(self._text)
        return "…" if shown == self._text else shown

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("keys and secrets cannot be pickled")
