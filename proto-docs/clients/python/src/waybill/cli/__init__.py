"""The command line `waybill`."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from typing import Any, Callable, NoReturn, Optional

from .._version import __version__
from ..errors import WaybillError
from . import commands
from .listen import listen
from .output import OK, KeyRefusedError, UsageError, explain, say
from .state import LocalError

HELP = f"""waybill {__version__}: test orders, events and webhooks on your machine

  listen --forward-to URL   forward the events of test orders to your receiver, signed as webhooks
      --events KINDS        only these kinds, separated by commas
      --since TIME          replay from this time (RFC 3339)
      --json                print one JSON object per attempt
  listen --print-secret     print the secret that listen signs with
  events list|follow        print events as JSON lines [--events KINDS] [--since TIME]
  orders create             create an order --idempotency-key KEY [--file FILE]
  orders get ID             print an order
  orders simulate ID EVENT  move a test order; auto moves it to its end
  verify                    check a recorded webhook --header 'Name: value' … [--body FILE]
      --header-prefix NAME  how the operator's headers begin; Service by default
      --tolerance SECONDS   how old the signature may be; 300 by default

Without FILE the order and the body come from the standard input.
Environment: WAYBILL_BASE_URL (ends with /v1), WAYBILL_API_KEY, and for verify WAYBILL_WEBHOOK_SECRET (otherwise the
secret of listen). listen keeps its secret and its place in WAYBILL_STATE_DIRECTORY.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 the key was refused."""

_COMMANDS: dict[tuple[str, ...], Callable[[argparse.Namespace], Optional[int]]] = {
    ("listen",): listen,
    ("events", "list"): commands.list_events,
    ("events", "follow"): commands.follow_events,
    ("orders", "create"): commands.create_order,
    ("orders", "get"): commands.get_order,
    ("orders", "simulate"): commands.simulate_order,
    ("verify",): commands.verify,
}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    # Ends a long poll as Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(_parser().parse_intermixed_args(arguments))
    except (WaybillError, UsageError, KeyRefusedError, LocalError, ValueError, OSError) as error:
        return explain(error)
    except KeyboardInterrupt:
        # The usual way to end `listen` and `follow`.
        return OK


def _run(options: argparse.Namespace) -> int:
    if options.help or options.version:
        say(HELP if options.help else __version__)
        return OK
    for words, command in _COMMANDS.items():
        if tuple(options.words[: len(words)]) == words:
            return command(options) or OK
    raise UsageError("There is no such command. waybill --help lists them.")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    for name in ("forward-to", "events", "since", "idempotency-key", "file", "body"):
        parser.add_argument(f"--{name}")
    for flag in ("print-secret", "json", "version"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--header-prefix", default="Service")
    parser.add_argument("--tolerance", default="300")
    return parser
