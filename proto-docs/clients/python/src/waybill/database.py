"""Your database, as the sync record and the receiver use it: PostgreSQL, or SQLite 3.35 and newer.

`waybill.sqlalchemy` and `waybill.django` implement it and have the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

Connection = TypeVar("Connection")


class Database(Protocol[Connection]):
    def transaction(self, *, durable: bool = False) -> AbstractContextManager[Connection]:
        """Commits at the end, or rolls back after an error. `durable`: never a part of another transaction."""

    def rows(self, connection: Connection, statement: str, parameters: Sequence[Any]) -> Sequence[Sequence[Any]]:
        """Runs a statement with `%s` for each parameter. Every statement of this package returns rows."""


def first(rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
    return rows[0] if rows else ()
