DROP TABLE retry_tests;
-- Failed requests with Test keys, kept for a day, to detect successful retries.
CREATE TABLE failed_test_requests (
    business_id TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the Idempotency-Key: content of failed requests is not stored.
    key_hash    BYTEA NOT NULL CHECK (octet_length(key_hash) = 32),
    request_id  TEXT COLLATE "C" NOT NULL,
    failed_at   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, key_hash)
);
CREATE INDEX failed_test_requests_by_time ON failed_test_requests (failed_at);

-- Proofs of retries: one row per business and kind, written once.
CREATE TABLE retry_proofs (
    business_id      TEXT COLLATE "C" NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('duplicate', 'failure')),
    -- Unknown for older orders.
    first_request_id TEXT COLLATE "C",
    request_id       TEXT COLLATE "C" NOT NULL,
    proved_at        TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, kind)
);
