-- The failed attempts of a delivery, the fleet's code of the latest failure, and what the business decided about it. NULL
-- before the first failure, so that placing an order costs nothing.
-- compatible with release 1: it gives an order that was picked up one of these states only when it moves another attempt,
-- which it does not know. Then its move fails instead of refunding the fee.
ALTER TABLE orders
    ADD COLUMN after_failure JSONB,
    ADD CONSTRAINT orders_pickup_is_final CHECK (NOT picked_up OR status NOT IN ('created', 'cancelled')) NOT VALID;
