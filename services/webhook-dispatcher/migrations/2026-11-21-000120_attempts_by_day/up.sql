-- Attempts in daily partitions (UTC): old ones are dropped instead of deleted row by row. The existing table becomes
-- the first partition, up to the end of today. A worker creates the following days ahead.
ALTER TABLE attempts RENAME TO attempts_before;
ALTER INDEX attempts_pkey RENAME TO attempts_before_number;
-- The URL of the attempt: the endpoint's may have changed since. Unknown for older attempts.
ALTER TABLE attempts_before ADD COLUMN url TEXT;

CREATE TABLE attempts (
    LIKE attempts_before INCLUDING CONSTRAINTS,
    PRIMARY KEY (delivery_id, number, started_at)
) PARTITION BY RANGE (started_at);

-- For attempts without a partition: reported and moved later. Otherwise their outcomes could not be recorded.
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

DO $$
DECLARE
    -- One hour more, for differing clocks of the instances.
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
