-- One row per order. Only the code that places an order reads rows that are not 'placed'.
CREATE TABLE orders (
    id                 TEXT COLLATE "C" PRIMARY KEY,
    business_id        TEXT COLLATE "C" NOT NULL,
    mode               TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    placement          TEXT NOT NULL CHECK (placement IN ('pending_payment', 'placed', 'released')),
    -- Counts the payment attempts. (id, attempt) identifies a debit.
    attempt            INTEGER NOT NULL CHECK (attempt >= 1),
    order_reference    TEXT NOT NULL,
    idempotency_key    TEXT NOT NULL,
    -- SHA-256 of the request body as canonical JSON.
    fingerprint        BYTEA NOT NULL CHECK (octet_length(fingerprint) = 32),
    tracking_code      TEXT COLLATE "C" NOT NULL,
    order_source       TEXT NOT NULL,
    status             TEXT NOT NULL CHECK (status IN
        ('created', 'driver_assigned', 'picked_up', 'out_for_delivery', 'delivered', 'failed', 'cancelled', 'returned')),
    cod_status         TEXT NOT NULL CHECK (cod_status IN
        ('not_applicable', 'pending', 'collected', 'handed_over', 'settled')),
    picked_up          BOOLEAN NOT NULL DEFAULT FALSE,
    payment_type       TEXT NOT NULL CHECK (payment_type IN ('cod', 'prepaid')),
    delivery_fee_paise BIGINT NOT NULL CHECK (delivery_fee_paise > 0),
    cod_amount_paise   BIGINT NOT NULL CHECK (cod_amount_paise >= 0),
    -- Customer, addresses, package, payment and notes: all personal data of the request.
    details            JSONB NOT NULL,
    -- The body of the 201, so that a replay is byte-identical.
    receipt            BYTEA NOT NULL,
    -- The number of the last event: events are numbered from 1 without gaps.
    sequence           BIGINT NOT NULL CHECK (sequence >= 0),
    driver             JSONB,
    reason             TEXT,
    cod_reported_paise BIGINT,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    pending_since      TIMESTAMPTZ,
    CHECK ((placement = 'pending_payment') = (pending_since IS NOT NULL)),
    CHECK (mode = 'live' OR placement = 'placed'),
    CHECK ((placement = 'placed') = (sequence > 0)),
    CHECK (mode = 'live' OR driver IS NULL)
);

CREATE UNIQUE INDEX orders_reference_key ON orders (business_id, mode, order_reference);
-- A released order frees its key.
CREATE UNIQUE INDEX orders_idempotency_key ON orders (business_id, mode, idempotency_key) WHERE placement <> 'released';
CREATE UNIQUE INDEX orders_tracking_code_key ON orders (tracking_code);
-- For lists of a business, newest first: ids sort by time.
CREATE INDEX orders_of_business ON orders (business_id, mode, id DESC) WHERE placement = 'placed';
-- For the list of the fleet.
CREATE INDEX orders_for_fleet ON orders (updated_at, id) WHERE mode = 'live' AND placement = 'placed';
-- For recovery. Nearly always empty.
CREATE INDEX orders_pending ON orders (pending_since) WHERE placement = 'pending_payment';

-- The timeline: one row per event of an order.
CREATE TABLE order_events (
    order_id    TEXT COLLATE "C" NOT NULL REFERENCES orders (id),
    sequence    BIGINT NOT NULL CHECK (sequence >= 1),
    event_id    TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL,
    cod_status  TEXT NOT NULL,
    data        JSONB NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    recorded_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, sequence)
);

-- The event ids of the fleet, so that a repeated report changes nothing.
CREATE TABLE fleet_reports (
    event_id    TEXT COLLATE "C" PRIMARY KEY,
    order_id    TEXT COLLATE "C" NOT NULL REFERENCES orders (id),
    fingerprint BYTEA NOT NULL CHECK (octet_length(fingerprint) = 32),
    recorded_at TIMESTAMPTZ NOT NULL
);
