"""`waybill events`, `waybill orders` and `waybill verify`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from .._call import KEY
from .._secret import Secret
from ..client import Waybill
from ..errors import ApiError
from ..webhooks import PREFIX, TOLERANCE_SECONDS, construct_event
from . import state


class ArgumentError(Exception):
    """Wrong arguments or environment variables."""


class BadKeyError(Exception):
    def __init__(self) -> None:
        super().__init__("WAYBILL_API_KEY must be an API key, sk_test_… or sk_live_…, without white space")


def add_to(subparsers: Any) -> None:
    events = subparsers.add_parser("events", help="print events as JSON lines").add_subparsers(required=True)
    for name, run, text in (
        ("list", _list_events, "print the events up to now"),
        ("follow", _follow_events, "print the events from now on"),
    ):
        parser = events.add_parser(name, help=text)
        parser.add_argument("--events", metavar="KINDS", default="", help="kinds of events, separated by commas")
        parser.add_argument("--since", metavar="TIME", help="begin at this time (RFC 3339)")
        _finish(parser, run)
    orders = subparsers.add_parser("orders", help="create, show and move orders").add_subparsers(required=True)
    create = orders.add_parser("create", help="create an order")
    create.add_argument("file", help="the order as JSON; - for the standard input")
    create.add_argument("--idempotency-key", required=True, help="the same for every attempt of the same order")
    _finish(create, _create_order)
    get = orders.add_parser("get", help="print an order")
    get.add_argument("id")
    _finish(get, _get_order)
    simulate = orders.add_parser("simulate", help="move a test order")
    simulate.add_argument("id")
    simulate.add_argument("event", help="a kind of event, or auto")
    _finish(simulate, _simulate)
    verify = subparsers.add_parser("verify", help="check the signature of a webhook")
    verify.add_argument("--body", required=True, metavar="FILE", help="the raw body; - for the standard input")
    verify.add_argument(
        "--header", action="append", default=[], metavar="'NAME: VALUE'", help="repeat it for each header"
    )
    verify.add_argument("--header-prefix", default=PREFIX, help="how the names of the operator's headers begin")
    verify.add_argument("--tolerance", type=int, default=TOLERANCE_SECONDS, metavar="SECONDS")
    verify.set_defaults(run=_verify)


def add_base_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base-url", metavar="URL", help="instead of WAYBILL_BASE_URL")


def base_url(options: argparse.Namespace) -> str:
    return options.base_url or _variable("WAYBILL_BASE_URL")


def api_key() -> Secret:
    key = _variable("WAYBILL_API_KEY")
    if not KEY.fullmatch(key):
        raise BadKeyError
    return Secret(key)


def client(options: argparse.Namespace) -> Waybill:
    try:
        return Waybill(api_key().expose(), base_url(options), app_info="waybill-cli")
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def kinds(text: str) -> Sequence[str]:
    return [kind.strip() for kind in text.split(",") if kind.strip()]


class _NoCursor:
    def load(self) -> Optional[str]:
        return None

    def save(self, cursor: str) -> None:
        """Every run begins again."""


def _list_events(options: argparse.Namespace) -> None:
    for event in client(options).events.list(since=options.since, types=kinds(options.events)):
        _print(event)


def _follow_events(options: argparse.Namespace) -> None:
    for event in client(options).events.follow(_NoCursor(), types=kinds(options.events), start=options.since or "now"):
        _print(event)


def _create_order(options: argparse.Namespace) -> None:
    order = _read(options.file)
    try:
        created = client(options).orders.create(order.decode(), idempotency_key=options.idempotency_key)
    except UnicodeDecodeError:
        raise ArgumentError("the order is not UTF-8") from None
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    if created.replayed:
        print("The order already existed.", file=sys.stderr)
    _print(created.order)


def _get_order(options: argparse.Namespace) -> None:
    _print(client(options).orders.get(options.id))


def _simulate(options: argparse.Namespace) -> None:
    try:
        _print(client(options).orders.simulate(options.id, options.event))
    except ApiError as error:
        if error.legal:
            print(f"Possible now: {', '.join(error.legal)}", file=sys.stderr)
        raise


def _verify(options: argparse.Namespace) -> None:
    headers = dict(_header(line) for line in options.header)
    secret = os.environ.get("WAYBILL_WEBHOOK_SECRET") or state.signing_secret()
    try:
        event = construct_event(
            _read(options.body),
            headers,
            secret,
            header_prefix=options.header_prefix,
            tolerance_seconds=options.tolerance,
        )
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    print(f"The signature matches: {event['event']} {event['id']}")


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ArgumentError("--header takes 'NAME: VALUE'")
    return name.strip(), value.strip()


def _finish(parser: argparse.ArgumentParser, run: Any) -> None:
    add_base_url(parser)
    parser.set_defaults(run=run)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ArgumentError(f"{name} is not set")
    return value


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _print(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)
