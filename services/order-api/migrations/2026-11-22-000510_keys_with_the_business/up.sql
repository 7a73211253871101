-- The new indexes replace the former keys. No table is read, because the columns are known to be NOT NULL. In one
-- transaction with a short lock timeout, so that it blocks others only briefly. Locks orders first, like the service.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE orders, order_events, fleet_reports, simulations IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE simulations
    DROP CONSTRAINT simulations_order_id_fkey,
    DROP CONSTRAINT simulations_pkey,
    ADD CONSTRAINT simulations_pkey PRIMARY KEY USING INDEX simulations_key;
ALTER TABLE fleet_reports
    DROP CONSTRAINT fleet_reports_order_id_fkey,
    DROP CONSTRAINT fleet_reports_pkey,
    ADD CONSTRAINT fleet_reports_pkey PRIMARY KEY USING INDEX fleet_reports_key;
ALTER TABLE fleet_reports DROP CONSTRAINT fleet_reports_of_a_business;
ALTER TABLE orders
    DROP CONSTRAINT orders_pkey,
    ADD CONSTRAINT orders_pkey PRIMARY KEY USING INDEX orders_key;
ALTER TABLE order_events
    DROP CONSTRAINT order_events_pkey,
    ADD CONSTRAINT order_events_pkey PRIMARY KEY USING INDEX order_events_key;
-- The key starts with the same columns.
DROP INDEX fleet_reports_of_order;
