-- The ledger. A transfer has one entry in the wallet of a business and one in an account of the operator; they sum to zero.
-- The database checks the rules of the code again (SPECIFICATION §14.1-2), so that a bug fails a transaction instead of
-- corrupting the ledger.
--
-- A transaction that moves money writes in this order: wallets, entries, transfers, debits. Each check runs once per
-- statement, when the rows that it needs are written. That costs less than checking every row at commit.

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

CREATE TABLE transfers (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('delivery_fee', 'refund', 'top_up', 'operator_credit')),
    business_id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",
    -- The operator's own reference of a credit, or the id of a top-up.
    reference TEXT,
    -- The fee that a refund reverses.
    reverses TEXT COLLATE "C" REFERENCES transfers,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit'))
        AND (reverses IS NOT NULL) = (kind = 'refund')
    )
);
CREATE UNIQUE INDEX transfers_one_refund_per_order ON transfers (order_id) WHERE kind = 'refund';
CREATE UNIQUE INDEX transfers_one_credit_per_reference ON transfers (business_id, reference)
    WHERE kind = 'operator_credit';
CREATE UNIQUE INDEX transfers_one_per_top_up ON transfers (reference) WHERE kind = 'top_up';

CREATE TABLE entries (
    -- Entries are written before their transfer, whose trigger reads them.
    transfer_id TEXT COLLATE "C" NOT NULL REFERENCES transfers DEFERRABLE INITIALLY DEFERRED,
    account TEXT NOT NULL
        CHECK (account IN ('business_wallet', 'fee_income', 'refunds', 'top_up_clearing', 'operator_credits')),
    -- Entries of operator accounts name the business too. These accounts have no row that every order would lock; their
    -- balance is a sum, for all businesses or one.
    business_id TEXT COLLATE "C" NOT NULL,
    -- Positive amounts increase the account.
    amount_paise BIGINT NOT NULL CHECK (amount_paise <> 0),
    -- Numbers the entries of the wallet from 1, without gaps.
    sequence BIGINT CHECK (sequence >= 1),
    balance_after_paise BIGINT CHECK (balance_after_paise >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (transfer_id, account),
    CONSTRAINT entries_only_wallets_keep_a_balance CHECK (
        (sequence IS NOT NULL) = (account = 'business_wallet')
        AND (balance_after_paise IS NOT NULL) = (account = 'business_wallet')
    )
);
CREATE UNIQUE INDEX entries_wallet_sequence ON entries (business_id, sequence) WHERE sequence IS NOT NULL;

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
    CONSTRAINT debits_pkey PRIMARY KEY (order_id, attempt),
    CONSTRAINT debits_posted_by_a_transfer CHECK ((transfer_id IS NOT NULL) = (outcome = 'posted'))
);
CREATE UNIQUE INDEX debits_one_posted_per_order ON debits (order_id) WHERE outcome = 'posted';

CREATE TABLE top_ups (
    id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL,
    provider TEXT NOT NULL CHECK (provider IN ('sandbox')),
    -- The provider's id of the top-up, once it is known.
    provider_reference TEXT,
    amount_paise BIGINT NOT NULL CHECK (amount_paise > 0),
    status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    transfer_id TEXT COLLATE "C" REFERENCES transfers,
    created_at TIMESTAMPTZ NOT NULL,
    settled_at TIMESTAMPTZ,
    CONSTRAINT top_ups_succeed_by_a_transfer CHECK ((transfer_id IS NOT NULL) = (status = 'succeeded')),
    CONSTRAINT top_ups_settle_once CHECK ((settled_at IS NULL) = (status = 'pending'))
);
CREATE UNIQUE INDEX top_ups_provider_reference ON top_ups (provider, provider_reference)
    WHERE provider_reference IS NOT NULL;
CREATE INDEX top_ups_of_a_business ON top_ups (business_id, id);

-- Rows never change: further transfers correct mistakes.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON debits EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallets_stay BEFORE DELETE OR TRUNCATE ON wallets EXECUTE FUNCTION refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON entries, debits FROM CURRENT_USER;

-- The entries of one statement: each transfer sums to zero, each wallet's chain continues its previous entry without a gap,
-- and ends at the wallet's balance. The planner must use indexes, because a connection keeps plans that were made while the
-- tables were small.
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

-- A transfer changes the wallet of its own business. Its entries are balanced, so its other entry fits too.
CREATE FUNCTION check_transfers() RETURNS trigger LANGUAGE plpgsql
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

-- The reverse: a balance never changes without an entry that explains the change.
CREATE FUNCTION check_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE CONSTRAINT TRIGGER check_wallet AFTER INSERT OR UPDATE OF balance_paise, entry_count ON wallets
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_wallet();
