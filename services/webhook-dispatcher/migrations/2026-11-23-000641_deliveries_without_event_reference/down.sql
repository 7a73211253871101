ALTER TABLE deliveries ADD CONSTRAINT deliveries_event_fkey
    FOREIGN KEY (event_id, business_id) REFERENCES events (event_id, business_id) NOT VALID;
