"""A shop with FastAPI and SQLAlchemy: creates the delivery of an order, and applies its webhooks.

Run it with `uvicorn shop:app`. It reads WAYBILL_API_KEY, WAYBILL_BASE_URL and WEBHOOK_SECRET.
"""

from __future__ import annotations

import os
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Column, Connection, MetaData, Table, Text, create_engine, insert, select, update

from waybill import Waybill
from waybill.fastapi import webhook_router
from waybill.receiver import Receiver
from waybill.schema import NewOrder, WebhookEvent
from waybill.sqlalchemy import SqlAlchemy
from waybill.sqlalchemy import metadata as waybill_metadata
from waybill.sync import Sync
from waybill.sync_store import SqlSyncStore

engine = create_engine(os.environ.get("DATABASE_URL", "sqlite:///shop.db"))
metadata = MetaData()
orders = Table("orders", metadata, Column("id", Text, primary_key=True), Column("status", Text, nullable=False))
metadata.create_all(engine)
waybill_metadata.create_all(engine)

waybill = Waybill(os.environ["WAYBILL_API_KEY"], os.environ["WAYBILL_BASE_URL"], app_info="example-shop/1.0")
database = SqlAlchemy(engine)
sync = Sync(waybill, SqlSyncStore(database, waybill.mode), website="example-shop")
receiver = Receiver(database, os.environ["WEBHOOK_SECRET"], waybill.mode)


def to_waybill(order_id: str) -> NewOrder:
    return {
        "orderReference": order_id,
        "customer": {"name": "Asha Rao", "phone": "+919800000001"},
        "delivery": {
            "addressLine1": "12th Main Road",
            "city": "Bengaluru",
            "state": "Karnataka",
            "pincode": "560038",
        },
        "payment": {"paymentType": "prepaid", "deliveryFeePaise": 4900},
    }


def apply(event: WebhookEvent, connection: Connection) -> None:
    if event["order"] is not None:
        reference, status = event["order"]["orderReference"], event["order"]["status"]
        connection.execute(update(orders).where(orders.c.id == reference).values(status=status))


app = FastAPI()
app.include_router(webhook_router(receiver, apply, "/webhook"))


@app.post("/orders/{order_id}")
def confirm(order_id: str) -> dict[str, Any]:
    """The customer's order is stored first, and kept whatever becomes of the delivery."""
    with engine.begin() as connection:
        connection.execute(insert(orders).values(id=order_id, status="confirmed"))
    outcome = sync.ensure(order_id, lambda: to_waybill(order_id))
    return {"sync": outcome.status, "error": outcome.error and outcome.error.message}


@app.get("/orders/{order_id}")
def show(order_id: str) -> dict[str, Any]:
    with engine.connect() as connection:
        status = connection.execute(select(orders.c.status).where(orders.c.id == order_id)).scalar_one()
    return {"id": order_id, "status": status}
