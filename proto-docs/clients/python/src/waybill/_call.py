"""The part of a call without input and output, shared by the synchronous and the asynchronous client."""

from __future__ import annotations

import ipaddress
import json
import os
import platform
import random
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Literal, Optional, Union
from urllib.parse import urlencode, urlsplit

from ._retry import ATTEMPTS_MAX, had_no_effect, is_transient, pause, read_retry_after
from ._secret import Secret, redact, redact_all
from ._version import __version__
from .errors import NoAnswerError, WaybillError, error_of, has_all

Mode = Literal["test", "live"]
Query = Mapping[str, Union[str, int, None]]

#: A page of 100 orders of the largest size stays below it.
ANSWER_MAX_BYTES = 64 * 1024 * 1024
_TIME_MAX_S = 24 * 60 * 60
KEY = re.compile(r"sk_(test|live)_[A-Za-z0-9_-]{8,200}")


@dataclass(frozen=True)
class Exchange:
    """What a hook sees. Keys are redacted; bodies are left out, because they contain personal data."""

    method: str
    url: str
    headers: Mapping[str, str]
    #: Counts from 1.
    attempt: int


@dataclass(frozen=True)
class ExchangeResult:
    exchange: Exchange
    duration_s: float
    status: Optional[int]
    request_id: Optional[str]
    error: Optional[WaybillError]


@dataclass(frozen=True)
class Environment:
    """The clock, the waiting and the randomness of the client; tests replace them."""

    #: Unix seconds.
    now: Callable[[], float] = time.time
    #: Seconds of a clock that nobody sets.
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: From 0 to 1.
    jitter: Callable[[], float] = random.random


@dataclass(frozen=True)
class Call:
    method: Literal["GET", "POST"]
    path: str
    #: Whether repeating the call has the same effect as sending it once.
    repeatable: bool
    #: Fields that a usable answer contains.
    expects: tuple[str, ...]
    query: Query = field(default_factory=dict)
    body: Optional[str] = None
    idempotency_key: Optional[str] = None
    #: The answer may take so much longer than others, because the call waits for events.
    wait_s: float = 0.0


