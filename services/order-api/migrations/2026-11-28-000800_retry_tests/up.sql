-- The retries that a business tests with its Test keys, for the portal's advice: one row per business.
CREATE TABLE retry_tests (
    business_id        TEXT COLLATE "C" PRIMARY KEY,
    -- The latest request that failed. An order with this Idempotency-Key proves its retry.
    failed_key         TEXT,
    failed_request_id  TEXT COLLATE "C",
    failed_at          TIMESTAMPTZ,
    -- The first replay, and the request that placed its order, unless an earlier release placed it.
    placing_request_id TEXT COLLATE "C",
    replay_request_id  TEXT COLLATE "C",
    replayed_at        TIMESTAMPTZ
);

-- contract: since release 3
-- Nobody runs a release that uses them.
DROP TABLE failed_test_requests;
DROP TABLE retry_proofs;
