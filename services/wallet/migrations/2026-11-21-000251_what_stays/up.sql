-- Identifying columns never change, in tables whose other columns may. Each debit changes a wallet, so the trigger on wallets
-- runs only for statements that name such a column.
CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a row of % is about stays', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER wallets_keep_their_business BEFORE UPDATE OF business_id, created_at ON wallets
    EXECUTE FUNCTION refuse_rewrite();

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

-- The cash of an order: the expected amount is written once, like each step.
CREATE TRIGGER cash_stays BEFORE TRUNCATE ON cash EXECUTE FUNCTION refuse_change();
CREATE TRIGGER cash_keeps_what_was_expected BEFORE UPDATE ON cash FOR EACH ROW
    WHEN (OLD.order_reference <> NEW.order_reference
        OR OLD.expected_paise IS NOT NULL AND OLD.expected_paise IS DISTINCT FROM NEW.expected_paise
        OR OLD.delivered_at IS NOT NULL AND OLD.delivered_at IS DISTINCT FROM NEW.delivered_at)
    EXECUTE FUNCTION refuse_rewrite();

-- The same for the rights of a service that owns the tables, as with a single role (see deploy/README.md). A foreign key
-- locks the referenced row, for which the owner of its table needs the right to update some column.
REVOKE UPDATE, DELETE, TRUNCATE ON transfers, payment_notices FROM CURRENT_USER;
GRANT UPDATE (id) ON transfers TO CURRENT_USER;
REVOKE DELETE, TRUNCATE ON wallets, top_ups, cash FROM CURRENT_USER;
