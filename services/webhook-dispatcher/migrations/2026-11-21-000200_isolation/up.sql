-- The circuit breaker, and when an endpoint last succeeded.
ALTER TABLE endpoint_health
    ADD COLUMN failures_in_a_row INTEGER NOT NULL DEFAULT 0 CHECK (failures_in_a_row >= 0),
    ADD COLUMN trips             INTEGER NOT NULL DEFAULT 0 CHECK (trips >= 0),
    -- Nothing is sent before; afterwards one webhook at a time, until one is received.
    ADD COLUMN tripped_until     TIMESTAMPTZ,
    ADD COLUMN last_success_at   TIMESTAMPTZ,
    -- What its owner wants done with the deliveries that were parked while it was disabled.
    ADD COLUMN parked_fate    TEXT CHECK (parked_fate IN ('replay', 'discard'));
UPDATE endpoint_health SET last_success_at = last_delivery_at WHERE last_delivery_succeeded;
-- Endpoints that fail, for the warnings to their owners; those that succeed, for orders that one event holds up.
CREATE INDEX endpoint_health_failing ON endpoint_health (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX endpoint_health_disabled ON endpoint_health (endpoint_id) WHERE disabled_at IS NOT NULL;
CREATE INDEX endpoint_health_fate ON endpoint_health (endpoint_id) WHERE parked_fate IS NOT NULL;

-- The most webhooks per second that its owner wants; the operator's limit when none.
ALTER TABLE endpoints ADD COLUMN max_per_second INTEGER CHECK (max_per_second BETWEEN 1 AND 1000);

ALTER TABLE deliveries
    ADD COLUMN first_failed_at TIMESTAMPTZ,
    ADD COLUMN last_failed_at  TIMESTAMPTZ,
    -- The endpoint took other webhooks between the first failure and the latest: it is this event that it does not take.
    ADD COLUMN endpoint_was_up BOOLEAN NOT NULL DEFAULT false,
    -- Since then later events of its order no longer wait for it.
    ADD COLUMN stepped_aside_at TIMESTAMPTZ,
    DROP CONSTRAINT deliveries_state_check,
    DROP CONSTRAINT deliveries_check5,
    -- Parked: it came, or waited, while its endpoint was disabled.
    ADD CONSTRAINT deliveries_state_check
        CHECK (state IN ('pending', 'succeeded', 'failed', 'discarded', 'parked')),
    ADD CONSTRAINT deliveries_completed_check
        CHECK ((state IN ('pending', 'parked')) = (completed_at IS NULL));
CREATE INDEX deliveries_stuck ON deliveries (endpoint_id, first_failed_at)
    WHERE state = 'pending' AND in_turn AND first_failed_at IS NOT NULL;
CREATE INDEX deliveries_parked ON deliveries (endpoint_id, id) WHERE state = 'parked';

-- What an owner was told of an endpoint that only fails.
CREATE TABLE endpoint_notices (
    endpoint_id   TEXT COLLATE "C" NOT NULL REFERENCES endpoints (id),
    business_id   TEXT COLLATE "C" NOT NULL,
    failing_since TIMESTAMPTZ NOT NULL,
    percent       INTEGER NOT NULL CHECK (percent IN (50, 80, 100)),
    told_at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (endpoint_id, failing_since, percent)
);
