-- Requests with Test keys that failed, remembered for a day, so that it can be told whether one was retried with success.
CREATE TABLE failed_test_requests (
    business_id TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the Idempotency-Key: what does not become an order is not kept as it was sent.
    key_hash    BYTEA NOT NULL CHECK (octet_length(key_hash) = 32),
    request_id  TEXT COLLATE "C" NOT NULL,
    failed_at   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, key_hash)
);
CREATE INDEX failed_test_requests_by_time ON failed_test_requests (failed_at);

-- What was proved of a business's retries: one row of each kind, written once.
CREATE TABLE retry_proofs (
    business_id      TEXT COLLATE "C" NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('duplicate', 'failure')),
    -- Unknown of orders that were placed before it was kept.
    first_request_id TEXT COLLATE "C",
    request_id       TEXT COLLATE "C" NOT NULL,
    proved_at        TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, kind)
);
