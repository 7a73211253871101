-- For filtered lists of a business, newest first. A filter is a few combinations of these columns, each of which is a
-- range of this index, so that a filter that finds nothing is as fast as one that finds many.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_by_state
    ON orders (business_id, mode, status, cod_status, payment_type, id DESC) WHERE placement = 'placed';
