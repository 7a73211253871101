"""The sync record and the receiver on a database of Django."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper


class DjangoDatabase:
    """`apply` gets Django's connection; models use the same transaction.

    `Sync.ensure` refuses to run within `atomic()` or ATOMIC_REQUESTS, because a claim has to be committed before the
    call. Use `transaction.on_commit` or a task queue.
    """

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[BaseDatabaseWrapper]:
        with transaction.atomic(using=self._using, durable=durable):
            yield connections[self._using]

    def rows(
        self, connection: BaseDatabaseWrapper, statement: str, parameters: Sequence[Any]
    ) -> Sequence[Sequence[Any]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            rows: Sequence[Sequence[Any]] = cursor.fetchall()
            return rows
