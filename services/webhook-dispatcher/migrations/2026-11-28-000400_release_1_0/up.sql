-- Keys contain the business: PostgreSQL could partition growing tables by it. It is the last
-- column, so the index also finds a row by its id alone, for senders, which serve all businesses.

-- Endpoints as their owners configure them. Senders update endpoint_health all the time, so it is a table of its own.
CREATE TABLE endpoints (
    id                     TEXT COLLATE "C" NOT NULL,
    business_id            TEXT COLLATE "C" NOT NULL,
    url                    TEXT NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
    events                 TEXT[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 50),
    modes                  TEXT[] NOT NULL
        CHECK (cardinality(modes) BETWEEN 1 AND 2 AND modes <@ ARRAY['test', 'live']),
    -- By the owner.
    paused                 BOOLEAN NOT NULL,
    -- The owner's rate limit; the operator's applies if NULL.
    max_per_second         INTEGER CHECK (max_per_second BETWEEN 1 AND 1000),
    -- AES-256-GCM, with the endpoint's id as associated data.
    secret_ciphertext      BYTEA NOT NULL,
    -- Identifies the encryption key.
    secret_key_id          TEXT NOT NULL,
    -- The staged secret of a rotation. It signs alongside the current one until its time comes or the owner activates it.
    next_secret_ciphertext BYTEA,
    next_secret_key_id     TEXT,
    -- From then on it is the current secret. Signing uses this time; a worker only updates the row later.
    next_secret_from       TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL,
    updated_at             TIMESTAMPTZ NOT NULL,
    deleted_at             TIMESTAMPTZ,
    PRIMARY KEY (id, business_id),
    CONSTRAINT endpoints_next_secret_is_whole CHECK (
        (next_secret_from IS NULL) = (next_secret_ciphertext IS NULL)
        AND (next_secret_from IS NULL) = (next_secret_key_id IS NULL)
    )
);
CREATE INDEX endpoints_of_business ON endpoints (business_id, id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_deleted ON endpoints (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX endpoints_rotating ON endpoints (next_secret_from) WHERE next_secret_from IS NOT NULL;

-- The health of endpoints.
CREATE TABLE endpoint_health (
    endpoint_id             TEXT COLLATE "C" NOT NULL,
    business_id             TEXT COLLATE "C" NOT NULL,
    last_delivery_at        TIMESTAMPTZ,
    last_delivery_succeeded BOOLEAN,
    last_success_at         TIMESTAMPTZ,
    -- Since when every attempt has failed.
    failing_since           TIMESTAMPTZ,
    -- By the service, for instance after a response 410.
    disabled_at             TIMESTAMPTZ,
    disabled_reason         TEXT,
    -- The owner's decision on the deliveries that were parked while the endpoint was disabled.
    parked_fate             TEXT CHECK (parked_fate IN ('replay', 'discard')),
    -- The circuit breaker. It is open until `tripped_until`, and half open afterwards: one webhook at a time.
    failures_in_a_row       INTEGER NOT NULL DEFAULT 0 CHECK (failures_in_a_row >= 0),
    trips                   INTEGER NOT NULL DEFAULT 0 CHECK (trips >= 0),
    tripped_until           TIMESTAMPTZ,
    connection_test         TEXT NOT NULL CHECK (connection_test IN ('not_tested', 'passed', 'failed')),
    connection_tested_at    TIMESTAMPTZ,
    -- The result of the forgery test that follows a connection test: whether the receiver refused the wrong signature (NULL
    -- if inconclusive), and the events of both. It is not a delivery and not in the log.
    test_event_id           TEXT COLLATE "C",
    forged_event_id         TEXT COLLATE "C",
    forged_refused          BOOLEAN,
    forged_at               TIMESTAMPTZ,
    PRIMARY KEY (endpoint_id, business_id),
    CONSTRAINT endpoint_health_endpoint_fkey
        FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id),
    CONSTRAINT endpoint_health_last_delivery_is_whole
        CHECK ((last_delivery_at IS NULL) = (last_delivery_succeeded IS NULL)),
    CONSTRAINT endpoint_health_failing_after_failure CHECK (failing_since IS NULL OR NOT last_delivery_succeeded),
    CONSTRAINT endpoint_health_disabled_for_a_reason CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CONSTRAINT endpoint_health_test_is_whole
        CHECK ((connection_test = 'not_tested') = (connection_tested_at IS NULL))
) WITH (fillfactor = 50);
-- Failing endpoints, for warnings to their owners; successful ones, for events that block their order.
CREATE INDEX endpoint_health_failing ON endpoint_health (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX endpoint_health_disabled ON endpoint_health (endpoint_id) WHERE disabled_at IS NOT NULL;
CREATE INDEX endpoint_health_fate ON endpoint_health (endpoint_id) WHERE parked_fate IS NOT NULL;

-- Warnings to the owners of endpoints that only fail.
CREATE TABLE endpoint_notices (
    endpoint_id   TEXT COLLATE "C" NOT NULL,
    business_id   TEXT COLLATE "C" NOT NULL,
    failing_since TIMESTAMPTZ NOT NULL,
    percent       INTEGER NOT NULL CHECK (percent IN (50, 80, 100)),
    told_at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (endpoint_id, failing_since, percent, business_id),
    CONSTRAINT endpoint_notices_endpoint_fkey
        FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id)
);

-- One row per order. It is the lock of the order's queues: held while a delivery is added, or while one ends that
-- others may wait behind.
CREATE TABLE order_streams (
    order_id                TEXT COLLATE "C" NOT NULL,
    business_id             TEXT COLLATE "C" NOT NULL,
    -- The next sequence to release.
    next_sequence           BIGINT NOT NULL CHECK (next_sequence >= 1),
    -- When the personal data of the order was erased. Later events are erased on arrival.
    personal_data_erased_at TIMESTAMPTZ,
    PRIMARY KEY (order_id, business_id)
) WITH (fillfactor = 70);
-- An order belongs to one business. This constraint detects events of another business.
CREATE UNIQUE INDEX order_streams_order_id ON order_streams (order_id);

-- Events that arrived before their predecessors, and are held back until those arrive.
CREATE TABLE held_back_events (
    order_id     TEXT COLLATE "C" NOT NULL,
    sequence     BIGINT NOT NULL CHECK (sequence >= 1),
    event_id     TEXT COLLATE "C" NOT NULL,
    business_id  TEXT COLLATE "C" NOT NULL,
    envelope     JSON NOT NULL,
    traceparent  TEXT,
    tracestate   TEXT,
    held_back_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, sequence, business_id),
    CONSTRAINT held_back_events_once UNIQUE (event_id, business_id),
    CONSTRAINT held_back_events_order_fkey
        FOREIGN KEY (order_id, business_id) REFERENCES order_streams (order_id, business_id)
);
CREATE INDEX held_back_events_by_age ON held_back_events (held_back_at);

