CREATE OR REPLACE FUNCTION check_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM wallets AS wallet
        LEFT JOIN entries AS newest
            ON newest.business_id = wallet.business_id AND newest.sequence = wallet.entry_count
        WHERE wallet.business_id = NEW.business_id
            AND ((coalesce(newest.sequence, 0), coalesce(newest.balance_after_paise, 0))
                    IS DISTINCT FROM (wallet.entry_count, wallet.balance_paise)
                OR EXISTS (
                    SELECT
                    FROM entries AS newer
                    WHERE newer.business_id = wallet.business_id AND newer.sequence = wallet.entry_count + 1
                ))
    ) THEN
        RAISE EXCEPTION 'a wallet does not stand where its newest entry says'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallets_agree_with_entries', TABLE = 'wallets';
    END IF;
    RETURN NULL;
END $$;
