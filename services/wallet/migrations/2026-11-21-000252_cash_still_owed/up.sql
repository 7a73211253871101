-- What a business is owed of an order's cash is what was collected less what was settled, as `cod_payable` has it: cash that
-- was settled short is still outstanding. Until it is reported as collected, what is to be collected counts.
CREATE INDEX cash_outstanding ON cash (business_id, due_since)
    WHERE settled_at IS NULL
        OR settled_paise <> coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise);
-- The rows of this one are among those.
DROP INDEX cash_unsettled;
