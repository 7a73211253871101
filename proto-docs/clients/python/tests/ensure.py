"""A process of a shop that ensures one delivery, and dies at a step. `test_sync` starts many of them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, create_engine

from waybill import Environment
from waybill.sqlalchemy import SqlAlchemy
from waybill.sync import Sync
from waybill.sync_store import SqlSyncStore

from .support import LIVE_KEY, client, new_order

#: The exit code of a process is the place of its outcome.
OUTCOMES = ("created", "recovered", "already_created", "in_progress", "failed")


class DeadlyDatabase(SqlAlchemy):
    step = ""

    def rows(self, connection: Connection, statement: str, parameters: Sequence[Any]) -> Sequence[Sequence[Any]]:
        if self.step == "before created" and "SET status = 'created'" in statement:
            os.kill(os.getpid(), signal.SIGKILL)
        rows = super().rows(connection, statement, parameters)
        if self.step == "after claim" and rows and "INSERT INTO waybill_sync" in statement:
            connection.commit()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


def ensure(url: str, base_url: str, local_order_id: str, step: str, minutes: int) -> None:
    database = DeadlyDatabase(create_engine(url))
    database.step = step
    # Leases end by the clock, so the rounds of the test need not wait.
    environment = Environment(now=lambda: time.time() + 60 * minutes, jitter=lambda: 0.0)
    waybill = client(LIVE_KEY, base_url, attempt_timeout_s=5.0, deadline_s=20.0, environment=environment)
    sync = Sync(waybill, SqlSyncStore(database, waybill.mode), "shop")
    outcome = sync.ensure(local_order_id, lambda: new_order(local_order_id))
    sys.exit(OUTCOMES.index(outcome.status))
