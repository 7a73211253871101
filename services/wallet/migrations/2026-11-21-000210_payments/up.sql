-- Top-ups that a payment provider confirms later, top-ups asked for twice, and statements that are filtered.

ALTER TABLE top_ups
    -- The caller's own name for the request, so that asking again does not pay again.
    ADD COLUMN idempotency_key TEXT COLLATE "C",
    -- The provider's own name for the payment that was credited.
    ADD COLUMN payment_reference TEXT,
    -- When the provider is asked next how a pending one stands. The default serves instances of the version before.
    ADD COLUMN next_check_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    DROP CONSTRAINT top_ups_provider_check,
    ADD CONSTRAINT top_ups_provider_check CHECK (provider IN ('sandbox', 'razorpay'));
CREATE UNIQUE INDEX top_ups_idempotency_key ON top_ups (business_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX top_ups_to_check ON top_ups (next_check_at) WHERE status = 'pending';
-- One payment is credited once, whatever it is said to be for.
CREATE UNIQUE INDEX top_ups_payment_reference ON top_ups (provider, payment_reference)
    WHERE payment_reference IS NOT NULL;

-- What the provider told of our top-ups, and what came of it; each of its events once.
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

-- Top-ups, credits and refunds are few beside fees; a statement of them alone does not read all the fees between.
CREATE INDEX transfers_beside_fees ON transfers (business_id, kind) WHERE kind <> 'delivery_fee';
