-- Instances of the version before say ON CONFLICT (order_id).
-- contract: with the next release, this index.
-- borne by release 1: the former key says the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS simulations_order_id ON simulations (order_id);
