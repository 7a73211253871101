-- For the events feed of a business, which is sorted like this index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS order_events_feed
    ON order_events (business_id, (coalesce(feed_at, recorded_at)), order_id, sequence);
