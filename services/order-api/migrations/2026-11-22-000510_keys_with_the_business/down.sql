-- As 000509 left it.
ALTER TABLE simulations DROP CONSTRAINT simulations_order_fkey;
ALTER TABLE fleet_reports DROP CONSTRAINT fleet_reports_order_fkey;
ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX orders_key ON orders (id, business_id);
ALTER TABLE order_events DROP CONSTRAINT order_events_pkey, ADD PRIMARY KEY (order_id, sequence);
CREATE UNIQUE INDEX order_events_key ON order_events (order_id, sequence, business_id);
ALTER TABLE simulations
    DROP CONSTRAINT simulations_pkey,
    ADD PRIMARY KEY (order_id),
    ADD CONSTRAINT simulations_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders (id),
    ADD CONSTRAINT simulations_order_fkey FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id);
CREATE UNIQUE INDEX simulations_key ON simulations (order_id, business_id);
ALTER TABLE fleet_reports DROP CONSTRAINT fleet_reports_pkey;
ALTER TABLE fleet_reports
    ALTER COLUMN business_id DROP NOT NULL,
    ADD PRIMARY KEY (event_id),
    ADD CONSTRAINT fleet_reports_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders (id),
    ADD CONSTRAINT fleet_reports_order_fkey FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id),
    ADD CONSTRAINT fleet_reports_of_a_business CHECK (business_id IS NOT NULL);
CREATE UNIQUE INDEX fleet_reports_key ON fleet_reports (order_id, event_id, business_id);
CREATE INDEX fleet_reports_of_order ON fleet_reports (order_id);
