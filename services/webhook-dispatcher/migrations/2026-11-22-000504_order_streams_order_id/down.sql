DROP INDEX CONCURRENTLY IF EXISTS order_streams_order_id;
