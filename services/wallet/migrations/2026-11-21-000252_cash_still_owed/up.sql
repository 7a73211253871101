-- The operator owes the collected cash minus the settled cash, like the account `cod_payable`: cash that was settled short is
-- still outstanding. Before the collection is reported, the expected amount counts.
CREATE INDEX cash_outstanding ON cash (business_id, due_since)
    WHERE settled_at IS NULL
        OR settled_paise <> coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise);
-- The new index covers these rows.
DROP INDEX cash_unsettled;
