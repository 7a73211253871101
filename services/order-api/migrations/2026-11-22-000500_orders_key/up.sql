-- Keys contain the business, the column for partitioning in PostgreSQL or distribution in Citus. It is the last column,
-- so that the same index finds an order by id alone (for the fleet, the reconciliation of the wallet, the search of
-- operators and the previous version), and grows at its end.
--
-- Built concurrently with the current key, without blocking orders. Migration 000510 replaces the key. The same holds
-- for the next keys.
-- compatible with release 1: rows that satisfy its key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS orders_key ON orders (id, business_id);