@dataclass(frozen=True)
class Reply:
    """An HTTP response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    body: Any
    #: The body as it was sent.
    text: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """The checked settings of a client."""

    key: Secret
    mode: Mode
    base_url: str
    attempt_timeout_s: float
    deadline_s: float
    user_agent: str
    on_request: Optional[Callable[[Exchange], None]]
    on_response: Optional[Callable[[ExchangeResult], None]]
    environment: Environment

    @staticmethod
    def checked(
        api_key: Optional[str],
        base_url: Optional[str],
        attempt_timeout_s: float,
        deadline_s: float,
        app_info: Optional[str],
        on_request: Optional[Callable[[Exchange], None]],
        on_response: Optional[Callable[[ExchangeResult], None]],
        environment: Optional[Environment],
    ) -> Settings:
        api_key = os.environ.get("WAYBILL_API_KEY", "") if api_key is None else api_key
        base_url = os.environ.get("WAYBILL_BASE_URL", "") if base_url is None else base_url
        found = KEY.fullmatch(api_key)
        if not found:
            # The text is not quoted: it may be a key with a typing error.
            raise ValueError(
                "api_key (or WAYBILL_API_KEY) must be an API key, sk_test_… or sk_live_…, without white space"
            )
        if not (0 < attempt_timeout_s <= _TIME_MAX_S and 0 < deadline_s <= _TIME_MAX_S):
            raise ValueError("attempt_timeout_s and deadline_s must be positive numbers of seconds, at most a day")
        if app_info is not None and not re.fullmatch(r"[!-~]{1,100}", app_info):
            raise ValueError("app_info must be a name such as my-shop/2.1")
        app = f" {app_info}" if app_info else ""
        mode: Mode = "test" if found[1] == "test" else "live"
        return Settings(
            key=Secret(api_key),
            mode=mode,
            base_url=_base_url(base_url, mode),
            attempt_timeout_s=attempt_timeout_s,
            deadline_s=deadline_s,
            user_agent=f"waybill-python/{__version__} python/{platform.python_version()}{app}",
            on_request=on_request,
            on_response=on_response,
            environment=environment or Environment(),
        )


class Attempts:
    """One call with its repetitions: every attempt sends the same bytes and the same key."""

    def __init__(self, settings: Settings, call: Call) -> None:
        self._settings, self._call = settings, call
        self._number = 0
        self._ends_at = settings.environment.monotonic() + settings.deadline_s + call.wait_s
        self._started_at = 0.0
        given = {name: value for name, value in call.query.items() if value is not None}
        self.url = settings.base_url + call.path + (f"?{urlencode(given)}" if given else "")
        self.body = None if call.body is None else call.body.encode()
        # For messages: without the query, which may contain a customer's reference.
        self._name = f"{call.method} {settings.base_url}{call.path}"

    def headers(self) -> dict[str, Union[str, Secret]]:
        headers: dict[str, Union[str, Secret]] = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": self._settings.user_agent,
            "authorization": Secret(f"Bearer {self._settings.key.expose()}"),
        }
        if self.body is not None:
            headers["content-type"] = "application/json"
        if self._call.idempotency_key is not None:
            headers["idempotency-key"] = self._call.idempotency_key
        return headers

    def begin(self) -> float:
        """Begins an attempt and returns its timeout in seconds."""
        environment = self._settings.environment
        self._number += 1
        if self._settings.on_request:
            self._settings.on_request(self._exchange())
        self._started_at = environment.monotonic()
        longest = self._settings.attempt_timeout_s + self._call.wait_s
        return max(0.001, min(self._ends_at - self._started_at, longest))

    def read(self, outcome: Union[Reply, NoAnswerError]) -> Union[Answer, WaybillError]:
        """Ends an attempt: the answer or what is wrong with it."""
        reply = outcome if isinstance(outcome, Reply) else None
        read = self._read(reply) if reply else outcome
        if isinstance(read, NoAnswerError):
            call = f"{self._name}, status {reply.status}" if reply else self._name
            read = NoAnswerError(read.code, read.kind, call)
        if self._settings.on_response:
            duration_s = self._settings.environment.monotonic() - self._started_at
            self._settings.on_response(
                ExchangeResult(
                    exchange=self._exchange(),
                    duration_s=duration_s,
                    status=reply.status if reply else None,
                    request_id=reply.headers.get("request-id") if reply else None,
                    error=read if isinstance(read, WaybillError) else None,
                )
            )
        return read  # type: ignore[return-value]

    def pause_after(self, error: WaybillError) -> Optional[float]:
        """The seconds until the next attempt, if there is one."""
        again = is_transient(error) if self._call.repeatable else had_no_effect(error)
        if not again or self._number >= ATTEMPTS_MAX:
            return None
        environment = self._settings.environment
        seconds = pause(self._number, error, environment.jitter())
        return seconds if environment.monotonic() + seconds < self._ends_at else None

    def _exchange(self) -> Exchange:
        headers = {name: str(value) for name, value in self.headers().items()}
        return Exchange(self._call.method, redact(self.url), headers, self._number)

    def _read(self, reply: Reply) -> Union[Answer, WaybillError]:
        if 200 <= reply.status < 300:
            body = _parsed(reply.body)
            usable = has_all(body, self._call.expects)
            return Answer(body, reply.body, reply.headers) if usable else NoAnswerError("unusable_answer")
        body = _parsed(reply.body)
        retry_after = read_retry_after(reply.headers.get("retry-after"), self._settings.environment.now())
        # Without a readable body a proxy in front of the service answered: the status says enough.
        known = body if isinstance(body, dict) else {}
        # A key that is echoed is redacted. The order's values are stored and compared, so they stay as they are.
        message = f"The service answered {reply.status} ({self._name})."
        known = {"message": message, **redact_all(known), "order": known.get("order")}
        return error_of(reply.status, known, reply.headers.get("request-id"), retry_after)


def _parsed(text: Union[str, bytes]) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    """Short forms such as `127.1` count as in browsers, and a dot may end the name."""
    if re.fullmatch(r"([^.]+\.)*localhost\.?", host):
        return True
    try:
        if ":" in host:
            return ipaddress.IPv6Address(host) == ipaddress.IPv6Address("::1")
        # inet_aton ignores what follows a space.
        is_number = re.fullmatch(r"[0-9a-fx.]+", host)
        return bool(is_number) and ipaddress.IPv4Address(socket.inet_aton(host.removesuffix("."))).is_loopback
    except (OSError, ValueError):
        return False


def _base_url(text: str, mode: Mode) -> str:
    try:
        url = urlsplit(text)
        plain = url.hostname and url.port != 0 and not (url.username or url.password or url.query or url.fragment)
    except ValueError:
        plain = None
    if not plain or url.scheme not in {"http", "https"} or not re.search(r"/v1/?$", url.path):
        raise ValueError("base_url (or WAYBILL_BASE_URL) must be an http or https URL that ends with /v1")
    if mode == "live" and url.scheme == "http" and not _is_loopback(url.hostname or ""):
        raise ValueError(
            "base_url (or WAYBILL_BASE_URL) must be https for a Live key: http shows the key to the network"
        )
    return text.rstrip("/")
