-- Keys hold the business, the column by which PostgreSQL would partition, and Citus spread, tables that grow. It stands last:
-- the same index then finds an order by its id alone, for the fleet, the wallet's reconciliation, the operator's search and
-- the version before, and grows at its end.
--
-- Built beside the present key, without holding up orders; it takes its place in 000510. So do the ones after it.
-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS orders_key ON orders (id, business_id);
