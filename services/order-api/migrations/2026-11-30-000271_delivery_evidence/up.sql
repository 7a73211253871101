-- The record of each attempt at a delivery, a JSON text as it was hashed. It contains the hash of the record before it, and that
-- of the personal part, the only column that changes: an erasure removes it.
CREATE TABLE delivery_evidence (
    order_id    TEXT COLLATE "C" NOT NULL,
    attempt     INTEGER NOT NULL CHECK (attempt >= 1),
    business_id TEXT COLLATE "C" NOT NULL,
    record      TEXT NOT NULL,
    hash        TEXT COLLATE "C" NOT NULL CHECK (hash = encode(sha256(convert_to(record, 'UTF8')), 'hex')),
    personal    TEXT,
    PRIMARY KEY (order_id, attempt, business_id)
);

CREATE FUNCTION keep_evidence() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.personal IS NULL AND (NEW.order_id, NEW.attempt, NEW.business_id, NEW.record, NEW.hash)
            = (OLD.order_id, OLD.attempt, OLD.business_id, OLD.record, OLD.hash) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON delivery_evidence FOR EACH ROW EXECUTE FUNCTION keep_evidence();
CREATE TRIGGER stays BEFORE TRUNCATE ON delivery_evidence EXECUTE FUNCTION keep_evidence();

-- Removes the personal part when an order's personal data is erased, by whichever release.
CREATE FUNCTION erase_evidence() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE delivery_evidence SET personal = NULL
    WHERE order_id = NEW.id AND business_id = NEW.business_id AND personal IS NOT NULL;
    UPDATE order_events SET data = data - 'evidence', personal_data_erased_at = NEW.personal_data_erased_at
    WHERE order_id = NEW.id AND business_id = NEW.business_id AND data ? 'evidence';
    RETURN NULL;
END
$$;
CREATE TRIGGER orders_erase_evidence
    AFTER UPDATE OF personal_data_erased_at ON orders FOR EACH ROW
    WHEN (OLD.personal_data_erased_at IS NULL AND NEW.personal_data_erased_at IS NOT NULL)
    EXECUTE FUNCTION erase_evidence();

-- The codes that customers tell the driver, of the orders for which the business asked for one.
CREATE TABLE delivery_codes (
    order_id    TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    code        TEXT NOT NULL CHECK (code ~ '^[0-9]{6}$'),
    -- The wrong codes that were reported.
    wrong       INTEGER NOT NULL DEFAULT 0 CHECK (wrong BETWEEN 0 AND 5),
    PRIMARY KEY (order_id, business_id)
);
