-- The sums of a business's cash by the month since which it is due. A business may have millions of orders with cash, so their sums
-- are stored in parts: `part` is the beginning of the orders' ids, which is the time of their creation within about nine hours.
CREATE TABLE cash_sums (
    business_id TEXT COLLATE "C" NOT NULL,
    part TEXT COLLATE "C" NOT NULL,
    -- Its first day in India.
    month DATE NOT NULL,
    orders BIGINT NOT NULL,
    closed_paise BIGINT NOT NULL,
    owed_paise BIGINT NOT NULL,
    settled_paise BIGINT NOT NULL,
    unreported_paise BIGINT NOT NULL,
    without_transfer_orders BIGINT NOT NULL,
    without_transfer_paise BIGINT NOT NULL,
    PRIMARY KEY (business_id, part, month)
);
-- Parts whose stored sums are outdated, some of them many times: a unique key would make writers wait for each other.
CREATE TABLE cash_sums_outdated (
    business_id TEXT COLLATE "C" NOT NULL,
    part TEXT COLLATE "C" NOT NULL
);
CREATE INDEX cash_sums_outdated_parts ON cash_sums_outdated (business_id, part);

-- Release 1.0.0 writes cash too, and its role has no rights on these tables, so the function has its owner's rights. Nobody can
-- call it but as a trigger.
CREATE FUNCTION outdate_cash_sums() RETURNS TRIGGER LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
    INSERT INTO cash_sums_outdated VALUES (NEW.business_id, left(NEW.order_id, 9));
    RETURN NULL;
END
$$;
-- A remittance changes the cash of its orders, so it needs no trigger of its own.
CREATE TRIGGER outdate_cash_sums AFTER INSERT OR UPDATE ON cash FOR EACH ROW EXECUTE FUNCTION outdate_cash_sums();
CREATE TRIGGER outdate_cash_sums AFTER INSERT OR UPDATE OF resolution ON cash_differences
    FOR EACH ROW EXECUTE FUNCTION outdate_cash_sums();
