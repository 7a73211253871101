-- The circuit breaker, and the latest success of an endpoint.
ALTER TABLE endpoint_health
    ADD COLUMN failures_in_a_row INTEGER NOT NULL DEFAULT 0 CHECK (failures_in_a_row >= 0),
    ADD COLUMN trips             INTEGER NOT NULL DEFAULT 0 CHECK (trips >= 0),
    -- The breaker is open until then, and half open afterwards: one webhook at a time.
    ADD COLUMN tripped_until     TIMESTAMPTZ,
    ADD COLUMN last_success_at   TIMESTAMPTZ,
    -- The owner's decision on parked deliveries.
    ADD COLUMN parked_fate    TEXT CHECK (parked_fate IN ('replay', 'discard'));
UPDATE endpoint_health SET last_success_at = last_delivery_at WHERE last_delivery_succeeded;
-- Failing endpoints, for warnings to their owners; successful ones, for events that block their order.
CREATE INDEX endpoint_health_failing ON endpoint_health (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX endpoint_health_disabled ON endpoint_health (endpoint_id) WHERE disabled_at IS NOT NULL;
CREATE INDEX endpoint_health_fate ON endpoint_health (endpoint_id) WHERE parked_fate IS NOT NULL;

-- The owner's rate limit; the operator's applies if NULL.
ALTER TABLE endpoints ADD COLUMN max_per_second INTEGER CHECK (max_per_second BETWEEN 1 AND 1000);

ALTER TABLE deliveries
    ADD COLUMN first_failed_at TIMESTAMPTZ,
    ADD COLUMN last_failed_at  TIMESTAMPTZ,
    -- The endpoint accepted other webhooks between the first failure and the latest: it refuses this event.
    ADD COLUMN endpoint_was_up BOOLEAN NOT NULL DEFAULT false,
    -- When it was skipped: later events of its order no longer wait for it.
    ADD COLUMN stepped_aside_at TIMESTAMPTZ,
    DROP CONSTRAINT deliveries_state_check,
    DROP CONSTRAINT deliveries_check5,
    -- Parked: pending while its endpoint was disabled.
    ADD CONSTRAINT deliveries_state_check
        CHECK (state IN ('pending', 'succeeded', 'failed', 'discarded', 'parked')),
    ADD CONSTRAINT deliveries_completed_check
        CHECK ((state IN ('pending', 'parked')) = (completed_at IS NULL));
CREATE INDEX deliveries_stuck ON deliveries (endpoint_id, first_failed_at)
    WHERE state = 'pending' AND in_turn AND first_failed_at IS NOT NULL;
CREATE INDEX deliveries_parked ON deliveries (endpoint_id, id) WHERE state = 'parked';

-- Warnings to the owners of endpoints that only fail.
CREATE TABLE endpoint_notices (
    endpoint_id   TEXT COLLATE "C" NOT NULL REFERENCES endpoints (id),
    business_id   TEXT COLLATE "C" NOT NULL,
    failing_since TIMESTAMPTZ NOT NULL,
    percent       INTEGER NOT NULL CHECK (percent IN (50, 80, 100)),
    told_at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (endpoint_id, failing_since, percent)
);