-- Events of businesses with endpoints, with the bytes that are signed and sent at every attempt.
CREATE TABLE events (
    event_id        TEXT COLLATE "C" NOT NULL,
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
    PRIMARY KEY (event_id, business_id),
    CONSTRAINT events_of_order_are_numbered CHECK ((order_id IS NULL) = (sequence IS NULL))
);
-- Finds the events of an order, and through them their deliveries. An index on deliveries would have one entry per
-- endpoint.
CREATE INDEX events_of_order ON events (order_id) WHERE order_id IS NOT NULL;
-- The log by order reference, the most common filter.
CREATE INDEX events_by_reference ON events (business_id, order_reference) WHERE order_reference IS NOT NULL;
-- Finds missed events among those of one business. The collation must be named in queries: otherwise plans made for the
-- empty table could use this index instead of the key.
CREATE INDEX events_of_business ON events (business_id COLLATE "POSIX", event_id COLLATE "POSIX");

-- One event for one endpoint. No foreign key to endpoints: every insertion would lock the endpoint's row. The sweeper
-- discards the deliveries of deleted endpoints. None to events: a delivery is stored in the transaction that finds or
-- stores its event, and events are deleted after their deliveries. Checking that again cost a quarter of the insert.
CREATE TABLE deliveries (
    id               TEXT COLLATE "C" NOT NULL,
    event_id         TEXT COLLATE "C" NOT NULL,
    endpoint_id      TEXT COLLATE "C" NOT NULL,
    business_id      TEXT COLLATE "C" NOT NULL,
    order_id         TEXT COLLATE "C",
    sequence         BIGINT,
    kind             TEXT NOT NULL,
    -- The event's. Claims for test mode and for live mode do not wait for each other.
    mode             TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    -- Part of the queue of its endpoint and order. False for events without an order, and for redeliveries.
    in_turn          BOOLEAN NOT NULL,
    -- Parked: pending while its endpoint was disabled.
    state            TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'discarded', 'parked')),
    attempts         INTEGER NOT NULL CHECK (attempts >= 0),
    -- The attempts before the latest start of the retry schedule. Not 0 after a redelivery.
    earlier_attempts INTEGER NOT NULL,
    -- The time of the next attempt. NULL while it waits behind an earlier delivery, and when completed.
    due_at           TIMESTAMPTZ,
    -- Written by the claim. Only the holder of the token may record the outcome (fencing).
    lease_token      BIGINT,
    -- Without an index, so claims update no index.
    lease_until      TIMESTAMPTZ,
    -- Who asked for an attempt that has not begun: a redelivery wants it in any case, a recovery unless the attempt in
    -- flight succeeds. The next claim clears it.
    requested_by     TEXT CHECK (requested_by IN ('redelivery', 'recovery')),
    first_failed_at  TIMESTAMPTZ,
    last_failed_at   TIMESTAMPTZ,
    -- The endpoint accepted other webhooks between the first failure and the latest: it refuses this event.
    endpoint_was_up  BOOLEAN NOT NULL DEFAULT false,
    -- When it was skipped: later events of its order no longer wait for it.
    skipped_at       TIMESTAMPTZ,
    -- The response status of the latest attempt, for the log: 0 if no response arrived. NULL before the first attempt.
    -- Without an index, because the log's filter reads a window.
    last_status      INTEGER CHECK (last_status = 0 OR last_status BETWEEN 100 AND 999),
    last_error       TEXT,
    created_at       TIMESTAMPTZ NOT NULL,
    completed_at     TIMESTAMPTZ,
    PRIMARY KEY (id, business_id),
    CONSTRAINT deliveries_once UNIQUE (event_id, endpoint_id, business_id),
    CONSTRAINT deliveries_earlier_attempts CHECK (earlier_attempts BETWEEN 0 AND attempts),
    CONSTRAINT deliveries_in_turn_have_an_order CHECK (NOT in_turn OR (order_id IS NOT NULL AND sequence IS NOT NULL)),
    CONSTRAINT deliveries_due_are_pending CHECK (due_at IS NULL OR state = 'pending'),
    CONSTRAINT deliveries_pending_are_due_or_in_turn CHECK (due_at IS NOT NULL OR state <> 'pending' OR in_turn),
    CONSTRAINT deliveries_leased_are_due CHECK (lease_token IS NULL OR due_at IS NOT NULL),
    CONSTRAINT deliveries_lease_has_a_token CHECK (lease_until IS NULL OR lease_token IS NOT NULL),
    CONSTRAINT deliveries_complete_once CHECK ((state IN ('pending', 'parked')) = (completed_at IS NULL))
) WITH (fillfactor = 70);
-- For claims: endpoint by endpoint, of one mode, oldest first. Contains only the heads of queues.
CREATE INDEX deliveries_due ON deliveries (endpoint_id, mode, due_at, id) WHERE due_at IS NOT NULL;
-- For the next delivery in the queue of an endpoint and order.
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, order_id, sequence) WHERE state = 'pending';
-- Events that may block their order.
CREATE INDEX deliveries_stuck ON deliveries (endpoint_id, first_failed_at)
    WHERE state = 'pending' AND in_turn AND first_failed_at IS NOT NULL;
