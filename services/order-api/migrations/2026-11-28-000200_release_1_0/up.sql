-- Keys contain the business, by which PostgreSQL could partition. It is the last column,
-- so that the same index finds an order by id alone (for the fleet, the reconciliation of the wallet and the search of
-- operators), and grows at its end.

-- One row per order. Only the code that places an order reads rows that are not 'placed'.
CREATE TABLE orders (
    id                      TEXT COLLATE "C" NOT NULL,
    business_id             TEXT COLLATE "C" NOT NULL,
    mode                    TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    placement               TEXT NOT NULL CHECK (placement IN ('pending_payment', 'placed', 'released')),
    pending_since           TIMESTAMPTZ,
    -- Counts the payment attempts. (id, attempt) identifies a debit.
    attempt                 INTEGER NOT NULL CHECK (attempt >= 1),
    order_reference         TEXT NOT NULL,
    idempotency_key         TEXT NOT NULL,
    -- SHA-256 of the request body as canonical JSON. 32 zero bytes once the personal data is erased.
    fingerprint             BYTEA NOT NULL CHECK (octet_length(fingerprint) = 32),
    -- The hash of the normalized body, bound to the fingerprint: it no longer matches when another release changes the
    -- fingerprint. NULL once the personal data is erased.
    meaning                 BYTEA,
    -- The request that created the order, and its API key.
    request_id              TEXT COLLATE "C" NOT NULL,
    key_id                  TEXT COLLATE "C" NOT NULL,
    tracking_code           TEXT COLLATE "C" NOT NULL,
    order_source            TEXT NOT NULL,
    status                  TEXT NOT NULL CHECK (status IN
        ('created', 'driver_assigned', 'picked_up', 'out_for_delivery', 'delivered', 'failed', 'cancelled', 'returned')),
    cod_status              TEXT NOT NULL CHECK (cod_status IN
        ('not_applicable', 'pending', 'collected', 'handed_over', 'settled')),
    picked_up               BOOLEAN NOT NULL DEFAULT FALSE,
    payment_type            TEXT NOT NULL CHECK (payment_type IN ('cod', 'prepaid')),
    delivery_fee_paise      BIGINT NOT NULL CHECK (delivery_fee_paise > 0),
    cod_amount_paise        BIGINT NOT NULL CHECK (cod_amount_paise >= 0),
    -- The cash that the fleet reported at each step.
    cod_collected_paise     BIGINT,
    cod_handed_over_paise   BIGINT,
    cod_settled_paise       BIGINT,
    -- Customer, addresses, package, payment and notes: all personal data of the request.
    details                 JSONB NOT NULL,
    -- The body of the 201, so that a replay is byte-identical.
    receipt                 BYTEA NOT NULL,
    -- The number of the last event: events are numbered from 1 without gaps.
    sequence                BIGINT NOT NULL CHECK (sequence >= 0),
    driver                  JSONB,
    reason                  TEXT,
    created_at              TIMESTAMPTZ NOT NULL,
    updated_at              TIMESTAMPTZ NOT NULL,
    -- The details keep amounts, measures and PIN codes, and the events keep the cash.
    personal_data_erased_at TIMESTAMPTZ,
    CONSTRAINT orders_wait_while_pending CHECK ((placement = 'pending_payment') = (pending_since IS NOT NULL)),
    CONSTRAINT orders_test_is_placed CHECK (mode = 'live' OR placement = 'placed'),
    CONSTRAINT orders_placed_has_events CHECK ((placement = 'placed') = (sequence > 0)),
    CONSTRAINT orders_test_has_no_driver CHECK (mode = 'live' OR driver IS NULL)
);

-- References are stored as they were sent, and compared in Unicode's composed form: é is the same as e and an accent.
CREATE UNIQUE INDEX orders_reference_key ON orders (business_id, mode, normalize(order_reference));
-- A released order frees its key.
CREATE UNIQUE INDEX orders_idempotency_key ON orders (business_id, mode, idempotency_key) WHERE placement <> 'released';
CREATE UNIQUE INDEX orders_tracking_code_key ON orders (tracking_code);
-- For lists of a business, newest first: ids sort by time.
CREATE INDEX orders_of_business ON orders (business_id, mode, id DESC) WHERE placement = 'placed';
-- For the list of a business's changes after a time, which is sorted like this index.
CREATE INDEX orders_changed ON orders (business_id, mode, updated_at, id) WHERE placement = 'placed';
-- For the list of the fleet. A query for one status must not read the orders with other statuses.
CREATE INDEX orders_for_fleet ON orders (updated_at, id) WHERE mode = 'live' AND placement = 'placed';
CREATE INDEX orders_for_fleet_by_status ON orders (status, updated_at, id) WHERE mode = 'live' AND placement = 'placed';
-- For recovery. Nearly always empty.
CREATE INDEX orders_pending ON orders (pending_since) WHERE placement = 'pending_payment';
-- Orders of a business that were never placed: nearly none.
CREATE INDEX orders_released ON orders (business_id, id) WHERE placement = 'released';
-- For retention. A live order is added when it ends, so that placing it costs nothing. A test order is added
-- immediately, because most test orders never end.
CREATE INDEX orders_to_erase ON orders (updated_at, id)
    WHERE personal_data_erased_at IS NULL
    AND (status IN ('delivered', 'failed', 'cancelled', 'returned') OR placement = 'released' OR mode = 'test');
