-- Recoveries send missed webhooks of a period again. The row's lock is the worker's lease: a batch and its progress
-- commit together.
CREATE TABLE recoveries (
    id          TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL REFERENCES endpoints (id),
    since       TIMESTAMPTZ NOT NULL,
    until       TIMESTAMPTZ NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled')),
    -- In deliveries.
    total       BIGINT NOT NULL CHECK (total >= 0),
    done        BIGINT NOT NULL CHECK (done >= 0),
    -- The last processed delivery.
    after_id    TEXT COLLATE "C" NOT NULL,
    -- When a worker continues.
    due_at      TIMESTAMPTZ,
    created_at  TIMESTAMPTZ NOT NULL,
    ended_at    TIMESTAMPTZ,
    CHECK (since < until),
    CHECK ((state = 'running') = (due_at IS NOT NULL)),
    CHECK ((state = 'running') = (ended_at IS NULL))
);
-- One at a time per endpoint.
CREATE UNIQUE INDEX recoveries_running ON recoveries (endpoint_id) WHERE state = 'running';
CREATE INDEX recoveries_due ON recoveries (due_at) WHERE state = 'running';
CREATE INDEX recoveries_of_endpoint ON recoveries (business_id, endpoint_id, id);
