-- compatible with release 1: its references stay within a business; dropped constraints are replaced by equivalent ones.
-- As 000512.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE order_streams, parked_events IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE parked_events
    DROP CONSTRAINT parked_events_order_id_fkey,
    DROP CONSTRAINT parked_events_pkey,
    ADD CONSTRAINT parked_events_pkey PRIMARY KEY USING INDEX parked_events_key,
    DROP CONSTRAINT parked_events_event_id_key,
    ADD CONSTRAINT parked_events_once UNIQUE USING INDEX parked_events_once;
ALTER TABLE order_streams
    DROP CONSTRAINT order_streams_pkey,
    ADD CONSTRAINT order_streams_pkey PRIMARY KEY USING INDEX order_streams_key;
ALTER TABLE parked_events ADD CONSTRAINT parked_events_order_fkey
    FOREIGN KEY (order_id, business_id) REFERENCES order_streams (order_id, business_id) NOT VALID;
