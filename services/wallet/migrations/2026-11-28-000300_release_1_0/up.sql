-- The ledger. A transfer has two entries in accounts of its business or of the operator; they sum to zero. The database
-- checks the rules of the code again (SPECIFICATION §14.1-2), so that a bug fails a transaction instead of corrupting the
-- ledger.
--
-- A transaction that moves money writes in this order: wallets, entries, transfers, debits. Each check runs once per
-- statement, when the rows that it needs are written. That costs less than checking every row at commit.
--
-- Keys contain the business, by which PostgreSQL could partition growing tables. It is mostly the
-- last column: so the index still finds a transfer by its id alone, for reconciliation and the ledger's checks, and grows
-- at its end.

-- Rows never change: further transfers correct mistakes.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;

-- Identifying columns never change, in tables whose other columns may.
CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a row of % is about stays', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;

CREATE TABLE wallets (
    business_id TEXT COLLATE "C" PRIMARY KEY,
    balance_paise BIGINT NOT NULL DEFAULT 0 CONSTRAINT wallets_balance_not_negative CHECK (balance_paise >= 0),
    -- Also the sequence of the newest entry.
    entry_count BIGINT NOT NULL DEFAULT 0 CHECK (entry_count >= 0),
    -- NULL: the operator's default.
    low_balance_threshold_paise BIGINT CHECK (low_balance_threshold_paise >= 0),
    -- The time of the first deposit.
    funded_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 70); -- balances change often: leaves room for the new row version on the same page

CREATE TRIGGER wallets_stay BEFORE DELETE OR TRUNCATE ON wallets EXECUTE FUNCTION refuse_change();
-- Each debit changes a wallet, so this trigger runs only for statements that name such a column.
CREATE TRIGGER wallets_keep_their_business BEFORE UPDATE OF business_id, created_at ON wallets
    EXECUTE FUNCTION refuse_rewrite();

-- Movements of money, each by two entries. Cash on delivery: the operator owes the cash to the business from its collection
-- until its settlement. The ledger has separate accounts for cash, which never moves through wallets:
--
--   collected    cod_with_drivers  -> cod_payable        drivers hold it, the operator owes it to the business
--   handed over  cod_with_operator -> cod_with_drivers   the operator holds it
--   settled      cod_payable       -> cod_with_operator  it was paid out
--
-- Each step moves the reported amount. A final balance other than zero shows missing or excess cash.
--
-- Money that a wallet must give back: `operator_debit` corrects, `top_up_reversal` follows a refund or chargeback at the
-- payment provider. A wallet never falls below zero. What it lacks is a second transfer (`…_shortfall`) out of
-- `business_receivable`, whose negative balance is the business's debt. Later deposits and refunds pay it first
-- (`receivable_payment`).
CREATE TABLE transfers (
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN
        ('delivery_fee', 'refund', 'top_up', 'operator_credit', 'operator_debit', 'operator_debit_shortfall',
         'top_up_reversal', 'top_up_reversal_shortfall', 'receivable_payment',
         'cod_collected', 'cod_handed_over', 'cod_settled')),
    business_id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",
    -- The operator's own reference of a credit or debit, the id of a top-up, or the provider's id of its reversal.
    reference TEXT,
    -- The fee that a refund reverses, or the deposit or refund that a debit takes back.
    reverses TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    -- Why the operator debits; the business reads it.
    reason TEXT,
    -- Of a shortfall, which is no entry of the wallet: the wallet's newest entry then. The statement lists the debt after it.
    after_entry BIGINT CHECK (after_entry >= 1),
    PRIMARY KEY (id, business_id),
    CONSTRAINT transfers_reverses_fkey FOREIGN KEY (reverses, business_id) REFERENCES transfers (id, business_id),
    CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund', 'cod_collected', 'cod_handed_over', 'cod_settled'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit', 'operator_debit',
            'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall'))
        AND (kind = 'operator_debit' OR (reverses IS NOT NULL) = (kind IN
            ('refund', 'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall')))
    ),
    CONSTRAINT transfers_reasons_of_debits CHECK (reason IS NULL OR kind IN ('operator_debit', 'operator_debit_shortfall')),
    CONSTRAINT transfers_position_of_debts CHECK (
        (after_entry IS NOT NULL) = (kind IN ('operator_debit_shortfall', 'top_up_reversal_shortfall'))
    )
);
-- A refund reverses a posted debit of its own business; an order has one such debit.
CREATE UNIQUE INDEX transfers_one_refund_per_order ON transfers (order_id, business_id) WHERE kind = 'refund';
CREATE UNIQUE INDEX transfers_one_credit_per_reference ON transfers (business_id, reference)
    WHERE kind = 'operator_credit';
