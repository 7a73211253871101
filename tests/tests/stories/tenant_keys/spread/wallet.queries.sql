-- the wallet of a debit, locked [one]
SELECT business_id, balance_paise, entry_count FROM wallets
WHERE business_id = ANY (ARRAY['{business}']) ORDER BY business_id FOR NO KEY UPDATE;
-- a debit's posting, with all checks of the ledger [one]
WITH standing AS (
    UPDATE wallets SET balance_paise = balance_paise - 100, entry_count = entry_count + 1
    WHERE business_id = '{business}' RETURNING balance_paise, entry_count
), added_entries AS (
    INSERT INTO entries (transfer_id, account, business_id, amount_paise, sequence, balance_after_paise, created_at)
    SELECT 'trf_new', account, '{business}', amount, CASE WHEN amount < 0 THEN entry_count END,
        CASE WHEN amount < 0 THEN balance_paise END, now()
    FROM standing CROSS JOIN (VALUES ('business_wallet', -100), ('fee_income', 100)) AS line (account, amount)
), added_transfers AS (
    INSERT INTO transfers (id, kind, business_id, order_id, created_at)
    VALUES ('trf_new', 'delivery_fee', '{business}', 'ord_new', now())
), added_debits AS (
    INSERT INTO debits (order_id, attempt, business_id, amount_paise, outcome, transfer_id, balance_after_paise, created_at)
    SELECT 'ord_new', 1, '{business}', 100, 'posted', 'trf_new', balance_paise, now() FROM standing
)
SELECT count(*) FROM standing;
-- the posted debit that a refund takes back [one]
SELECT transfer_id, amount_paise FROM debits WHERE order_id = '{order}' AND business_id = '{business}' AND outcome = 'posted';
-- a page of a statement [one]
SELECT transfers.id, kind, amount_paise, sequence, balance_after_paise FROM entries
JOIN transfers ON transfers.id = entries.transfer_id AND transfers.business_id = entries.business_id
WHERE entries.business_id = '{business}' AND transfers.business_id = '{business}' AND entries.sequence < 500
ORDER BY entries.sequence DESC LIMIT 50;
-- cash of a business [one]
SELECT order_id FROM cash WHERE business_id = '{business}' ORDER BY order_id DESC LIMIT 50;
-- what is known of an order's debits, whichever the business [each]
SELECT order_id, attempt, business_id, outcome FROM debits WHERE order_id = ANY (ARRAY['{order}']);
-- a portion of reconciliation, of all businesses [each]
SELECT max(id), count(*) FROM (SELECT id FROM transfers WHERE id > '{transfer}' ORDER BY id LIMIT 1000) AS chunk;