CREATE INDEX deliveries_parked ON deliveries (endpoint_id, id) WHERE state = 'parked';
-- Finds parked deliveries of an endpoint and order: later events wait behind them.
CREATE INDEX deliveries_parked_of_order ON deliveries (endpoint_id, order_id, sequence)
    WHERE state = 'parked' AND in_turn;
-- For the log of an endpoint, newest first. Begins with the business: otherwise the planner could use it instead of
-- deliveries_due and scan all old deliveries.
CREATE INDEX deliveries_log ON deliveries (business_id, endpoint_id, id);
-- Unsuccessful deliveries, for the log and for recoveries. Few, and free of cost for successful ones.
CREATE INDEX deliveries_unsuccessful ON deliveries (business_id, endpoint_id, id) WHERE state IN ('failed', 'discarded');

-- One HTTP request, in daily partitions (UTC): old ones are dropped instead of deleted row by row. A worker creates the
-- days ahead, named like attempts_20260131. No foreign key, because attempts are dropped by time.
CREATE TABLE attempts (
    delivery_id      TEXT COLLATE "C" NOT NULL,
    number           INTEGER NOT NULL CHECK (number >= 1),
    business_id      TEXT COLLATE "C" NOT NULL,
    started_at       TIMESTAMPTZ NOT NULL,
    duration_ms      BIGINT NOT NULL CHECK (duration_ms >= 0),
    -- The endpoint's may have changed since.
    url              TEXT,
    response_status  INTEGER CHECK (response_status BETWEEN 100 AND 999),
    succeeded        BOOLEAN NOT NULL,
    error            TEXT,
    request_headers  JSON NOT NULL,
    response_headers JSON NOT NULL,
    response_body    TEXT,
    PRIMARY KEY (delivery_id, number, started_at, business_id),
    CONSTRAINT attempts_fail_with_an_error CHECK (succeeded = (error IS NULL))
) PARTITION BY RANGE (started_at);
-- For attempts without a partition: reported and moved later. Otherwise their outcomes could not be recorded.
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;

