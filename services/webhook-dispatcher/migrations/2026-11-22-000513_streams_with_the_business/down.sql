-- As 000512 left it.
ALTER TABLE parked_events DROP CONSTRAINT parked_events_order_fkey;
-- The foreign key must reference the primary key.
DROP INDEX order_streams_order_id;
ALTER TABLE order_streams DROP CONSTRAINT order_streams_pkey, ADD PRIMARY KEY (order_id);
CREATE UNIQUE INDEX order_streams_key ON order_streams (order_id, business_id);
ALTER TABLE parked_events
    DROP CONSTRAINT parked_events_once,
    DROP CONSTRAINT parked_events_pkey,
    ADD PRIMARY KEY (order_id, sequence),
    ADD CONSTRAINT parked_events_event_id_key UNIQUE (event_id),
    ADD CONSTRAINT parked_events_order_id_fkey FOREIGN KEY (order_id) REFERENCES order_streams (order_id);
CREATE UNIQUE INDEX parked_events_key ON parked_events (order_id, sequence, business_id);
CREATE UNIQUE INDEX parked_events_once ON parked_events (event_id, business_id);
CREATE UNIQUE INDEX order_streams_order_id ON order_streams (order_id);
