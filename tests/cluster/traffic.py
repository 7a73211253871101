"""Live orders of one business, from the outside: callers, a fleet, a receiver of webhooks, and the check of what came of it.

Callers repeat an order with the same key until it is accepted, and record each failed call. Every call has a connection of its own.
"""

import contextlib
import http.client
import http.server
import itertools
import json
import queue
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proto-docs/clients/python/src"))
from waybill.webhooks import construct_event  # noqa: E402

FEE_PAISE = 4_900
# The largest credit that needs no second person.
CREDIT_PAISE = 5_000_000
CREDITS = 20
EVENTS = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"]
CALLERS, DRIVERS = 6, 4
CALL_SECONDS = 20
PASSWORD = "a-long-password"


class Refused(Exception):
    pass


def call(url: str, method: str, path: str, body=None, **headers):
    """Status, headers and JSON of the answer, if it is JSON. A call without an answer raises OSError or HTTPException."""
    address = urlsplit(url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.hostname, address.port, timeout=CALL_SECONDS)
    try:
        given = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, None if body is None else json.dumps(body), given)
        answer = connection.getresponse()
        text = answer.read()
        is_json = "json" in answer.headers.get("Content-Type", "")
        return answer.status, answer.headers, json.loads(text) if text and is_json else None
    finally:
        connection.close()


def expect(status: int, *arguments, **headers):
    found, answer_headers, body = call(*arguments, **headers)
    if found != status:
        raise Refused(f"{arguments[1:3]}: {found} {body}")
    return answer_headers, body


class Report:
    def __init__(self, further=lambda _seconds: ""):
        """`further` says what else happened in a step."""
        self.further, self.lines, self.faults = further, [], []

    def __call__(self, name, seconds, orders, failed, pause, p99, repeated):
        self.lines.append((name, seconds, orders, failed, pause, p99, repeated))
        print(f"{name}: {seconds:.0f} s, {orders} orders, failed calls {failed or 'none'}, longest pause {pause:.1f} s, "
              f"p99 {p99 or 0:.2f} s, repeated webhooks {repeated}{self.further(seconds)}", flush=True)

    def none_failed(self):
        """Of the latest step."""
        if self.lines[-1][3]:
            self.faults.append(f"{self.lines[-1][0]}: failed calls {self.lines[-1][3]}")

    def end(self, summary: str) -> int:
        """The exit code."""
        print(f"{summary}, {len(self.faults)} faults")
        for fault in self.faults[:20]:
            print(f"FAILED  {fault}")
        return 1 if self.faults else 0


class Receiver:
    """The endpoint: verifies each webhook, and keeps the sequence in which the events of an order arrived first."""

    def __init__(self, here: str):
        # How long each response takes.
        self.secrets, self.seconds, self.lock = [], 0, threading.Lock()
        self.sequences, self.seen, self.repeated, self.refused = {}, set(), 0, 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(receiver.seconds)
                self.send_response(receiver.keep(body, dict(self.headers)))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((here, 0), Handler)
        server.daemon_threads = True
        self.url = f"http://{here}:{server.server_port}/webhooks"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def keep(self, body: bytes, headers: dict) -> int:
        try:
            event = construct_event(body, {name.lower(): value for name, value in headers.items()}, self.secrets)
        except Exception:
            self.refused += 1
            return 401
        order = (event.get("order") or {}).get("orderReference")
        with self.lock:
            if event["id"] in self.seen:
                self.repeated += 1
            elif order:
                self.seen.add(event["id"])
                self.sequences.setdefault(order, []).append(event["sequence"])
        return 200