-- The last index: without statistics, PostgreSQL prefers the newest of indexes that seem equal.
ALTER TABLE orders ADD PRIMARY KEY (id, business_id);

-- The timeline: one row per event of an order. A foreign key would lock the row of the order again for each event. The
-- transaction that adds an event has locked or inserted that row already.
CREATE TABLE order_events (
    order_id                TEXT COLLATE "C" NOT NULL,
    sequence                BIGINT NOT NULL CHECK (sequence >= 1),
    event_id                TEXT COLLATE "C" NOT NULL,
    business_id             TEXT COLLATE "C" NOT NULL,
    kind                    TEXT NOT NULL,
    status                  TEXT NOT NULL,
    cod_status              TEXT NOT NULL,
    data                    JSONB NOT NULL,
    occurred_at             TIMESTAMPTZ NOT NULL,
    recorded_at             TIMESTAMPTZ NOT NULL,
    -- The position in the feed of the business: a time that is never before the start of the transaction that wrote the
    -- event, by the database's clock.
    feed_at                 TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    -- When personal data was removed from this event.
    personal_data_erased_at TIMESTAMPTZ,
    PRIMARY KEY (order_id, sequence, business_id)
);
-- For the events feed of a business, which is sorted like this index.
CREATE INDEX order_events_feed ON order_events (business_id, feed_at, order_id, sequence);
-- For one event of a business, and for a position that is given as an event's id.
CREATE INDEX order_events_by_id ON order_events (business_id, event_id);

-- The event ids of the fleet, so that a repeated report changes nothing. They are unique across businesses.
CREATE TABLE fleet_reports (
    order_id    TEXT COLLATE "C" NOT NULL,
    event_id    TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL CHECK (octet_length(fingerprint) = 32),
    recorded_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, event_id, business_id),
    CONSTRAINT fleet_reports_order_fkey FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id)
);
CREATE UNIQUE INDEX fleet_reports_event_id ON fleet_reports (event_id);

-- Simulated deliveries of test orders. Each step schedules the next one in its transaction, so that a run continues
-- after a restart. The last step deletes the row.
CREATE TABLE simulations (
    order_id    TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    scenario    TEXT NOT NULL CHECK (scenario IN ('delivered', 'failed', 'cancelled', 'no_driver')),
    steps_done  INTEGER NOT NULL CHECK (steps_done >= 0),
    next_at     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, business_id),
    CONSTRAINT simulations_order_fkey FOREIGN KEY (order_id, business_id) REFERENCES orders (id, business_id)
);
CREATE INDEX simulations_due ON simulations (next_at);

-- Businesses with a test order. The first one is announced.
CREATE TABLE testers (
    business_id TEXT COLLATE "C" PRIMARY KEY
);

-- The retries that a business tests with its Test keys, for the portal's advice.
CREATE TABLE retry_tests (
    business_id        TEXT COLLATE "C" PRIMARY KEY,
    -- The latest request that failed. An order with this Idempotency-Key proves its retry; a hash of the key would find
    -- no index of orders.
    failed_key         TEXT,
    failed_request_id  TEXT COLLATE "C",
    failed_at          TIMESTAMPTZ,
    -- The first replay, and the request that placed its order.
    placing_request_id TEXT COLLATE "C",
    replay_request_id  TEXT COLLATE "C",
    replayed_at        TIMESTAMPTZ
);

-- The latest request of each business to erase all its completed orders. The lock of the row is the lease of the
-- worker. A batch of orders commits with its progress.
CREATE TABLE erasures (
    business_id   TEXT COLLATE "C" PRIMARY KEY,
    requested_at  TIMESTAMPTZ NOT NULL,
    -- The last processed order.
    after_id      TEXT COLLATE "C" NOT NULL,
    erased        BIGINT NOT NULL CHECK (erased >= 0),
    not_completed BIGINT NOT NULL CHECK (not_completed >= 0),
    completed_at  TIMESTAMPTZ
);
CREATE INDEX erasures_running ON erasures (requested_at) WHERE completed_at IS NULL;
