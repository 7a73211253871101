-- Cash on delivery. What drivers collect at the door is not the operator's: from that moment on the operator owes it to
-- the business, until it is settled. So cash is in the ledger, beside the wallets and never in them:
--
--   collected    cod_with_drivers  -> cod_payable        the drivers hold it, the business is owed it
--   handed over  cod_with_operator -> cod_with_drivers   the operator holds it
--   settled      cod_payable       -> cod_with_operator  it was paid out
--
-- Each step moves what was reported at that step; what remains in an account in the end is what is missing or too much.

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
-- Every row passed the stricter checks before: nothing needs to be read while the table is locked.
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

-- A transfer moves money in its own business's wallet, and so, entries being balanced, at its other end too. One of cash
-- moves it between the two accounts of its step, and in no wallet.
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

-- The cash of each order that was delivered against cash, as the fleet reported it. A step's amount is what was reported,
-- right or wrong.
CREATE TABLE cash (
    order_id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL,
    order_reference TEXT NOT NULL,
    -- What the order says is to be collected; unknown where it was not yet announced with the event.
    expected_paise BIGINT CHECK (expected_paise >= 0),
    delivered_at TIMESTAMPTZ,
    collected_paise BIGINT CHECK (collected_paise >= 0),
    collected_at TIMESTAMPTZ,
    handed_over_paise BIGINT CHECK (handed_over_paise >= 0),
    handed_over_at TIMESTAMPTZ,
    settled_paise BIGINT CHECK (settled_paise >= 0),
    settled_at TIMESTAMPTZ,
    -- Since when the business waits for its cash.
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

-- What was reported stays: a step is written once.
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