CREATE UNIQUE INDEX transfers_one_debit_per_reference ON transfers (business_id, reference, kind)
    WHERE kind IN ('operator_debit', 'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall');
CREATE INDEX transfers_taken_back ON transfers (reverses, business_id) WHERE reverses IS NOT NULL AND kind <> 'refund';
-- A top-up and its transfer have the same business.
CREATE UNIQUE INDEX transfers_one_per_top_up ON transfers (reference, business_id) WHERE kind = 'top_up';
CREATE UNIQUE INDEX transfers_one_of_each_cash_step ON transfers (order_id, kind)
    WHERE kind IN ('cod_collected', 'cod_handed_over', 'cod_settled');
-- Top-ups, credits and refunds are rare compared with fees. A statement of them does not have to read all fees.
CREATE INDEX transfers_beside_fees ON transfers (business_id, kind) WHERE kind <> 'delivery_fee';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers EXECUTE FUNCTION refuse_change();

CREATE TABLE entries (
    transfer_id TEXT COLLATE "C" NOT NULL,
    account TEXT NOT NULL CHECK (account IN
        ('business_wallet', 'fee_income', 'refunds', 'top_up_clearing', 'operator_credits', 'business_receivable',
         'cod_payable', 'cod_with_drivers', 'cod_with_operator')),
    -- Entries of operator accounts name the business too. These accounts have no row that every order would lock; their
    -- balance is a sum, for all businesses or one.
    business_id TEXT COLLATE "C" NOT NULL,
    -- Positive amounts increase the account.
    amount_paise BIGINT NOT NULL CHECK (amount_paise <> 0),
    -- Numbers the entries of the wallet from 1, without gaps.
    sequence BIGINT CHECK (sequence >= 1),
    balance_after_paise BIGINT CHECK (balance_after_paise >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (transfer_id, account, business_id),
    -- Entries are written before their transfer, whose trigger reads them.
    CONSTRAINT entries_transfer_id_fkey FOREIGN KEY (transfer_id, business_id) REFERENCES transfers (id, business_id)
        DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT entries_only_wallets_keep_a_balance CHECK (
        (sequence IS NOT NULL) = (account = 'business_wallet')
        AND (balance_after_paise IS NOT NULL) = (account = 'business_wallet')
    )
);
CREATE INDEX entries_of_receivables ON entries (business_id) WHERE account = 'business_receivable';
CREATE UNIQUE INDEX entries_wallet_sequence ON entries (business_id, sequence) WHERE sequence IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries EXECUTE FUNCTION refuse_change();

-- An order pays once, for any business.
CREATE TABLE debits (
    order_id TEXT COLLATE "C" NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    business_id TEXT COLLATE "C" NOT NULL,
    amount_paise BIGINT NOT NULL CHECK (amount_paise > 0),
    outcome TEXT NOT NULL CHECK (outcome IN ('posted', 'rejected', 'voided')),
    transfer_id TEXT COLLATE "C",
    -- When the outcome was decided.
    balance_after_paise BIGINT NOT NULL CHECK (balance_after_paise >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (order_id, attempt, business_id),
    CONSTRAINT debits_posted_by_a_transfer CHECK ((transfer_id IS NOT NULL) = (outcome = 'posted'))
);
CREATE UNIQUE INDEX debits_one_posted_per_order ON debits (order_id) WHERE outcome = 'posted';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON debits EXECUTE FUNCTION refuse_change();

CREATE TABLE top_ups (
    id TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    provider TEXT NOT NULL CHECK (provider IN ('sandbox', 'razorpay')),
    -- The provider's id of the top-up, once it is known.
    provider_reference TEXT,
    -- The provider's id of the credited payment.
    payment_reference TEXT,
    -- The caller's idempotency key: a repeated request does not pay twice.
    idempotency_key TEXT COLLATE "C",
    amount_paise BIGINT NOT NULL CHECK (amount_paise > 0),
    status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    transfer_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    settled_at TIMESTAMPTZ,
    -- The next query about a pending top-up.
    next_check_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (id, business_id),
    CONSTRAINT top_ups_transfer_id_fkey
        FOREIGN KEY (transfer_id, business_id) REFERENCES transfers (id, business_id),
    CONSTRAINT top_ups_succeed_by_a_transfer CHECK ((transfer_id IS NOT NULL) = (status = 'succeeded')),
    CONSTRAINT top_ups_settle_once CHECK ((settled_at IS NULL) = (status = 'pending'))
);
CREATE INDEX top_ups_of_a_business ON top_ups (business_id, id);
CREATE INDEX top_ups_to_check ON top_ups (next_check_at) WHERE status = 'pending';
CREATE UNIQUE INDEX top_ups_idempotency_key ON top_ups (business_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX top_ups_provider_reference ON top_ups (provider, provider_reference)
    WHERE provider_reference IS NOT NULL;
-- A payment is credited once, even if it is reported for several top-ups.
CREATE UNIQUE INDEX top_ups_payment_reference ON top_ups (provider, payment_reference)
    WHERE payment_reference IS NOT NULL;
CREATE TRIGGER top_ups_stay BEFORE DELETE OR TRUNCATE ON top_ups EXECUTE FUNCTION refuse_change();
CREATE TRIGGER top_ups_keep_what_was_asked_for BEFORE UPDATE ON top_ups FOR EACH ROW
    WHEN ((OLD.id, OLD.business_id, OLD.provider, OLD.amount_paise)
            IS DISTINCT FROM (NEW.id, NEW.business_id, NEW.provider, NEW.amount_paise)
        OR OLD.provider_reference IS NOT NULL AND OLD.provider_reference IS DISTINCT FROM NEW.provider_reference
        -- Credited is credited; only what failed may still turn out well.
        OR OLD.status = 'succeeded'
            AND (OLD.status, OLD.transfer_id, OLD.payment_reference, OLD.settled_at)
                IS DISTINCT FROM (NEW.status, NEW.transfer_id, NEW.payment_reference, NEW.settled_at))
    EXECUTE FUNCTION refuse_rewrite();

-- Notices of the provider about our top-ups with their outcome, each stored once.
CREATE TABLE payment_notices (
    provider TEXT NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    top_up_id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    payment_reference TEXT,
    outcome TEXT NOT NULL CHECK (outcome IN ('credited', 'settled_before', 'reversed', 'noted', 'mismatch')),
    received_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (provider, event_id),
    CONSTRAINT payment_notices_top_up_id_fkey
        FOREIGN KEY (top_up_id, business_id) REFERENCES top_ups (id, business_id)
);
CREATE INDEX payment_notices_of_a_top_up ON payment_notices (top_up_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_notices EXECUTE FUNCTION refuse_change();

-- Refunds and lost disputes at the provider, each stored once. Without a credit of the payment yet, the credit books them.
CREATE TABLE top_up_reversals (
    provider TEXT NOT NULL,
    -- The provider's id of the refund or dispute.
    reference TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    top_up_id TEXT COLLATE "C" NOT NULL,
    payment_reference TEXT NOT NULL,
    -- Zero: the provider gave the money back, and reports that it took it later or never.
    amount_paise BIGINT NOT NULL CHECK (amount_paise >= 0),
    received_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (provider, reference),
    CONSTRAINT top_up_reversals_top_up_id_fkey
        FOREIGN KEY (top_up_id, business_id) REFERENCES top_ups (id, business_id)
);
CREATE INDEX top_up_reversals_of_a_top_up ON top_up_reversals (top_up_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON top_up_reversals EXECUTE FUNCTION refuse_change();

-- The cash of each order with cash on delivery, as the fleet reported it. A step has the reported amount, right or wrong.
CREATE TABLE cash (
    order_id TEXT COLLATE "C" NOT NULL,
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
    -- In this order of columns, for the list of a business.
    PRIMARY KEY (business_id, order_id),
    CONSTRAINT cash_steps_are_whole CHECK (
        (collected_paise IS NULL) = (collected_at IS NULL)
        AND (handed_over_paise IS NULL) = (handed_over_at IS NULL)
        AND (settled_paise IS NULL) = (settled_at IS NULL)
    )
) WITH (fillfactor = 70); -- each row is changed a few times
-- The cash of an order belongs to one business.
CREATE UNIQUE INDEX cash_order_id ON cash (order_id);
-- The operator owes the collected cash minus the settled cash, like the account `cod_payable`: cash that was settled short is
-- still outstanding. Before the collection is reported, the expected amount counts.
CREATE INDEX cash_outstanding ON cash (business_id, due_since)
    WHERE settled_at IS NULL
        OR settled_paise <> coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise);
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
CREATE TRIGGER cash_stays BEFORE TRUNCATE ON cash EXECUTE FUNCTION refuse_change();
-- The expected amount is written once, like each step.
CREATE TRIGGER cash_keeps_what_was_expected BEFORE UPDATE ON cash FOR EACH ROW
    WHEN (OLD.order_reference <> NEW.order_reference
        OR OLD.expected_paise IS NOT NULL AND OLD.expected_paise IS DISTINCT FROM NEW.expected_paise
        OR OLD.delivered_at IS NOT NULL AND OLD.delivered_at IS DISTINCT FROM NEW.delivered_at)
    EXECUTE FUNCTION refuse_rewrite();

-- The checks of the ledger. The planner must use indexes, because a connection keeps plans that were made while the tables
-- were small.

-- The accounts of each kind. SQL functions with one expression are inlined.
CREATE FUNCTION account_into(kind TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind
        WHEN 'delivery_fee' THEN 'fee_income'
        WHEN 'operator_debit' THEN 'operator_credits'
        WHEN 'operator_debit_shortfall' THEN 'operator_credits'
        WHEN 'top_up_reversal' THEN 'top_up_clearing'
        WHEN 'top_up_reversal_shortfall' THEN 'top_up_clearing'
        WHEN 'receivable_payment' THEN 'business_receivable'
        WHEN 'cod_collected' THEN 'cod_payable'
        WHEN 'cod_handed_over' THEN 'cod_with_drivers'
        WHEN 'cod_settled' THEN 'cod_with_operator'
        ELSE 'business_wallet' END
$$;
CREATE FUNCTION account_out_of(kind TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind
        WHEN 'refund' THEN 'refunds'
        WHEN 'top_up' THEN 'top_up_clearing'
        WHEN 'operator_credit' THEN 'operator_credits'
        WHEN 'operator_debit_shortfall' THEN 'business_receivable'
        WHEN 'top_up_reversal_shortfall' THEN 'business_receivable'
        WHEN 'cod_collected' THEN 'cod_with_drivers'
        WHEN 'cod_handed_over' THEN 'cod_with_operator'
        WHEN 'cod_settled' THEN 'cod_payable'
        ELSE 'business_wallet' END
$$;

-- The entries of one statement: each transfer sums to zero, each wallet's chain continues its previous entry without a gap,
-- and ends at the wallet's balance. An existing transfer accepts no further entries, which would be in another account.
-- Entries that sum to zero include a positive one, so checking those is enough: one query per transfer. (check_transfers
-- checks the transfers of the same statement.)
CREATE FUNCTION check_entries() RETURNS trigger LANGUAGE plpgsql
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
            AND (entry.business_id <> transfer.business_id OR entry.account <> account_into(transfer.kind))
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
CREATE TRIGGER check_entries AFTER INSERT ON entries REFERENCING NEW TABLE AS new_entries
    FOR EACH STATEMENT EXECUTE FUNCTION check_entries();

-- What debits took back of a deposit so far, with their shortfalls.
CREATE FUNCTION taken_back(deposit TEXT, of_business TEXT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(entry.amount_paise), 0)::bigint
    FROM transfers AS debit
    JOIN entries AS entry ON entry.transfer_id = debit.id AND entry.business_id = debit.business_id
        AND entry.amount_paise > 0
    WHERE debit.reverses = deposit AND debit.business_id = of_business
        AND debit.reverses IS NOT NULL AND debit.kind <> 'refund'
$$;

-- A transfer moves money from one account of its business to another, depending on its kind. Entries that all fit are exactly
-- these two, because each account occurs once and they sum to zero. A refund reverses the whole fee of its own order.
CREATE FUNCTION check_transfers() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM new_transfers AS transfer
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id
        WHERE (entry.business_id = transfer.business_id AND entry.account = CASE WHEN entry.amount_paise > 0
            THEN account_into(transfer.kind) ELSE account_out_of(transfer.kind) END) IS NOT TRUE
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
    IF EXISTS (
        SELECT
        FROM new_transfers AS debit
        LEFT JOIN transfers AS deposit ON deposit.id = debit.reverses AND deposit.business_id = debit.business_id
        LEFT JOIN entries AS received ON received.transfer_id = deposit.id AND received.account = 'business_wallet'
        WHERE debit.reverses IS NOT NULL AND debit.kind <> 'refund'
            AND ((deposit.kind = 'top_up'
                    OR deposit.kind IN ('operator_credit', 'refund') AND debit.kind LIKE 'operator_debit%')
                AND taken_back(deposit.id, deposit.business_id) <= received.amount_paise) IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'a debit takes back more than its deposit'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'debits_within_their_deposits', TABLE = 'transfers';
    END IF;
    IF EXISTS (
        SELECT FROM new_transfers AS payment
        WHERE payment.kind = 'receivable_payment'
            AND (SELECT sum(amount_paise) FROM entries
                WHERE business_id = payment.business_id AND account = 'business_receivable') > 0
    ) THEN
        RAISE EXCEPTION 'a business pays more than its debt'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'receivables_not_overpaid', TABLE = 'transfers';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER check_transfers AFTER INSERT ON transfers REFERENCING NEW TABLE AS new_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION check_transfers();

-- The transfer of a posted debit has the debit's order and amount.
CREATE FUNCTION check_debits() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM new_debits AS debit
        LEFT JOIN transfers AS transfer ON transfer.id = debit.transfer_id AND transfer.kind = 'delivery_fee'
        LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = 'business_wallet'
        WHERE debit.outcome = 'posted'
            AND (transfer.order_id, entry.business_id, entry.amount_paise, entry.balance_after_paise)
                IS DISTINCT FROM
                (debit.order_id, debit.business_id, -debit.amount_paise, debit.balance_after_paise)
    ) THEN
        RAISE EXCEPTION 'a posted debit does not agree with its transfer'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'debits_agree_with_transfers', TABLE = 'debits';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER check_debits AFTER INSERT ON debits REFERENCING NEW TABLE AS new_debits
    FOR EACH STATEMENT EXECUTE FUNCTION check_debits();

-- The reverse: a balance never changes without an entry that explains the change. A wallet equals its newest entry: no entry
-- follows its last one, and before the first one its balance is 0. Two queries, each with known values for its index: one
-- query was planned as a join, and a plan that was made while the tables were small read all entries of a business at each
-- change.
CREATE FUNCTION check_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE CONSTRAINT TRIGGER check_wallet AFTER INSERT OR UPDATE OF balance_paise, entry_count ON wallets
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_wallet();

-- A top-up and its transfer refer to each other at the end of the transaction. Works also if transfers are partitioned by
-- business: the table of the trigger is then a partition of transfers with its own name, and the query reads only that
-- partition.
CREATE FUNCTION check_top_up() RETURNS trigger LANGUAGE plpgsql
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
CREATE CONSTRAINT TRIGGER check_top_up AFTER INSERT ON transfers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind = 'top_up') EXECUTE FUNCTION check_top_up();
CREATE CONSTRAINT TRIGGER check_top_up AFTER INSERT OR UPDATE ON top_ups
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.transfer_id IS NOT NULL) EXECUTE FUNCTION check_top_up();

-- The same rules for the rights of a service that owns the tables, as with a single role (see deploy/README.md). A foreign key
-- locks the referenced row, for which the owner of its table needs the right to update some column.
REVOKE UPDATE, DELETE, TRUNCATE ON transfers, entries, debits, payment_notices, top_up_reversals FROM CURRENT_USER;
GRANT UPDATE (id) ON transfers TO CURRENT_USER;
REVOKE DELETE, TRUNCATE ON wallets, top_ups, cash FROM CURRENT_USER;

-- Reconciliation: the cursors of the scans, and the open findings.

-- One row: the lease of the current run, and the result of the last one.
CREATE TABLE reconciliation_runs (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    -- The start of the next run. During a run, its instance moves this ahead as a lease, so that another instance takes over
    -- if it dies.
    next_at TIMESTAMPTZ NOT NULL,
    holder TEXT,
    -- The last complete run.
    completed_at TIMESTAMPTZ,
    duration_ms BIGINT CHECK (duration_ms >= 0),
    rows_checked BIGINT CHECK (rows_checked >= 0),
    -- Missing steps between the services that were too recent to be findings.
    under_way BIGINT NOT NULL DEFAULT 0 CHECK (under_way >= 0)
);
INSERT INTO reconciliation_runs (next_at) VALUES ('epoch');

CREATE TABLE reconciliation_cursors (
    feed TEXT PRIMARY KEY,
    -- The cursor of new rows.
    recent TEXT COLLATE "C" NOT NULL,
    -- The cursor of the sweep through the whole history, and the last time that it reached the end.
    sweep TEXT COLLATE "C" NOT NULL,
    swept_at TIMESTAMPTZ
);

-- Open findings. Each run checks them again first.
CREATE TABLE reconciliation_findings (
    check_name TEXT NOT NULL,
    -- The id of a transfer, order, top-up or business.
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT NOT NULL,
    found_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (check_name, subject)
);
