-- Builds the key of each daily partition in a transaction of its own. Past days have no writers, and future days are
-- empty. Writers of today's attempts wait for today's key, about a second per million attempts: best run early in the
-- day (UTC). Senders treat the wait as an unreachable database; nothing is lost or repeated. An interrupted run can be
-- repeated.
DO $$
DECLARE
    days NAME[] := ARRAY(
        SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = 'attempts'::regclass ORDER BY relname);
    day NAME;
BEGIN
    FOREACH day IN ARRAY days LOOP
        EXECUTE format(
            'CREATE UNIQUE INDEX IF NOT EXISTS %I ON %I (delivery_id, number, started_at, business_id)', day || '_key', day);
        COMMIT;
    END LOOP;
END $$;
