-- Attempts in a partition per day (UTC), so that old ones are dropped, and not deleted row by row. What is there already
-- becomes the first partition as it stands, up to the end of today; the days after it are made ahead by a worker.
ALTER TABLE attempts RENAME TO attempts_before;
ALTER INDEX attempts_pkey RENAME TO attempts_before_number;
-- Where the attempt went: its endpoint may lead elsewhere by now. Unknown for those that were made before.
ALTER TABLE attempts_before ADD COLUMN url TEXT;

CREATE TABLE attempts (
    LIKE attempts_before INCLUDING CONSTRAINTS,
    PRIMARY KEY (delivery_id, number, started_at)
) PARTITION BY RANGE (started_at);

-- For what has no day of its own: rather there, told of and moved later, than an outcome that cannot be written.
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

DO $$
DECLARE
    -- One hour more: the clocks of the instances differ.
    today DATE := (now() AT TIME ZONE 'UTC' + interval '1 hour')::date;
BEGIN
    ALTER TABLE attempts_before DROP CONSTRAINT attempts_before_number;
    ALTER TABLE attempts_before ADD PRIMARY KEY (delivery_id, number, started_at);
    EXECUTE format(
        'ALTER TABLE attempts ATTACH PARTITION attempts_before FOR VALUES FROM (MINVALUE) TO (%L)',
        (today + 1)::timestamp AT TIME ZONE 'UTC');
    FOR ahead IN 1..3 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF attempts FOR VALUES FROM (%L) TO (%L)',
            'attempts_' || to_char(today + ahead, 'YYYYMMDD'),
            (today + ahead)::timestamp AT TIME ZONE 'UTC',
            (today + ahead + 1)::timestamp AT TIME ZONE 'UTC');
    END LOOP;
END $$;
