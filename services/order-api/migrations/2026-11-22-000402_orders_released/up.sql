-- Orders of a business that were never placed: nearly none.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_released ON orders (business_id, id) WHERE placement = 'released';
