-- The shop's own orders, each with the sync record of its one delivery.
CREATE TABLE orders (
    id                TEXT COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 128),
    -- The request body. Every attempt sends it unchanged.
    body              TEXT NOT NULL,
    confirmed_at      TIMESTAMPTZ NOT NULL,
    sync_status       TEXT NOT NULL CHECK (sync_status IN ('not_started', 'creating', 'created', 'failed')),
    attempts          INTEGER NOT NULL CHECK (attempts >= 0),
    last_attempt_at   TIMESTAMPTZ,
    -- The mode of the last attempt's API key.
    mode              TEXT CHECK (mode IN ('test', 'live')),
    sync_error        TEXT,
    service_order_id  TEXT,
    tracking_code     TEXT,
    tracking_url      TEXT,
    delivery_status   TEXT,
    cod_status        TEXT,
    last_sequence     BIGINT,

    CHECK ((sync_status = 'not_started') = (attempts = 0)),
    CHECK ((attempts = 0) = (last_attempt_at IS NULL)),
    CHECK ((attempts = 0) = (mode IS NULL)),
    CHECK (sync_status <> 'failed' OR sync_error IS NOT NULL),
    CHECK (sync_status <> 'created' OR sync_error IS NULL),
    -- Details of the delivery prevent a second creation. They are present exactly when the order is 'created'.
    CHECK (sync_status <> 'created' OR num_nulls(service_order_id, tracking_code, tracking_url, delivery_status) = 0),
    CHECK (sync_status = 'created' OR num_nonnulls(service_order_id, tracking_code, tracking_url, delivery_status) = 0)
);

CREATE INDEX orders_by_tracking_code ON orders (tracking_code) WHERE tracking_code IS NOT NULL;

-- Every verified webhook. It is stored before the response and processed afterwards.
CREATE TABLE webhooks (
    event_id         TEXT COLLATE "C" PRIMARY KEY,
    arrival          BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind             TEXT NOT NULL,
    sequence         BIGINT,
    mode             TEXT,
    order_reference  TEXT,
    tracking_code    TEXT,
    -- The signed bytes.
    body             BYTEA NOT NULL,
    headers          JSONB NOT NULL,
    received_at      TIMESTAMPTZ NOT NULL,
    times_received   INTEGER NOT NULL CHECK (times_received >= 1),
    processed_at     TIMESTAMPTZ,
    outcome          TEXT CHECK (outcome IN (
        'applied', 'unknown_kind', 'other_mode', 'unknown_order', 'stale_sequence', 'incomplete'
    )),

    CHECK ((processed_at IS NULL) = (outcome IS NULL))
);

CREATE INDEX webhooks_to_process ON webhooks (arrival) WHERE processed_at IS NULL;
