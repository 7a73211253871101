"""The stack under test, as `with-business` starts it: the calls of a business, its operator and the fleet."""

from __future__ import annotations

import itertools
import json
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import psycopg

T = TypeVar("T")

ORDER_API, PORTAL = os.environ["ORDER_API"], os.environ["PORTAL"]

_run = uuid.uuid4().hex[:8]
_numbers = itertools.count(1)


def new_reference() -> str:
    """A reference that no other test uses."""
    return f"{_run}-{next(_numbers)}"


def eventually(read: Callable[[], T | None], what: str, seconds: float = 60, pause: float = 0.05) -> T:
    """Waits for a value."""
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        value = read()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def exchange(method: str, url: str, body: bytes, headers: dict[str, str]) -> tuple[HTTPResponse, bytes]:
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=30)
    try:
        connection.request(method, address._replace(scheme="", netloc="").geturl(), body, headers)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def call(method: str, url: str, status: int, body: object = None, **headers: str) -> Any:
    """Calls an API, and returns the body of an answer with this status."""
    headers = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    content = b"" if body is None else json.dumps(body).encode()

    def answered() -> tuple[HTTPResponse, bytes] | None:
        """A service that does not get its turn on a busy machine refuses instead of waiting for long."""
        response, answer = exchange(method, url, content, headers)
        return None if response.status == 503 != status else (response, answer)

    response, answer = eventually(answered, f"{method} {url} without 503", pause=1)
    assert response.status == status, f"{method} {url}: {response.status} {answer.decode()}"
    return json.loads(answer)


def new_database() -> str:
    """The URL of an empty database on the test servers, whose owner's password has to be encoded in a URL."""
    server = json.loads(Path(os.environ["WAYBILL_TEST_SERVERS"]).read_text(encoding="utf-8"))["postgres"]
    url = f"postgres://waybill_admin:{quote(server['password'])}@127.0.0.1:{server['port']}"
    name, password = f"shop_{uuid.uuid4().hex}", "p@ss/w:rd%41"
    with psycopg.connect(f"{url}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        admin.execute(f"CREATE DATABASE {name} OWNER {name}".encode())
    return f"postgres://{name}:{quote(password, safe='')}@127.0.0.1:{server['port']}/{name}"


@dataclass(frozen=True)
class Endpoint:
    id: str
    secret: str


class Business:
    """A new business that may place live orders."""

    def __init__(self, top_up_paise: int) -> None:
        email = f"{uuid.uuid4().hex}@shop.example"
        account = {"businessName": "Malabar Coffee Works", "email": email, "password": "a-long-password"}
        headers = {"content-type": "application/json"}
        response, body = exchange("POST", f"{PORTAL}/v1/portal/accounts", json.dumps(account).encode(), headers)
        assert response.status == 201, body
        self._cookie = (response.getheader("set-cookie") or "").split(";")[0]
        self.id = json.loads(body)["businessId"]
        self.key = self._new_key("test")
        self.place(new_reference(), "first-test-order")
        self.portal("PUT", "/pickup-profile", 200, PICKUP)
        everything = {"status": "active", "subscription": "active", "liveAccess": "active"}
        token = f"Bearer {os.environ['OPERATOR_TOKEN']}"
        call("PATCH", f"{PORTAL}/v1/operator/businesses/{self.id}", 200, everything, authorization=token)
        self.top_up(top_up_paise)
        self.key = self._new_key("live")

    def portal(self, method: str, path: str, status: int, body: object = None) -> Any:
        return call(method, f"{PORTAL}/v1/portal{path}", status, body, cookie=self._cookie)

    def _new_key(self, mode: str) -> str:
        return str(self.portal("POST", "/api-keys", 201, {"mode": mode, "name": mode})["key"])

    def top_up(self, amount_paise: int) -> None:
        self.portal("POST", "/wallet/top-ups", 201, {"amountPaise": amount_paise})

    def new_endpoint(self, url: str) -> Endpoint:
        endpoint = self.portal("POST", "/webhook-endpoints", 201, {"url": url, "modes": ["live"]})
        return Endpoint(endpoint["id"], endpoint["secret"])

    def place(self, reference: str, idempotency_key: str) -> Any:
        """Creates a delivery without a shop."""
        order = {
            "orderReference": reference,
            "customer": {"name": "Asha Rao", "phone": "+919800000001"},
            "delivery": {
                "addressLine1": "12th Main Road",
                "city": "Bengaluru",
                "state": "Karnataka",
                "pincode": "560038",
            },
            "payment": {"paymentType": "prepaid", "deliveryFeePaise": 4_900},
        }
        headers = {"authorization": f"Bearer {self.key}", "idempotency-key": idempotency_key}
        return call("POST", f"{ORDER_API}/v1/integration/orders", 201, order, **headers)

    def _get(self, path: str) -> list[Any]:
        """A list that fits on one page."""
        page = call("GET", f"{ORDER_API}/v1/integration{path}", 200, authorization=f"Bearer {self.key}")
        assert not page["hasMore"], path
        entries: list[Any] = page["data"]
        return entries

    def orders(self, reference: str) -> list[Any]:
        return self._get(f"/orders?orderReference={reference}&limit=100")

    def deliveries_and_debits(self, reference: str) -> tuple[int, int]:
        orders = self.orders(reference)
        entries = [entry for order in orders for entry in self._get(f"/orders/{order['id']}/events?limit=100")]
        return len(orders), sum(entry["type"] == "money" and entry["kind"] == "delivery_fee" for entry in entries)

    def report(self, reference: str, *events: str) -> None:
        """The fleet reports events of the order."""
        [order] = self.orders(reference)
        for event in events:
            report: dict[str, Any] = {
                "eventId": f"{order['id']}-{event}",
                "event": event,
                "occurredAt": datetime.now(timezone.utc).isoformat(),
            }
            if event == "driver.assigned":
                report["driver"] = {"name": "Ravi Kumar", "phone": "+919800000003", "vehicle": "KA01AB1234"}
            url = f"{ORDER_API}/v1/fleet/orders/{order['id']}/events"
            call("POST", url, 200, report, authorization=f"Bearer {os.environ['FLEET_TOKEN']}")


PICKUP = {
    "businessName": "Malabar Coffee Works",
    "contactName": "Joseph Mathew",
    "phone": "+919800000002",
    "addressLine1": "27, Church Street",
    "city": "Bengaluru",
    "state": "Karnataka",
    "pincode": "560001",
}
