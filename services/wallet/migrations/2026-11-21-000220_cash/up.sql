-- Cash on delivery. The operator owes the cash to the business from its collection until its settlement. The ledger has
-- separate accounts for cash, which never moves through wallets:
--
--   collected    cod_with_drivers  -> cod_payable        drivers hold it, the operator owes it to the business
--   handed over  cod_with_operator -> cod_with_drivers   the operator holds it
--   settled      cod_payable       -> cod_with_operator  it was paid out
--
-- Each step moves the reported amount. A final balance other than zero shows missing or excess cash.

ALTER TABLE transfers
    DROP CONSTRAINT transfers_kind_check,
    ADD CONSTRAINT transfers_kind_check CHECK (kind IN
        ('delivery_fee', 'refund', 'top_up', 'operator_credit', 'cod_collected', 'cod_handed_over', 'cod_settled'))
        NOT VALID,
    DROP CONSTRAINT transfers_name_their_cause,
    ADD CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund', 'cod_collected', 'cod_handed_over', 'cod_settled'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit'))
        AND (reverses IS NOT NULL) = (kind = 'refund')
    ) NOT VALID;
-- All rows passed the stricter checks before, so nothing has to be read while the table is locked.
ALTER TABLE transfers VALIDATE CONSTRAINT transfers_kind_check;
ALTER TABLE transfers VALIDATE CONSTRAINT transfers_name_their_cause;
CREATE UNIQUE INDEX transfers_one_of_each_cash_step ON transfers (order_id, kind)
    WHERE kind IN ('cod_collected', 'cod_handed_over', 'cod_settled');

ALTER TABLE entries
    DROP CONSTRAINT entries_account_check,
    ADD CONSTRAINT entries_account_check CHECK (account IN
        ('business_wallet', 'fee_income', 'refunds', 'top_up_clearing', 'operator_credits',
         'cod_payable', 'cod_with_drivers', 'cod_with_operator')) NOT VALID;
ALTER TABLE entries VALIDATE CONSTRAINT entries_account_check;

-- A transfer changes the wallet of its own business. Its entries are balanced, so its other entry fits too. A transfer of
-- cash changes the two accounts of its step, and no wallet.
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

-- The cash of each order with cash on delivery, as the fleet reported it. A step has the reported amount, right or wrong.
CREATE TABLE cash (
    order_id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL,
    order_reference TEXT NOT NULL,
    -- The amount to collect; NULL until an event reports it.
    expected_paise BIGINT CHECK (expected_paise >= 0),
    delivered_at TIMESTAMPTZ,
    collected_paise BIGINT CHECK (collected_paise >= 0),
    collected_at TIMESTAMPTZ,
    handed_over_paise BIGINT CHECK (handed_over_paise >= 0),
    handed_over_at TIMESTAMPTZ,
    settled_paise BIGINT CHECK (settled_paise >= 0),
    settled_at TIMESTAMPTZ,
    -- The business waits for its cash since this time.
    due_since TIMESTAMPTZ NOT NULL GENERATED ALWAYS AS
        (coalesce(delivered_at, collected_at, handed_over_at, settled_at)) STORED,
    discrepant BOOLEAN NOT NULL GENERATED ALWAYS AS (
        coalesce(collected_paise <> expected_paise, false)
        OR coalesce(handed_over_paise <> expected_paise, false)
        OR coalesce(settled_paise <> expected_paise, false)
        OR coalesce(collected_paise <> handed_over_paise, false)
        OR coalesce(handed_over_paise <> settled_paise, false)
    ) STORED,
    CONSTRAINT cash_steps_are_whole CHECK (
        (collected_paise IS NULL) = (collected_at IS NULL)
        AND (handed_over_paise IS NULL) = (handed_over_at IS NULL)
        AND (settled_paise IS NULL) = (settled_at IS NULL)
    )
) WITH (fillfactor = 70); -- each row is changed a few times
CREATE INDEX cash_of_a_business ON cash (business_id, order_id);
CREATE INDEX cash_unsettled ON cash (business_id, due_since) WHERE settled_at IS NULL;
CREATE INDEX cash_settled ON cash (business_id, settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX cash_discrepant ON cash (order_id) WHERE discrepant;
CREATE INDEX cash_discrepant_of_a_business ON cash (business_id, order_id) WHERE discrepant;

-- A step is written once and never changes.
CREATE FUNCTION check_cash() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE'
        OR (OLD.order_id, OLD.business_id) IS DISTINCT FROM (NEW.order_id, NEW.business_id)
        OR (OLD.collected_at IS NOT NULL
            AND (OLD.collected_at, OLD.collected_paise) IS DISTINCT FROM (NEW.collected_at, NEW.collected_paise))
        OR (OLD.handed_over_at IS NOT NULL
            AND (OLD.handed_over_at, OLD.handed_over_paise) IS DISTINCT FROM (NEW.handed_over_at, NEW.handed_over_paise))
        OR (OLD.settled_at IS NOT NULL
            AND (OLD.settled_at, OLD.settled_paise) IS DISTINCT FROM (NEW.settled_at, NEW.settled_paise))
    THEN
        RAISE EXCEPTION 'what was reported of cash stays'
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = 'cash';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER check_cash BEFORE UPDATE OR DELETE ON cash FOR EACH ROW EXECUTE FUNCTION check_cash();
