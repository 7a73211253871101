"""The command line `waybill`."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, Callable, NoReturn, Optional

from .._version import __version__
from ..errors import WaybillError
from . import commands
from .listen import listen
from .output import OK, KeyRefusedError, UrlError, UsageError, explain, say
from .state import LocalError

HELP = f"""waybill {__version__}: test orders, events and webhooks on your machine

  listen --forward-to URL   forward the events of test orders to your receiver, signed as webhooks; 3000 is the URL
                            http://localhost:3000. It continues where it stopped, or begins with new events
      --events KINDS        only these kinds, separated by commas
      --since TIME          replay from this time (RFC 3339)
      --json                print one JSON object per attempt
  listen --print-secret     print the secret that listen signs with
  events list|follow        print events as JSON lines [--events KINDS] [--since TIME]
  orders create             create an order --idempotency-key KEY [--file FILE]
  orders list               print orders as JSON lines, newest first [--reference REFERENCE] [--status STATUS]
  orders get ID             print an order
  orders timeline ID        print what happened to an order, as JSON lines
  orders cancel ID          cancel an order before its pickup [--reason TEXT]
  orders reattempt ID       ask for another attempt after a failed delivery [--date DATE] [--note TEXT]
  orders return ID          ask for the parcel after a failed delivery
  orders correct ID         correct the phone, the whole address (JSON), or both [--phone PHONE] [--file FILE]
  orders delivery-code ID   print a code that the customer tells the driver
  orders evidence ID        print an order and the records of its attempts as JSON
  orders simulate ID EVENT  move a test order; auto moves it to its end
  verify                    check a webhook's signature, and name the mistake --header 'Name: value' … [--body FILE]
      --header-prefix NAME  how the operator's headers begin; Service by default
      --tolerance SECONDS   how old the signature may be; 300 by default

Without FILE, create and verify read the standard input.
Environment: WAYBILL_BASE_URL (ends with /v1), WAYBILL_API_KEY, and for verify WAYBILL_WEBHOOK_SECRET (otherwise the
secret of listen). listen keeps its secret and its place in WAYBILL_STATE_DIRECTORY.
Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 the key was refused, 4 something else answers at
WAYBILL_BASE_URL, or its host is unknown."""

#: Each command with the number of its parameters.
_COMMANDS: dict[tuple[str, ...], tuple[Callable[[argparse.Namespace], Optional[int]], int]] = {
    ("listen",): (listen, 0),
    ("events", "list"): (commands.list_events, 0),
    ("events", "follow"): (commands.follow_events, 0),
    ("orders", "create"): (commands.create_order, 0),
    ("orders", "list"): (commands.list_orders, 0),
    ("orders", "get"): (commands.get_order, 1),
    ("orders", "timeline"): (commands.print_timeline, 1),
    ("orders", "cancel"): (commands.cancel_order, 1),
    ("orders", "reattempt"): (commands.reattempt_order, 1),
    ("orders", "return"): (commands.return_order, 1),
    ("orders", "correct"): (commands.correct_delivery, 1),
    ("orders", "delivery-code"): (commands.issue_delivery_code, 1),
    ("orders", "evidence"): (commands.print_evidence, 1),
    ("orders", "simulate"): (commands.simulate_order, 2),
    ("verify",): (commands.verify, 0),
}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        # Windows has another encoding when the output is no terminal. A test may replace the streams.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    # Ends a long poll as Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(_parser().parse_intermixed_args(arguments))
    except BrokenPipeError:
        # The reader of the pipe, such as `head`, has enough. Python writes the rest when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (WaybillError, UsageError, KeyRefusedError, UrlError, LocalError, ValueError, OSError) as error:
        return explain(error)
    except KeyboardInterrupt:
        # The usual way to end `listen` and `follow`.
        return OK


def _run(options: argparse.Namespace) -> int:
    if options.help or options.version:
        say(HELP if options.help else __version__)
        return OK
    for words, (command, parameters) in _COMMANDS.items():
        if tuple(options.words[: len(words)]) == words:
            for extra in options.words[len(words) + parameters :]:
                raise UsageError(f'{" ".join(words)} does not take "{extra}".')
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
    for name in ("forward-to", "events", "since", "idempotency-key", "file", "body", "reference", "status"):
        parser.add_argument(f"--{name}")
    for name in ("reason", "date", "note", "phone"):
        parser.add_argument(f"--{name}")
    for flag in ("print-secret", "json", "version"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--header-prefix", default="Service")
    parser.add_argument("--tolerance", default="300")
    return parser
