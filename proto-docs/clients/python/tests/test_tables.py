"""What the clients of all languages share: tables and phone numbers."""

from __future__ import annotations

import json
import sqlite3
import unittest
from contextlib import closing

from sqlalchemy import create_engine

from waybill import indian_phone
from waybill.sqlalchemy import metadata

from .test_webhooks import VECTORS

#: Name, type, whether it is required, and its place in the primary key.
COLUMNS = """
SELECT m.name, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_info(m.name) c
WHERE m.type = 'table' ORDER BY 1, c.cid
"""
INDEXES = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"


class Phones(unittest.TestCase):
    def test_ten_digits_of_an_indian_number_get_the_country_code(self) -> None:
        for case in json.loads((VECTORS / "indian-phones.json").read_text(encoding="utf-8")):
            self.assertEqual(indian_phone(case["given"]), case["expected"])


class Tables(unittest.TestCase):
    def test_sqlalchemy_has_the_columns_keys_and_indexes_of_all_languages(self) -> None:
        engine = create_engine("sqlite://")
        metadata.create_all(engine)
        with closing(sqlite3.connect(":memory:")) as shared, engine.connect() as own:
            shared.executescript((VECTORS / "tables.sql").read_text(encoding="utf-8"))
            for statement in (COLUMNS, INDEXES):
                expected = shared.execute(statement).fetchall()
                found = own.exec_driver_sql(statement).fetchall()
                # A primary key of SQLAlchemy is also NOT NULL.
                self.assertEqual(required(found), required(expected))
        engine.dispose()


def required(rows: object) -> list[tuple[object, ...]]:
    return [(*row[:3], bool(row[3] or row[4])) if len(row) > 3 else tuple(row) for row in rows]  # type: ignore[attr-defined]
