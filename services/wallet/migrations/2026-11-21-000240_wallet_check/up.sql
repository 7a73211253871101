-- The same check in two look-ups, each with all that its index needs known beforehand. As one query it was planned as a join,
-- and where the tables were small at that moment, the plan that was kept read all entries of a business at each change.
--
-- A wallet stands where its newest entry says: there is none after its last, and before the first it holds nothing.
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
