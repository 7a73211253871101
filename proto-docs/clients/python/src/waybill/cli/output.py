"""What the commands read and print, and the codes they end with."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, Callable, Optional

from .._call import ExchangeResult
from .._http import UNKNOWN_HOST
from ..client import Waybill
from ..errors import ApiError, NoAnswerError, WaybillError
from .state import LocalError

INPUT_MAX_BYTES = 1024 * 1024
_FIRST_CALLS_MAX = 3
_FIRST_CALL_PAUSE_S = 1.0
OK, FAILED, USAGE, KEY_REFUSED, WRONG_URL = 0, 1, 2, 3, 4


class UsageError(Exception):
    """A wrong command line."""


class KeyRefusedError(Exception):
    """The key is no key, or of the wrong mode."""


class UrlError(Exception):
    """Another program than the API answers at the base URL, or none."""


def say(line: str) -> None:
    print(line, flush=True)


def say_json(value: object) -> None:
    say(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def say_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def explain(error: Exception) -> int:
    """Explains an error and returns the exit code."""
    if not isinstance(error, ApiError):
        say_error(error.message if isinstance(error, WaybillError) else str(error))
        if isinstance(error, KeyRefusedError):
            return KEY_REFUSED
        if isinstance(error, UrlError):
            return WRONG_URL
        # ValueError: an argument that the client refuses.
        return USAGE if isinstance(error, (UsageError, ValueError)) else FAILED
    say_error(f"{error.message} ({error.code}, request {error.request_id or 'unknown'})")
    for fault in error.errors:
        # The message of a request with one wrong field is that of the field.
        if fault["message"] != error.message:
            say_error(f"  {fault['field'] or 'body'}: {fault['message']}")
    if error.missing:
        say_error(f"  missing: {', '.join(error.missing)}")
    if error.legal:
        say_error(f"  possible now: {', '.join(error.legal)}")
    return KEY_REFUSED if error.status == 401 else FAILED


def waybill() -> Waybill:
    """The key comes from the environment, never from arguments, which other users of a machine can see."""
    if not re.match("$|sk_(test|live)_", os.environ.get("WAYBILL_API_KEY", "")):
        raise KeyRefusedError("WAYBILL_API_KEY must be an API key, sk_test_… or sk_live_….")
    has_answered = has_told = False

    def on_response(result: ExchangeResult) -> None:
        nonlocal has_answered, has_told
        error, call = result.error, result.exchange
        # After an earlier attempt, or an answer that cannot be read, the order of a POST may exist.
        may_be_done = call.method == "POST" and (call.attempt > 1 or (error and error.code == "unusable_answer"))
        # After an answer it is an outage, such as a captive portal or a network without names.
        if not has_answered and not may_be_done and error and _is_of_another_url(error):
            raise UrlError(f"{error.message} Check WAYBILL_BASE_URL.")
        if isinstance(error, ApiError) and error.status == 429:
            say_error(f"{error.message} Trying again in {math.ceil(error.retry_after or 0) or 1} s or more.")
        if isinstance(error, NoAnswerError) and result.status is None and not has_answered and not has_told:
            has_told = True
            say_error(f"{error.message} Trying again.")
        # A proxy answers 5xx while the API starts.
        has_answered = has_answered or (result.status is not None and result.status < 500)

    return Waybill(app_info="command-line", on_response=on_response)


def _is_of_another_url(error: WaybillError) -> bool:
    """The host has no address, or what answers is not the API."""
    if isinstance(error, NoAnswerError):
        return error.code == "unusable_answer" or error.kind == UNKNOWN_HOST
    if not isinstance(error, ApiError) or error.code != f"http_{error.status}":
        return False
    return error.status < 400 or error.status in {404, 405}


def until_answered(run: Callable[[], None]) -> None:
    """Runs a reader again whose first call found no API: a proxy that starts before the API answers so too."""
    for _ in range(_FIRST_CALLS_MAX - 1):
        try:
            return run()
        except UrlError:
            time.sleep(_FIRST_CALL_PAUSE_S)
    return run()


def read_input(file: Optional[str]) -> bytes:
    """A file, or the standard input."""
    try:
        if file is None:
            content = sys.stdin.buffer.read(INPUT_MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(INPUT_MAX_BYTES + 1)
    except OSError:
        raise LocalError(f"The file {file} cannot be read.") from None
    if len(content) > INPUT_MAX_BYTES:
        raise LocalError("The input is larger than 1 MiB.")
    return content


def read_json(file: str) -> Any:
    try:
        return json.loads(read_input(file))
    except (ValueError, RecursionError):
        raise UsageError(f"The file {file} contains no JSON.") from None
