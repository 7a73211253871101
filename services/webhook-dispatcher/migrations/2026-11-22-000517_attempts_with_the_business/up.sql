-- As 000512. Partitions added since 000516 are empty. The table adopts the keys of its partitions.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE attempts DROP CONSTRAINT attempts_pkey;
DO $$
DECLARE
    day NAME;
BEGIN
    FOR day IN SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'attempts'::regclass LOOP
        EXECUTE format(
            'CREATE UNIQUE INDEX IF NOT EXISTS %I ON %I (delivery_id, number, started_at, business_id)', day || '_key', day);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', day, day || '_pkey', day || '_key');
    END LOOP;
END $$;
ALTER TABLE attempts ADD CONSTRAINT attempts_pkey PRIMARY KEY (delivery_id, number, started_at, business_id);
