-- The key of each day's attempts, a day after the other, each a transaction of its own. Days that are over are written by nobody,
-- and those to come are empty. Whoever writes attempts of today waits until today's is built, which takes about a second per
-- million of them: best run when a day is young (UTC). What waits is told to senders as a database that is away, and nothing is
-- lost or sent twice by it. Repeated, it goes on where it was.
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
