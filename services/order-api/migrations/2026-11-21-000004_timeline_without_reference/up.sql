-- A foreign key would lock the row of the order again for each event. The transaction that adds an event has locked or
-- inserted that row already.
ALTER TABLE order_events DROP CONSTRAINT order_events_order_id_fkey;