-- Recoveries send missed webhooks of a period again. The row's lock is the worker's lease: a batch and its progress
-- commit together.
CREATE TABLE recoveries (
    id          TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    since       TIMESTAMPTZ NOT NULL,
    until       TIMESTAMPTZ NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled')),
    -- In deliveries.
    total       BIGINT NOT NULL CHECK (total >= 0),
    done        BIGINT NOT NULL CHECK (done >= 0),
    -- The last delivery that was counted. NULL if all are counted.
    counted_id  TEXT COLLATE "C",
    -- The last event that was scanned for later subscriptions of the endpoint. NULL if all are scanned.
    scanned_id  TEXT COLLATE "C",
    -- The last delivery that was sent again.
    after_id    TEXT COLLATE "C" NOT NULL,
    -- When a worker continues.
    due_at      TIMESTAMPTZ,
    created_at  TIMESTAMPTZ NOT NULL,
    ended_at    TIMESTAMPTZ,
    PRIMARY KEY (id, business_id),
    CONSTRAINT recoveries_endpoint_fkey
        FOREIGN KEY (endpoint_id, business_id) REFERENCES endpoints (id, business_id),
    CONSTRAINT recoveries_of_a_period CHECK (since < until),
    CONSTRAINT recoveries_running_are_due CHECK ((state = 'running') = (due_at IS NOT NULL)),
    CONSTRAINT recoveries_end_once CHECK ((state = 'running') = (ended_at IS NULL))
);
-- One at a time per endpoint.
CREATE UNIQUE INDEX recoveries_one_running ON recoveries (endpoint_id, business_id) WHERE state = 'running';
CREATE INDEX recoveries_due ON recoveries (due_at) WHERE state = 'running';
CREATE INDEX recoveries_of_endpoint ON recoveries (business_id, endpoint_id, id);

-- The running instances of the service. Each endpoint prefers one of them.
CREATE TABLE dispatchers (
    id          BIGINT PRIMARY KEY,
    alive_until TIMESTAMPTZ NOT NULL,
    -- A new instance counts when no other one can still believe that it does not exist.
    counts_from TIMESTAMPTZ NOT NULL
);
