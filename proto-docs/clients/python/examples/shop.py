"""A small shop on Django and PostgreSQL: one delivery for each confirmed order, and webhooks that update it.

python shop.py serve 127.0.0.1:8000   creates the tables, and receives webhooks
python shop.py follow                 applies the events that no webhook brought
python shop.py order 1001 prepaid     confirms a sample order, then creates its delivery
python shop.py sync 1001              retries that for one order
python shop.py show [1001]            prints one order, or the newest 20
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import ClassVar, Optional
from urllib.parse import unquote, urlsplit
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.management import call_command
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.urls import path

from waybill import Receiver, SqlSyncStore, Sync, Waybill, is_known
from waybill.schema import NewOrder, WebhookEvent


def setting(name: str, default: Optional[str] = None) -> str:
    value = os.environ.get(f"WAYBILL_{name}") or default
    if value is None:
        raise SystemExit(f"WAYBILL_{name} is not set")
    return value


_database = urlsplit(setting("DATABASE__URL"))
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(_database.path.lstrip("/")),
            "USER": unquote(_database.username or ""),
            "PASSWORD": unquote(_database.password or ""),
            "HOST": _database.hostname,
            "PORT": _database.port,
            # A database that hangs fails the work, which is then repeated.
            "OPTIONS": {
                "connect_timeout": 5,
                "options": "-c statement_timeout=5s -c idle_in_transaction_session_timeout=10s",
            },
        }
    },
    INSTALLED_APPS=["waybill.django"],
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    USE_TZ=True,
)
django.setup()

from waybill.django.database import DjangoDatabase  # noqa: E402 - after setup
from waybill.django.views import webhook_view  # noqa: E402

waybill = Waybill(setting("API_KEY"), setting("BASE_URL"), deadline_s=float(setting("REQUEST_TIMEOUT_SECONDS", "60")))
store = SqlSyncStore(DjangoDatabase(), waybill.mode)
sync = Sync(waybill, store, setting("NAME", "shop"), lease_s=float(setting("LEASE_SECONDS", "90")))

DELIVERY_FEE_PAISE = 4_900
DAY_S = 24 * 60 * 60


class Order(models.Model):
    id = models.TextField(primary_key=True)
    payment_type = models.TextField()
    goods_paise = models.IntegerField()
    #: The latest status that an event reported, and the mode of its delivery.
    delivery_status = models.TextField(null=True)
    delivery_mode = models.TextField(null=True)
    confirmed_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[models.Manager[Order]] = models.Manager()

    class Meta:
        app_label = "shop"
        db_table = "orders"

    def __str__(self) -> str:
        return self.id


def to_waybill(order: Order) -> NewOrder:
    total = order.goods_paise + DELIVERY_FEE_PAISE
    return {
        "orderReference": order.id,
        # A sample. Yours come from the checkout.
        "customer": {"name": "Asha Rao", "phone": "+919800000001"},
        "delivery": {"addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038"},
        "payment": {
            "paymentType": "cod",
            "orderValuePaise": order.goods_paise,
            "deliveryFeePaise": DELIVERY_FEE_PAISE,
            "codAmountPaise": total,
        }
        if order.payment_type == "cod"
        else {
            "paymentType": "prepaid",
            "orderValuePaise": order.goods_paise,
            "deliveryFeePaise": DELIVERY_FEE_PAISE,
            "prepaidAmountPaise": total,
        },
    }


def confirm_order(order_id: str, payment_type: str) -> None:
    """Only stores the order, so that an outage of the delivery service never fails a checkout."""
    defaults = {"payment_type": payment_type, "goods_paise": 124_900}
    _, created = Order.objects.get_or_create(id=order_id, defaults=defaults)
    if not created:
        raise SystemExit(f"order {order_id} is already confirmed")


def local_order(order_id: str) -> Order:
    order = Order.objects.filter(id=order_id).first()
    if not order:
        raise SystemExit(f"there is no order {order_id}")
    return order


def create_delivery(order_id: str) -> str:
    """Call it after the checkout, and again when somebody retries the order. Never call it for many in a loop."""
    order = local_order(order_id)
    outcome = sync.ensure(order_id, lambda: to_waybill(order))
    if outcome.delivery:
        found = "exists already" if outcome.status == "already_created" else "created"
        return f"{order_id}: delivery {found}, {outcome.delivery.tracking_url}"
    if not outcome.error:
        return f"{order_id}: another attempt is in progress"
    reason = f"{outcome.error.message} ({outcome.error.code})"
    raise SystemExit(f"{order_id}: {reason} The order is stored; retry with `sync {order_id}`.")


def apply(event: WebhookEvent, _: BaseDatabaseWrapper) -> None:
    """Runs in the transaction that stores the event's id, so an event is applied completely and once.

    A later version of the service may send other kinds.
    """
    about = event["order"]
    if about and is_known(event):
        order = Order.objects.filter(id=about["orderReference"])
        order.update(delivery_status=about["status"], delivery_mode=event["mode"])


receiver = Receiver(
    DjangoDatabase(),
    setting("WEBHOOK_SECRET"),
    waybill.mode,
    header_prefix=setting("HEADER_PREFIX", "Service"),
    on_refused=lambda reason: print_error(f"webhook not applied: {reason}"),
)
urlpatterns = [path("api/waybill/webhook", webhook_view(receiver, apply))]


def forget() -> None:
    """The service sends no event again after 30 days."""
    receiver.forget(int(time.time() - 31 * DAY_S) * 1_000)
    connection.close()


def forget_daily() -> None:
    while True:
        time.sleep(DAY_S)
        try:
            forget()
        except DatabaseError as error:
            print_error(f"forget: {error}")


def serve(address: str) -> None:
    call_command("migrate", verbosity=0)
    # A project of several files has a migration for its own model, too.
    if Order._meta.db_table not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(Order)
    forget()
    threading.Thread(target=forget_daily, daemon=True).start()
    host, port = address.split(":")
    # In production, run the WSGI application with a server such as gunicorn.
    with make_server(host, int(port), get_wsgi_application(), ThreadedWSGIServer, WSGIRequestHandler) as server:
        print(f"receiving webhooks at http://{host}:{server.server_port}/api/waybill/webhook", flush=True)
        server.serve_forever()


def follow() -> None:
    """Run it as a process of its own. It may be killed at any time: the next one continues behind the last event."""
    receiver.follow(waybill, "shop", apply, on_retry=lambda error: print_error(f"feed: {error.message} Trying again."))


def print_error(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def show(orders: models.QuerySet[Order]) -> None:
    for order in orders:
        record = store.get(order.id)
        delivery, error = record and record.delivery, record and record.error
        # A shop that goes live may have the order from a test.
        reported = order.delivery_status if order.delivery_mode == waybill.mode else None
        fields = (
            record.status if record else "not_started",
            reported or (delivery and delivery.status) or "-",
            delivery.tracking_url if delivery else "-",
            error.message if error else "-",
        )
        print(order.id, *fields, sep="  ")


def main(command: str = "", argument: str = "", payment_type: str = "cod") -> None:
    if command == "serve" and argument:
        serve(argument)
    elif command == "follow":
        follow()
    elif command == "show":
        show(Order.objects.filter(id=argument) if argument else Order.objects.order_by("-confirmed_at", "id")[:20])
    elif command == "order" and argument:
        confirm_order(argument, payment_type)
        print(create_delivery(argument))
    elif command == "sync" and argument:
        print(create_delivery(argument))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    # Ends `with` blocks, unlike the default.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    main(*sys.argv[1:])
