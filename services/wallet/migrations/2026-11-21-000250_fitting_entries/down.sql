DROP TRIGGER check_top_up ON top_ups;
DROP TRIGGER check_top_up ON transfers;
DROP FUNCTION check_top_up;

CREATE OR REPLACE FUNCTION check_entries() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (SELECT FROM new_entries GROUP BY transfer_id HAVING sum(amount_paise) <> 0) THEN
        RAISE EXCEPTION 'the entries of a transfer do not sum to zero'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'entries_sum_to_zero', TABLE = 'entries';
    END IF;
    IF EXISTS (
        SELECT
        FROM new_entries AS entry
        LEFT JOIN entries AS previous
            ON previous.business_id = entry.business_id AND previous.sequence = entry.sequence - 1
        WHERE entry.sequence IS NOT NULL
            AND ((previous.sequence IS NULL AND entry.sequence <> 1)
                OR entry.balance_after_paise <> coalesce(previous.balance_after_paise, 0) + entry.amount_paise)
    ) THEN
        RAISE EXCEPTION 'a wallet entry does not follow from the one before it'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'entries_follow_each_other', TABLE = 'entries';
    END IF;
    IF EXISTS (
        SELECT
        FROM (
            SELECT DISTINCT ON (business_id) business_id, sequence, balance_after_paise
            FROM new_entries
            WHERE sequence IS NOT NULL
            ORDER BY business_id, sequence DESC
        ) AS newest
        LEFT JOIN wallets ON wallets.business_id = newest.business_id
        WHERE (wallets.entry_count, wallets.balance_paise)
            IS DISTINCT FROM (newest.sequence, newest.balance_after_paise)
    ) THEN
        RAISE EXCEPTION 'a wallet does not stand where its newest entry says'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallets_agree_with_entries', TABLE = 'entries';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION check_transfers() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM new_transfers AS transfer
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = CASE transfer.kind
            WHEN 'cod_collected' THEN 'cod_payable'
            WHEN 'cod_handed_over' THEN 'cod_with_drivers'
            WHEN 'cod_settled' THEN 'cod_with_operator'
            ELSE 'business_wallet' END
        WHERE entry.business_id IS DISTINCT FROM transfer.business_id
            OR (entry.amount_paise < 0) <> (transfer.kind = 'delivery_fee')
    ) THEN
        RAISE EXCEPTION 'a transfer has no fitting entry in its wallet'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_have_entries', TABLE = 'transfers';
    END IF;
    IF EXISTS (
        SELECT
        FROM new_transfers AS transfer
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = CASE transfer.kind
            WHEN 'cod_collected' THEN 'cod_with_drivers'
            WHEN 'cod_handed_over' THEN 'cod_with_operator'
            WHEN 'cod_settled' THEN 'cod_payable' END
        WHERE transfer.kind IN ('cod_collected', 'cod_handed_over', 'cod_settled')
            AND (entry.business_id, entry.amount_paise < 0) IS DISTINCT FROM (transfer.business_id, true)
    ) THEN
        RAISE EXCEPTION 'a transfer of cash has no fitting entry where the cash came from'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_have_entries', TABLE = 'transfers';
    END IF;
    RETURN NULL;
END $$;
