DO $$
DECLARE
    day NAME;
BEGIN
    FOR day IN SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'attempts'::regclass LOOP
        EXECUTE format('DROP INDEX IF EXISTS %I', day || '_key');
    END LOOP;
END $$;
