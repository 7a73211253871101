-- Debts of fees stay: only new rows are checked.
ALTER TABLE transfers
    DROP CONSTRAINT transfers_name_their_cause,
    ADD CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund', 'cod_collected', 'cod_handed_over', 'cod_settled'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit', 'operator_debit',
            'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall'))
        AND (kind = 'operator_debit' OR (reverses IS NOT NULL) = (kind IN
            ('refund', 'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall')))
    ) NOT VALID;
