-- The fee of another attempt at a delivery is an operator's debit that takes back no deposit, also where the balance does not cover
-- it. It allows more than before, so the stored rows need no check, which would lock the table for as long as it reads them.
ALTER TABLE transfers
    DROP CONSTRAINT transfers_name_their_cause,
    ADD CONSTRAINT transfers_name_their_cause CHECK (
        (order_id IS NOT NULL) = (kind IN ('delivery_fee', 'refund', 'cod_collected', 'cod_handed_over', 'cod_settled'))
        AND (reference IS NOT NULL) = (kind IN ('top_up', 'operator_credit', 'operator_debit',
            'operator_debit_shortfall', 'top_up_reversal', 'top_up_reversal_shortfall'))
        AND (kind IN ('operator_debit', 'operator_debit_shortfall') OR (reverses IS NOT NULL) = (kind IN
            ('refund', 'top_up_reversal', 'top_up_reversal_shortfall')))
    ) NOT VALID;
