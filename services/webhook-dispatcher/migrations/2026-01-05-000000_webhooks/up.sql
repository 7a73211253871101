-- Endpoints as their owners configure them. Senders update endpoint_health all the time, so it is a table of its own.
CREATE TABLE endpoints (
    id                TEXT COLLATE "C" PRIMARY KEY,
    business_id       TEXT COLLATE "C" NOT NULL,
    url               TEXT NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
    events            TEXT[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 50),
    modes             TEXT[] NOT NULL CHECK (cardinality(modes) BETWEEN 1 AND 2 AND modes <@ ARRAY['test', 'live']),
    -- By the owner.
    paused            BOOLEAN NOT NULL,
    -- AES-256-GCM, with the endpoint's id as associated data.
    secret_ciphertext BYTEA NOT NULL,
    -- Identifies the encryption key.
    secret_key_id     TEXT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    deleted_at        TIMESTAMPTZ
);
CREATE INDEX endpoints_of_business ON endpoints (business_id, id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_deleted ON endpoints (id) WHERE deleted_at IS NOT NULL;

-- The health of endpoints.
CREATE TABLE endpoint_health (
    endpoint_id             TEXT COLLATE "C" PRIMARY KEY REFERENCES endpoints (id),
    business_id             TEXT COLLATE "C" NOT NULL,
    last_delivery_at        TIMESTAMPTZ,
    last_delivery_succeeded BOOLEAN,
    -- Since when every attempt has failed.
    failing_since           TIMESTAMPTZ,
    -- By the service, for instance after a response 410.
    disabled_at             TIMESTAMPTZ,
    disabled_reason         TEXT,
    connection_test         TEXT NOT NULL CHECK (connection_test IN ('not_tested', 'passed', 'failed')),
    connection_tested_at    TIMESTAMPTZ,
    CHECK ((last_delivery_at IS NULL) = (last_delivery_succeeded IS NULL)),
    CHECK (failing_since IS NULL OR NOT last_delivery_succeeded),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CHECK ((connection_test = 'not_tested') = (connection_tested_at IS NULL))
) WITH (fillfactor = 50);

-- One row per order. It is the lock of the order's queues: held while a delivery is added, or while one ends that
-- others may wait behind.
CREATE TABLE order_streams (
    order_id      TEXT COLLATE "C" PRIMARY KEY,
    business_id   TEXT COLLATE "C" NOT NULL,
    -- The next sequence to release.
    next_sequence BIGINT NOT NULL CHECK (next_sequence >= 1)
) WITH (fillfactor = 70);

-- Events that are held back: they arrived before their predecessors.
CREATE TABLE parked_events (
    order_id    TEXT COLLATE "C" NOT NULL REFERENCES order_streams (order_id),
    sequence    BIGINT NOT NULL CHECK (sequence >= 1),
    event_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    business_id TEXT COLLATE "C" NOT NULL,
    envelope    JSON NOT NULL,
    traceparent TEXT,
    tracestate  TEXT,
    parked_at   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, sequence)
);
CREATE INDEX parked_events_by_age ON parked_events (parked_at);

-- Events of businesses with endpoints, with the bytes that are signed and sent at every attempt.
CREATE TABLE events (
    event_id        TEXT COLLATE "C" PRIMARY KEY,
    business_id     TEXT COLLATE "C" NOT NULL,
    order_id        TEXT COLLATE "C",
    sequence        BIGINT CHECK (sequence >= 1),
    kind            TEXT NOT NULL,
    mode            TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    order_reference TEXT,
    body            BYTEA NOT NULL,
    traceparent     TEXT,
    tracestate      TEXT,
    occurred_at     TIMESTAMPTZ NOT NULL,
    CHECK ((order_id IS NULL) = (sequence IS NULL))
);

-- One event for one endpoint. No foreign key to endpoints: every insertion would lock the endpoint's row. The sweeper
-- discards the deliveries of deleted endpoints.
CREATE TABLE deliveries (
    id              TEXT COLLATE "C" PRIMARY KEY,
    event_id        TEXT COLLATE "C" NOT NULL REFERENCES events (event_id),
    endpoint_id     TEXT COLLATE "C" NOT NULL,
    business_id     TEXT COLLATE "C" NOT NULL,
    order_id        TEXT COLLATE "C",
    sequence        BIGINT,
    kind            TEXT NOT NULL,
    -- Part of the queue of its endpoint and order. False for events without an order, and for redeliveries.
    in_turn         BOOLEAN NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'discarded')),
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    -- The attempts before the latest start of the retry schedule. Not 0 after a redelivery.
    earlier_attempts INTEGER NOT NULL CHECK (earlier_attempts BETWEEN 0 AND attempts),
    -- When a sender may claim it: the time of the next attempt or, during a lease, the end of the lease. NULL while it
    -- waits behind an earlier delivery, and when completed.
    due_at          TIMESTAMPTZ,
    -- Written by the claim. Only the holder of the token may record the outcome (fencing).
    lease_token     BIGINT,
    last_error      TEXT,
    created_at      TIMESTAMPTZ NOT NULL,
    completed_at    TIMESTAMPTZ,
    UNIQUE (event_id, endpoint_id),
    CHECK (NOT in_turn OR (order_id IS NOT NULL AND sequence IS NOT NULL)),
    CHECK (due_at IS NULL OR state = 'pending'),
    CHECK (due_at IS NOT NULL OR state <> 'pending' OR in_turn),
    CHECK (lease_token IS NULL OR due_at IS NOT NULL),
    CHECK ((state = 'pending') = (completed_at IS NULL))
) WITH (fillfactor = 70);
-- For claims: endpoint by endpoint, oldest first. Contains only the heads of queues.
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL;
-- For the next delivery in the queue of an endpoint and order.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, order_id, sequence) WHERE state = 'pending';
-- For the log of an endpoint, newest first. Begins with the business: otherwise the planner could use it instead of
-- deliveries_due and scan all old deliveries.
CREATE INDEX deliveries_log ON deliveries (business_id, endpoint_id, id);

-- One HTTP request. No foreign key: old attempts are dropped by time.
CREATE TABLE attempts (
    delivery_id      TEXT COLLATE "C" NOT NULL,
    number           INTEGER NOT NULL CHECK (number >= 1),
    business_id      TEXT COLLATE "C" NOT NULL,
    started_at       TIMESTAMPTZ NOT NULL,
    duration_ms      BIGINT NOT NULL CHECK (duration_ms >= 0),
    response_status  INTEGER CHECK (response_status BETWEEN 100 AND 999),
    succeeded        BOOLEAN NOT NULL,
    error            TEXT,
    request_headers  JSON NOT NULL,
    response_headers JSON NOT NULL,
    response_body    TEXT,
    PRIMARY KEY (delivery_id, number),
    CHECK (succeeded = (error IS NULL))
);
