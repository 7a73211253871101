-- As 000511 left it.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_event_fkey;
ALTER TABLE events DROP CONSTRAINT events_pkey, ADD PRIMARY KEY (event_id);
CREATE UNIQUE INDEX events_key ON events (event_id, business_id);
ALTER TABLE deliveries
    DROP CONSTRAINT deliveries_once,
    DROP CONSTRAINT deliveries_pkey,
    ADD PRIMARY KEY (id),
    ADD CONSTRAINT deliveries_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id),
    ADD CONSTRAINT deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events (event_id);
CREATE UNIQUE INDEX deliveries_key ON deliveries (id, business_id);
CREATE UNIQUE INDEX deliveries_once ON deliveries (event_id, endpoint_id, business_id);