class Traffic:
    def __init__(self, here: str, order_api: str, portal_api: str, fleet_token: str, operator_token: str, console=None):
        """`here` is the address at which the services reach this machine; `console` the operator's address, if it is not the portal's."""
        self.order_api, self.portal_api, self.fleet_token, self.operator_token = order_api, portal_api, fleet_token, operator_token
        self.console = console or portal_api
        self.receiver, self.accepted, self.calls = Receiver(here), [], []
        self.deliveries, self.numbers, self.enough = queue.Queue(), itertools.count(), threading.Event()
        self.callers, self.drivers, self.all_accepted = [], [], threading.Event()

    def go_live(self):
        """From the documentation and the sign-up to the Live key."""
        expect(200, self.order_api, "GET", "/docs/")
        expect(200, self.portal_api, "GET", "/sign-up")
        account = {"businessName": "Malabar Coffee Works", "email": f"owner-{time.time_ns()}@example.com", "password": PASSWORD}
        headers, body = expect(201, self.portal_api, "POST", "/v1/portal/accounts", account)
        self.cookie, self.business = headers["Set-Cookie"].split(";")[0], body["businessId"]
        endpoint = self.portal(201, "POST", "/webhook-endpoints", {"url": self.receiver.url})
        self.receiver.secrets = [endpoint["secret"]]
        test_key = self.portal(201, "POST", "/api-keys", {"mode": "test", "name": "test"})["key"]
        expect(201, self.order_api, "POST", "/v1/integration/orders", self.order("first-test-order"), Authorization=f"Bearer {test_key}",
               Idempotency_Key="first-test-order")
        self.portal(200, "PUT", "/pickup-profile", {
            "businessName": "Malabar Coffee Works", "contactName": "Joseph Mathew", "phone": "+919800000002", "addressLine1": "27, Church Street",
            "city": "Bengaluru", "state": "Karnataka", "pincode": "560001"})
        self.operator(200, "PATCH", f"/businesses/{self.business}", {"status": "active", "subscription": "active", "liveAccess": "active"})
        for number in range(CREDITS):
            self.operator(201, "POST", f"/businesses/{self.business}/wallet/credits", {"amountPaise": CREDIT_PAISE, "reference": f"credit-{number}"})
        self.live_key = self.portal(201, "POST", "/api-keys", {"mode": "live", "name": "live"})["key"]

    def portal(self, status: int, method: str, path: str, body=None):
        return expect(status, self.portal_api, method, f"/v1/portal{path}", body, Cookie=self.cookie)[1]

    def operator(self, status: int, method: str, path: str, body=None):
        return expect(status, self.console, method, f"/v1/operator{path}", body, Authorization=f"Bearer {self.operator_token}")[1]

    @staticmethod
    def order(reference: str) -> dict:
        return {
            "orderReference": reference, "customer": {"name": "Asha Rao", "phone": "+919800000001"},
            "delivery": {"addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038"},
            "payment": {"paymentType": "prepaid", "deliveryFeePaise": FEE_PAISE}}

    def start(self):
        self.callers = [threading.Thread(target=self.orders) for _ in range(CALLERS)]
        self.drivers = [threading.Thread(target=self.drives) for _ in range(DRIVERS)]
        for thread in self.callers + self.drivers:
            thread.start()

    def orders(self):
        while not self.enough.is_set():
            reference = f"order-{next(self.numbers)}"
            while True:
                began = time.monotonic()
                try:
                    status, _, body = call(self.order_api, "POST", "/v1/integration/orders", self.order(reference),
                                           Authorization=f"Bearer {self.live_key}", Idempotency_Key=reference)
                    if status not in (200, 201):
                        status = f"{status} {(body or {}).get('code')}"
                except (OSError, http.client.HTTPException) as error:
                    status = error.strerror if type(error) is OSError else type(error).__name__
                self.calls.append((began, time.monotonic() - began, status))
                if status in (200, 201):
                    self.accepted.append(reference)
                    self.deliveries.put(body["id"])
                    break
                time.sleep(0.2)
            # The test is about changes, not load.
            time.sleep(0.1)

    def drives(self):
        while not (self.all_accepted.is_set() and self.deliveries.empty()):
            with contextlib.suppress(queue.Empty):
                order = self.deliveries.get(timeout=0.5)
                for event in EVENTS:
                    self.reports(order, event)

    def reports(self, order: str, event: str):
        report = {"eventId": f"{order}-{event}", "event": event, "occurredAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        if event == "driver.assigned":
            report["driver"] = {"name": "Ravi Kumar", "phone": "+919800000003", "vehicle": "KA01AB1234"}
        while True:
            began = time.monotonic()
            try:
                status, _, _ = call(self.order_api, "POST", f"/v1/fleet/orders/{order}/events", report, Authorization=f"Bearer {self.fleet_token}")
                if status == 200:
                    return
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
            self.calls.append((began, time.monotonic() - began, f"fleet: {status}"))
            time.sleep(0.2)

    @contextlib.contextmanager
    def during(self, name: str, report):
        """Gives the report what happened to calls in the meantime."""
        began, repeated = time.monotonic(), self.receiver.repeated
        yield
        ended = time.monotonic()
        calls = [one for one in self.calls if one[0] >= began]
        good = sorted(began + took for began, took, status in calls if status in (200, 201))
        times = [began, *good, ended]
        failed = {}
        for _, _, status in calls:
            if status not in (200, 201):
                failed[status] = failed.get(status, 0) + 1
        took = sorted(took for _, took, status in calls if status in (200, 201))
        report(name=name, seconds=ended - began, orders=len(good), failed=failed, pause=max(b - a for a, b in zip(times, times[1:])),
               p99=took[int(len(took) * 0.99)] if took else None, repeated=self.receiver.repeated - repeated)

    def end(self) -> list[str]:
        """Stops, waits for the webhooks, and returns what is wrong with orders, money and webhooks."""
        for threads, told in ((self.callers, self.enough), (self.drivers, self.all_accepted)):
            told.set()
            for thread in threads:
                thread.join()
        wanted = list(range(1, len(EVENTS) + 2))
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline and any(len(self.receiver.sequences.get(one, [])) < len(wanted) for one in self.accepted):
            time.sleep(1)
        faults = [f"{one}: events arrived as {self.receiver.sequences.get(one)}" for one in self.accepted if self.receiver.sequences.get(one) != wanted]
        if len(set(self.accepted)) != len(self.accepted):
            faults.append("an order was accepted twice")
        balance = self.portal(200, "GET", "/wallet")["balancePaise"]
        charged = CREDITS * CREDIT_PAISE - balance
        if charged != FEE_PAISE * len(self.accepted):
            faults.append(f"{len(self.accepted)} orders cost {charged} paise, not {FEE_PAISE * len(self.accepted)}")
        if self.receiver.refused:
            faults.append(f"{self.receiver.refused} webhooks had no valid signature")
        return faults
