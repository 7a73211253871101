"""The sync record and the receiver on SQLAlchemy: PostgreSQL with any synchronous driver, or SQLite.

Add `metadata` to Alembic's `target_metadata`, or call `metadata.create_all(engine)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Connection, Engine, Index, Integer, MetaData, Table, Text

metadata = MetaData()

Table(
    "waybill_sync",
    metadata,
    Column("mode", Text, primary_key=True),
    Column("local_order_id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("body", Text),
    Column("body_sha256", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("attempted_at_ms", BigInteger, nullable=False),
    Column("lease_until_ms", BigInteger, nullable=False),
    Column("error_code", Text),
    Column("error_message", Text),
    Column("retry_at_ms", BigInteger),
    Column("order_id", Text),
    Column("tracking_code", Text),
    Column("tracking_url", Text),
    Column("delivery_status", Text),
    CheckConstraint("mode IN ('test', 'live')", name="waybill_sync_mode"),
    CheckConstraint("status IN ('creating', 'created', 'failed')", name="waybill_sync_status"),
    CheckConstraint("attempt >= 1", name="waybill_sync_attempt"),
    CheckConstraint("(status = 'created') = (order_id IS NOT NULL)", name="waybill_sync_delivery"),
    CheckConstraint("status <> 'created' OR body IS NULL", name="waybill_sync_body"),
)
Table(
    "waybill_events",
    metadata,
    Column("event_id", Text, primary_key=True),
    Column("received_at_ms", BigInteger, nullable=False),
    Index("waybill_events_received", "received_at_ms"),
)
Table(
    "waybill_sequences",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("last_sequence", BigInteger, nullable=False),
)
Table(
    "waybill_cursors",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("feed_cursor", Text, nullable=False),
)


class SqlAlchemy:
    """`apply` gets the `Connection` of the transaction; `Session(bind=connection)` works on it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def transaction(self, *, durable: bool = False) -> AbstractContextManager[Connection]:  # noqa: ARG002 - always
        return self._engine.begin()

    def rows(self, connection: Connection, statement: str, parameters: Sequence[Any]) -> Sequence[Sequence[Any]]:
        if self._engine.dialect.paramstyle == "qmark":
            statement = statement.replace("%s", "?")
        return connection.exec_driver_sql(statement, tuple(parameters)).fetchall()
