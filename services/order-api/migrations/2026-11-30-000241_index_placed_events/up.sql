-- For the index of the search, which follows the placed orders of all businesses. The first event of an order is its
-- placement. The entries are small and grow at the end of the index, so that they cost a new order little.
CREATE INDEX CONCURRENTLY IF NOT EXISTS order_events_placed ON order_events (feed_at) WHERE sequence = 1;
