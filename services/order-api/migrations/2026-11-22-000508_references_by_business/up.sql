-- compatible with release 1: a trigger sets the business for it.
-- References to an order include its business: for new rows from now on, and for existing rows in 000509. In one
-- transaction with a short lock timeout, so that it blocks others only briefly. Locks orders first, like the service.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE orders, fleet_reports, simulations IN SHARE ROW EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE simulations ADD CONSTRAINT simulations_order_fkey
    FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id) NOT VALID;
ALTER TABLE fleet_reports
    ADD CONSTRAINT fleet_reports_order_fkey
        FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id) NOT VALID,
    ADD CONSTRAINT fleet_reports_of_a_business CHECK (business_id IS NOT NULL) NOT VALID;
