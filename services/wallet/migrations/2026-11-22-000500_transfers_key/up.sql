-- Keys include the business, by which PostgreSQL would partition, and Citus distribute, growing tables. It is the last column:
-- so the index still finds a transfer by its id alone, for reconciliation, the ledger's checks and the previous version, and
-- grows at its end.
--
-- Built alongside the current key, without blocking payments. It replaces that key in 000508, like the following indexes.
-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS transfers_key ON transfers (id, business_id);
