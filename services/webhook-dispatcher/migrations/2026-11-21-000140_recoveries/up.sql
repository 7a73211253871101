-- Sending again, in an endpoint's name, what did not arrive in some time. The row's lock is the worker's lease: what it
-- sends again and how far it came commit together.
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
    -- Everything up to this delivery was looked at.
    after_id    TEXT COLLATE "C" NOT NULL,
    -- When a worker is to look at it next.
    due_at      TIMESTAMPTZ,
    created_at  TIMESTAMPTZ NOT NULL,
    ended_at    TIMESTAMPTZ,
    CHECK (since < until),
    CHECK ((state = 'running') = (due_at IS NOT NULL)),
    CHECK ((state = 'running') = (ended_at IS NULL))
);
-- One at a time.
CREATE UNIQUE INDEX recoveries_running ON recoveries (endpoint_id) WHERE state = 'running';
CREATE INDEX recoveries_due ON recoveries (due_at) WHERE state = 'running';
CREATE INDEX recoveries_of_endpoint ON recoveries (business_id, endpoint_id, id);
