-- If cash was booked, the checks below fail: the ledger never loses entries.
DROP TABLE cash;
DROP FUNCTION check_cash;

-- A transfer changes the wallet of its own business. Its entries are balanced, so its other entry fits too.
CREATE OR REPLACE FUNCTION check_transfers() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM new_transfers AS transfer
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = 'business_wallet'
        WHERE entry.business_id IS DISTINCT FROM transfer.business_id
            OR (entry.amount_paise < 0) <> (transfer.kind = 'delivery_fee')
    ) THEN
        RAISE EXCEPTION 'a transfer has no fitting entry in its wallet'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_have_entries', TABLE = 'transfers';
    END IF;
    RETURN NULL;
END $$;

DROP INDEX transfers_one_of_each_cash_step;
ALTER TABLE entries
    DROP CONSTRAINT entries_account_check,
    ADD CONSTRAINT entries_account_check CHECK (account IN
        ('business_wallet', 'fee_income', 'refunds', 'top_up_clearing', 'operator_credits'));
ALTER TABLE transfers
    DROP CONSTRAINT transfers_kind_check,
    ADD CONSTRAINT transfers_kind_check CHECK (kind IN ('delivery_fee', 'refund', 'top_up', 'operator_credit')),
    DROP CONSTRAINT transfers_name_their_cause,
    ADD CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit'))
        AND (reverses IS NOT NULL) = (kind = 'refund')
    );
