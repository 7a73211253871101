-- The same rule as `CashRecord::difference`.
CREATE FUNCTION cash_difference(of_order cash) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN of_order.settled_paise = wanted
            AND of_order.settled_paise >= coalesce(of_order.collected_paise, of_order.expected_paise, of_order.handed_over_paise)
        THEN NULL
        ELSE coalesce(
            nullif(of_order.settled_paise, wanted),
            nullif(of_order.handed_over_paise, wanted),
            nullif(of_order.collected_paise, wanted)) - wanted
    END
    FROM coalesce(of_order.expected_paise, of_order.collected_paise, of_order.handed_over_paise, of_order.settled_paise) AS wanted
$$;
-- A closed difference of cash opens again when a step is written whose amount does not match (that of a report: those of the steps
-- before it or the order's; that of a payout: what was handed over or what is owed) and the difference becomes another one, or the
-- payout lacks more than it. Release 1.0.0 does not know differences, and settles cash too: its role has no rights on differences
-- until this release grants them, so the function has its owner's rights. Nobody can call it but as a trigger.
CREATE FUNCTION reopen_difference() RETURNS TRIGGER LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    IF cash_difference(NEW) IS DISTINCT FROM cash_difference(OLD)
        OR coalesce(NEW.collected_paise, NEW.expected_paise, NEW.handed_over_paise) - NEW.settled_paise
            > greatest(-cash_difference(NEW), 0)
    THEN
        UPDATE cash_differences SET resolution = NULL, updated_at = now()
        WHERE business_id = NEW.business_id AND order_id = NEW.order_id AND resolution IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER cash_reopens_difference
    AFTER UPDATE OF collected_paise, handed_over_paise, settled_paise ON cash FOR EACH ROW
    WHEN (OLD.collected_at IS NULL AND NEW.collected_paise <> NEW.expected_paise
        OR OLD.handed_over_at IS NULL
            AND (NEW.handed_over_paise <> NEW.collected_paise OR NEW.handed_over_paise <> NEW.expected_paise)
        OR OLD.settled_at IS NULL
            AND (NEW.settled_paise <> NEW.handed_over_paise
                OR NEW.settled_paise <> coalesce(NEW.collected_paise, NEW.expected_paise, NEW.handed_over_paise)))
    EXECUTE FUNCTION reopen_difference();
