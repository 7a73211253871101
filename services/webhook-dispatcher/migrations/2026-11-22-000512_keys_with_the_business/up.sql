-- compatible with release 1: its references stay within a business; dropped constraints are replaced by equivalent ones.
-- The new keys replace the former ones, and foreign keys include the business: for new rows now, for existing rows in
-- 000515. Reads no data, so its locks are short.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE deliveries, events IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE deliveries
    DROP CONSTRAINT deliveries_event_id_fkey,
    DROP CONSTRAINT deliveries_pkey,
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY USING INDEX deliveries_key,
    DROP CONSTRAINT deliveries_event_id_endpoint_id_key,
    ADD CONSTRAINT deliveries_once UNIQUE USING INDEX deliveries_once;
ALTER TABLE events
    DROP CONSTRAINT events_pkey,
    ADD CONSTRAINT events_pkey PRIMARY KEY USING INDEX events_key;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_event_fkey
    FOREIGN KEY (event_id, business_id) REFERENCES events (event_id, business_id) NOT VALID;
