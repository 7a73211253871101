-- Instances of the previous version use ON CONFLICT (order_id).
-- contract: with the next release, this index.
-- compatible with release 1: its key is the same.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS simulations_order_id ON simulations (order_id);
