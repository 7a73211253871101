DROP TABLE endpoint_notices;
UPDATE deliveries SET state = 'discarded', completed_at = now() WHERE state = 'parked';
DROP INDEX deliveries_parked, deliveries_stuck;
ALTER TABLE deliveries
    DROP CONSTRAINT deliveries_completed_check,
    DROP CONSTRAINT deliveries_state_check,
    ADD CONSTRAINT deliveries_state_check CHECK (state IN ('pending', 'succeeded', 'failed', 'discarded')),
    ADD CONSTRAINT deliveries_check5 CHECK ((state = 'pending') = (completed_at IS NULL)),
    DROP COLUMN stepped_aside_at,
    DROP COLUMN endpoint_was_up,
    DROP COLUMN last_failed_at,
    DROP COLUMN first_failed_at;
ALTER TABLE endpoints DROP COLUMN max_per_second;
DROP INDEX endpoint_health_fate, endpoint_health_disabled, endpoint_health_failing;
ALTER TABLE endpoint_health
    DROP COLUMN parked_fate,
    DROP COLUMN last_success_at,
    DROP COLUMN tripped_until,
    DROP COLUMN trips,
    DROP COLUMN failures_in_a_row;
