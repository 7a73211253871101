-- compatible with release 1: its references stay within a business; dropped constraints are replaced by equivalent ones.
-- As 000512.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE endpoints, endpoint_health, endpoint_notices, recoveries IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE endpoint_health
    DROP CONSTRAINT endpoint_health_endpoint_id_fkey,
    DROP CONSTRAINT endpoint_health_pkey,
    ADD CONSTRAINT endpoint_health_pkey PRIMARY KEY USING INDEX endpoint_health_key;
ALTER TABLE endpoint_notices
    DROP CONSTRAINT endpoint_notices_endpoint_id_fkey,
    DROP CONSTRAINT endpoint_notices_pkey,
    ADD CONSTRAINT endpoint_notices_pkey PRIMARY KEY USING INDEX endpoint_notices_key;
ALTER TABLE recoveries
    DROP CONSTRAINT recoveries_endpoint_id_fkey,
    DROP CONSTRAINT recoveries_pkey,
    ADD CONSTRAINT recoveries_pkey PRIMARY KEY USING INDEX recoveries_key;
ALTER TABLE endpoints
    DROP CONSTRAINT endpoints_pkey,
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY USING INDEX endpoints_key;
ALTER TABLE endpoint_health ADD CONSTRAINT endpoint_health_endpoint_fkey
    FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id) NOT VALID;
ALTER TABLE endpoint_notices ADD CONSTRAINT endpoint_notices_endpoint_fkey
    FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id) NOT VALID;
ALTER TABLE recoveries ADD CONSTRAINT recoveries_endpoint_fkey
    FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id) NOT VALID;
