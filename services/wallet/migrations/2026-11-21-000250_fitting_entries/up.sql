-- A transfer has exactly the two entries of its kind, in the accounts of its own business, and no later ones. Refunds and
-- top-ups refer to existing rows.

-- As before, and an existing transfer accepts no further entries, which would be in another account. Entries that sum to
-- zero include a positive one, so checking those is enough: one query per transfer. (check_transfers checks the transfers of
-- the same statement.)
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
        JOIN transfers AS transfer ON transfer.id = entry.transfer_id
        WHERE entry.amount_paise > 0
            AND (entry.business_id <> transfer.business_id OR entry.account <> CASE transfer.kind
                WHEN 'delivery_fee' THEN 'fee_income'
                WHEN 'cod_collected' THEN 'cod_payable'
                WHEN 'cod_handed_over' THEN 'cod_with_drivers'
                WHEN 'cod_settled' THEN 'cod_with_operator'
                ELSE 'business_wallet' END)
    ) THEN
        RAISE EXCEPTION 'an entry is not of its transfer'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'entries_fit_their_transfer', TABLE = 'entries';
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

-- A transfer moves money from one account of its business to another, depending on its kind. Entries that all fit are exactly
-- these two, because each account occurs once and they sum to zero. A refund reverses the whole fee of its own order.
CREATE OR REPLACE FUNCTION check_transfers() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM new_transfers AS transfer
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id
        WHERE (entry.business_id = transfer.business_id AND entry.account = CASE WHEN entry.amount_paise > 0 THEN
                CASE transfer.kind
                    WHEN 'delivery_fee' THEN 'fee_income'
                    WHEN 'cod_collected' THEN 'cod_payable'
                    WHEN 'cod_handed_over' THEN 'cod_with_drivers'
                    WHEN 'cod_settled' THEN 'cod_with_operator'
                    ELSE 'business_wallet' END
            ELSE
                CASE transfer.kind
                    WHEN 'delivery_fee' THEN 'business_wallet'
                    WHEN 'refund' THEN 'refunds'
                    WHEN 'top_up' THEN 'top_up_clearing'
                    WHEN 'operator_credit' THEN 'operator_credits'
                    WHEN 'cod_collected' THEN 'cod_with_drivers'
                    WHEN 'cod_handed_over' THEN 'cod_with_operator'
                    WHEN 'cod_settled' THEN 'cod_payable' END
            END) IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'a transfer has not exactly the two entries of its kind'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_have_entries', TABLE = 'transfers';
    END IF;
    IF EXISTS (
        SELECT
        FROM new_transfers AS refund
        LEFT JOIN entries AS entry ON entry.transfer_id = refund.id AND entry.account = 'business_wallet'
        LEFT JOIN debits AS debit ON debit.order_id = refund.order_id AND debit.outcome = 'posted'
        WHERE refund.kind = 'refund'
            AND (debit.transfer_id, debit.business_id, debit.amount_paise)
                IS DISTINCT FROM (refund.reverses, refund.business_id, entry.amount_paise)
    ) THEN
        RAISE EXCEPTION 'a refund does not take back what its order paid'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'refunds_reverse_fees', TABLE = 'transfers';
    END IF;
    RETURN NULL;
END $$;

-- A top-up and its transfer refer to each other at the end of the transaction.
CREATE FUNCTION check_top_up() RETURNS trigger LANGUAGE plpgsql
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

CREATE CONSTRAINT TRIGGER check_top_up AFTER INSERT ON transfers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind = 'top_up') EXECUTE FUNCTION check_top_up();
CREATE CONSTRAINT TRIGGER check_top_up AFTER INSERT OR UPDATE ON top_ups
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.transfer_id IS NOT NULL) EXECUTE FUNCTION check_top_up();
