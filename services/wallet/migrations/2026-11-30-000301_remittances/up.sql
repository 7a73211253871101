-- A remittance is a bank transfer of the operator to a business. It pays out the cash of many orders in one transaction
-- (SPECIFICATION §12.3).
CREATE TABLE remittances (
    id TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    -- The bank's reference of the transfer: a repeated request finds its remittance by it.
    bank_reference TEXT NOT NULL,
    paid_on DATE NOT NULL,
    order_count BIGINT NOT NULL CHECK (order_count BETWEEN 1 AND 2000),
    total_paise BIGINT NOT NULL CHECK (total_paise > 0),
    -- The person of the staff who recorded it.
    created_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (id, business_id)
);
CREATE UNIQUE INDEX remittances_bank_reference ON remittances (business_id, bank_reference);
CREATE INDEX remittances_of_a_business ON remittances (business_id, id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON remittances EXECUTE FUNCTION refuse_change();

-- An order is in at most one remittance.
CREATE TABLE remittance_orders (
    business_id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C" NOT NULL,
    remittance_id TEXT COLLATE "C" NOT NULL,
    amount_paise BIGINT NOT NULL CHECK (amount_paise > 0),
    -- Why the amount differs from the one that was handed over.
    note TEXT,
    PRIMARY KEY (business_id, order_id),
    CONSTRAINT remittance_orders_remittance_id_fkey
        FOREIGN KEY (remittance_id, business_id) REFERENCES remittances (id, business_id)
);
CREATE INDEX remittance_orders_of_a_remittance ON remittance_orders (remittance_id, business_id, order_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON remittance_orders EXECUTE FUNCTION refuse_change();

-- A remittance equals the orders that it settled.
CREATE FUNCTION check_remittance() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM
    FROM (
        SELECT count(*) AS orders, sum(listed.amount_paise) AS paise,
            count(*) FILTER (WHERE (cash.settled_paise, cash.settled_at) = (listed.amount_paise, NEW.created_at)) AS settled
        FROM remittance_orders AS listed
        LEFT JOIN cash ON cash.business_id = listed.business_id AND cash.order_id = listed.order_id
        WHERE listed.remittance_id = NEW.id AND listed.business_id = NEW.business_id
    ) AS found
    WHERE (found.orders, found.paise, found.settled) = (NEW.order_count, NEW.total_paise, NEW.order_count);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a remittance does not equal the orders that it settled'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'remittances_equal_their_orders', TABLE = 'remittances';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER check_remittance AFTER INSERT ON remittances
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_remittance();

-- A difference of an order's cash has an owner until it is resolved.
CREATE TABLE cash_differences (
    business_id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C" NOT NULL,
    -- The fleet reported a settlement of this amount after a remittance had settled the order with another one.
    reported_paise BIGINT CHECK (reported_paise >= 0),
    -- A person of the staff.
    owner TEXT,
    note TEXT,
    -- Why nothing is left to do.
    resolution TEXT,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, order_id)
);
CREATE INDEX cash_differences_reported ON cash_differences (order_id) WHERE reported_paise IS NOT NULL;
CREATE TRIGGER cash_differences_stay BEFORE DELETE OR TRUNCATE ON cash_differences EXECUTE FUNCTION refuse_change();

-- As in the first migration: a foreign key needs the right to update some column.
REVOKE UPDATE, DELETE, TRUNCATE ON remittances, remittance_orders FROM CURRENT_USER;
GRANT UPDATE (id) ON remittances TO CURRENT_USER;
REVOKE DELETE, TRUNCATE ON cash_differences FROM CURRENT_USER;
