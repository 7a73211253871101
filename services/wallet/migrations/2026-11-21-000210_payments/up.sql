-- Top-ups that a payment provider confirms later, repeated requests of top-ups, and filtered statements.

ALTER TABLE top_ups
    -- The caller's idempotency key: a repeated request does not pay twice.
    ADD COLUMN idempotency_key TEXT COLLATE "C",
    -- The provider's id of the credited payment.
    ADD COLUMN payment_reference TEXT,
    -- The next query about a pending top-up. Instances of the previous version use the default.
    ADD COLUMN next_check_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    DROP CONSTRAINT top_ups_provider_check,
    ADD CONSTRAINT top_ups_provider_check CHECK (provider IN ('sandbox', 'razorpay'));
CREATE UNIQUE INDEX top_ups_idempotency_key ON top_ups (business_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX top_ups_to_check ON top_ups (next_check_at) WHERE status = 'pending';
-- A payment is credited once, even if it is reported for several top-ups.
CREATE UNIQUE INDEX top_ups_payment_reference ON top_ups (provider, payment_reference)
    WHERE payment_reference IS NOT NULL;

-- Notices of the provider about our top-ups with their outcome, each stored once.
CREATE TABLE payment_notices (
    provider TEXT NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    top_up_id TEXT COLLATE "C" NOT NULL REFERENCES top_ups,
    kind TEXT NOT NULL,
    payment_reference TEXT,
    outcome TEXT NOT NULL CHECK (outcome IN ('credited', 'settled_before', 'noted', 'mismatch')),
    received_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (provider, event_id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_notices EXECUTE FUNCTION refuse_change();
CREATE INDEX payment_notices_of_a_top_up ON payment_notices (top_up_id);

-- Top-ups, credits and refunds are rare compared with fees. A statement of them does not have to read all fees.
CREATE INDEX transfers_beside_fees ON transfers (business_id, kind) WHERE kind <> 'delivery_fee';
