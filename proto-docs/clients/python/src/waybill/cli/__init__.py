"""`waybill`: receives events on a laptop, and tries calls by hand."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any, Optional

from ..errors import AuthenticationError, WaybillError
from . import commands, listen

OK, FAILED, USAGE, KEY_REFUSED, LIVE_KEY = 0, 1, 2, 3, 4

_EPILOG = """environment:
  WAYBILL_API_KEY         the API key; it is no option, because other users of a machine can read those
  WAYBILL_BASE_URL        the base URL, which ends with /v1
  WAYBILL_WEBHOOK_SECRET  the signing secret for `verify`; by default that of `listen`
  WAYBILL_STATE           the folder with the signing secret and the cursors of `listen`

exit codes:
  0 done   1 failed   2 wrong arguments   3 the API key was refused   4 a Live key where only a Test key is allowed
"""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = _parser().parse_args(arguments)
    # Ends a long poll as Ctrl-C does.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        options.run(options)
    except (AuthenticationError, commands.BadKeyError) as error:
        return _fail(error, KEY_REFUSED)
    except listen.LiveKeyError as error:
        return _fail(error, LIVE_KEY)
    except commands.ArgumentError as error:
        return _fail(error, USAGE)
    except (WaybillError, OSError) as error:
        return _fail(error, FAILED)
    except KeyboardInterrupt:
        # The usual way to end `listen` and `follow`.
        return OK
    return OK


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _fail(error: Exception, code: int) -> int:
    print(f"waybill: {error}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="waybill", description=__doc__, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands_of = parser.add_subparsers(required=True, metavar="COMMAND")
    listen.add_to(commands_of)
    commands.add_to(commands_of)
    return parser
