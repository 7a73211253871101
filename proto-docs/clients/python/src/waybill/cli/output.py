"""What the commands read and print, and the codes they end with."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Optional

from ..client import Waybill
from ..errors import ApiError, WaybillError
from .state import LocalError

INPUT_MAX_BYTES = 1024 * 1024
OK, FAILED, USAGE, KEY_REFUSED = 0, 1, 2, 3


class UsageError(Exception):
    """A wrong command line."""


class KeyRefusedError(Exception):
    """The key is no key, or of the wrong mode."""


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
        # ValueError: an argument that the client refuses.
        return USAGE if isinstance(error, (UsageError, ValueError)) else FAILED
    say_error(f"{error.message} ({error.code}, request {error.request_id or 'unknown'})")
    for fault in error.errors:
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
    return Waybill(app_info="command-line")


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
