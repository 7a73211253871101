-- The same check as two queries, each with known values for its index. One query was planned as a join, and a plan that was
-- made while the tables were small read all entries of a business at each change.
--
-- A wallet equals its newest entry: no entry follows its last one, and before the first one its balance is 0.
CREATE OR REPLACE FUNCTION check_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    standing RECORD;
    newest RECORD;
BEGIN
    -- The row as it is at the end of the transaction, which may have changed it more than once.
    SELECT business_id, entry_count, balance_paise INTO standing
    FROM wallets WHERE business_id = NEW.business_id;
    SELECT sequence, balance_after_paise INTO newest
    FROM entries WHERE business_id = standing.business_id AND sequence >= standing.entry_count
    ORDER BY sequence DESC LIMIT 1;
    IF (coalesce(newest.sequence, 0), coalesce(newest.balance_after_paise, 0))
        IS DISTINCT FROM (standing.entry_count, standing.balance_paise)
    THEN
        RAISE EXCEPTION 'a wallet does not stand where its newest entry says'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallets_agree_with_entries', TABLE = 'wallets';
    END IF;
    RETURN NULL;
END $$;
