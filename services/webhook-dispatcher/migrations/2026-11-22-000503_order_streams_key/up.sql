CREATE UNIQUE INDEX CONCURRENTLY order_streams_key ON order_streams (order_id, business_id);
