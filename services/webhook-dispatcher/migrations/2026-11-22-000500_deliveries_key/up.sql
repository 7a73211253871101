-- Keys contain the business: PostgreSQL would partition growing tables by it, and Citus distribute them. It is the last
-- column, so the index also finds a delivery by its id alone, for senders (which serve all businesses) and for the
-- previous release.
--
-- Built concurrently, without blocking webhooks. 000512 makes it the key. The same applies to the next migrations.
-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS deliveries_key ON deliveries (id, business_id);
