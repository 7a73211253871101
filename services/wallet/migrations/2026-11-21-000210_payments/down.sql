DROP INDEX transfers_beside_fees;
DROP TABLE payment_notices;
DROP INDEX top_ups_payment_reference, top_ups_to_check, top_ups_idempotency_key;
ALTER TABLE top_ups
    DROP COLUMN next_check_at,
    DROP COLUMN payment_reference,
    DROP COLUMN idempotency_key,
    DROP CONSTRAINT top_ups_provider_check,
    ADD CONSTRAINT top_ups_provider_check CHECK (provider IN ('sandbox'));
