-- Restores the function of 2026-11-21-000250.
CREATE OR REPLACE FUNCTION check_top_up() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    booked TEXT;
BEGIN
    IF TG_TABLE_NAME = 'transfers' THEN
        booked := NEW.id;
    ELSE
        booked := NEW.transfer_id;
    END IF;
    IF NOT EXISTS (
        SELECT
        FROM transfers AS transfer
        JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = 'business_wallet'
        JOIN top_ups AS top_up ON top_up.id = transfer.reference
        WHERE transfer.id = booked AND transfer.kind = 'top_up'
            AND (top_up.transfer_id, top_up.business_id, top_up.amount_paise)
                IS NOT DISTINCT FROM (transfer.id, transfer.business_id, entry.amount_paise)
            AND (TG_TABLE_NAME = 'transfers' OR top_up.id = NEW.id)
    ) THEN
        RAISE EXCEPTION 'a top-up and its transfer do not agree'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'top_ups_agree_with_transfers', TABLE = 'top_ups';
    END IF;
    RETURN NULL;
END $$;
