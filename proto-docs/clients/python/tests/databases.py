"""A PostgreSQL database of the test servers, and SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Engine, create_engine, text

from waybill.sqlalchemy import metadata

from .support import new_reference, variable

KINDS = ("postgresql", "sqlite")


@contextmanager
def database_url(kind: str) -> Iterator[URL]:
    if kind == "sqlite":
        with TemporaryDirectory() as folder:
            yield URL.create("sqlite", database=f"{folder}/shop.db", query={"timeout": "20"})
        return
    server = json.loads(Path(variable("WAYBILL_TEST_SERVERS")).read_text(encoding="utf-8"))["postgres"]
    name = new_reference().replace("-", "_")
    admin = URL.create(
        "postgresql+psycopg", "waybill_admin", server["password"], "127.0.0.1", server["port"], "postgres"
    )
    engine = create_engine(admin, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield admin.set(database=name)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        engine.dispose()


@contextmanager
def engine_with_tables(kind: str) -> Iterator[Engine]:
    with database_url(kind) as url:
        engine = create_engine(url)
        metadata.create_all(engine)
        try:
            yield engine
        finally:
            engine.dispose()
