-- Keys hold the business, the column by which PostgreSQL would partition, and Citus spread, tables that grow. It stands last:
-- the same index then finds a transfer by its id alone, for reconciliation, the ledger's own checks and the version before, and
-- grows at its end.
--
-- Built beside the present key, without holding up payments; it takes its place in 000508. So do the ones after it.
-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS transfers_key ON transfers (id, business_id);
