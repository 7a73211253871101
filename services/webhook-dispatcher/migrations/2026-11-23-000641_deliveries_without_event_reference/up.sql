-- A delivery is stored in the transaction that finds or stores its event, and events are deleted after their deliveries.
-- Checking that again cost a quarter of the insert.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE events, deliveries IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_event_fkey;
