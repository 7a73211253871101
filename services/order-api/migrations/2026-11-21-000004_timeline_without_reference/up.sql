-- A foreign key locks the order's row once more for each event that is added to it, on the way of every order. The events
-- of an order are written only by the transaction that holds that row already, or has just made it.
ALTER TABLE order_events DROP CONSTRAINT order_events_order_id_fkey;
