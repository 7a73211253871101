-- For the operator: the orders of all businesses that failed at the door, by their last change. An order leaves it when its status
-- changes again.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_failed ON orders (updated_at, id)
    WHERE mode = 'live' AND placement = 'placed' AND status = 'failed' AND picked_up;
