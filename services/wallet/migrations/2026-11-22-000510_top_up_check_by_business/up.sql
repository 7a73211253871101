-- The same rule, which also works if transfers are partitioned by business: the table of the trigger is then a partition of
-- transfers with its own name, and the query reads only that partition.
CREATE OR REPLACE FUNCTION check_top_up() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    booked TEXT;
BEGIN
    IF TG_TABLE_NAME = 'top_ups' THEN
        booked := NEW.transfer_id;
    ELSE
        booked := NEW.id;
    END IF;
    IF NOT EXISTS (
        SELECT
        FROM transfers AS transfer
        JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.business_id = transfer.business_id
            AND entry.account = 'business_wallet'
        JOIN top_ups AS top_up ON top_up.id = transfer.reference
        WHERE transfer.id = booked AND transfer.business_id = NEW.business_id AND transfer.kind = 'top_up'
            AND (top_up.transfer_id, top_up.business_id, top_up.amount_paise)
                IS NOT DISTINCT FROM (transfer.id, transfer.business_id, entry.amount_paise)
            AND (TG_TABLE_NAME <> 'top_ups' OR top_up.id = NEW.id)
    ) THEN
        RAISE EXCEPTION 'a top-up and its transfer do not agree'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'top_ups_agree_with_transfers', TABLE = 'top_ups';
    END IF;
    RETURN NULL;
END $$;
