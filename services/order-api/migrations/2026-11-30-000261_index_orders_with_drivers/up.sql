-- For the orders that need attention: failed ones, and those with a driver by their last change. An order is added when it
-- gets a driver, so that placing it costs nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_with_drivers ON orders (business_id, mode, status, updated_at)
    WHERE placement = 'placed' AND status IN ('driver_assigned', 'picked_up', 'out_for_delivery', 'failed');
