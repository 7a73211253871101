-- A wallet without a ledger: a balance that never goes below zero, and a row per debit, in one transaction. The tables are
-- the wallet's own `wallets` and `debits`, with their indexes and constraints and without their triggers; there are no
-- transfers and no entries. The rows are as wide as ours. The ids of one client increase, like ours, so its rows are
-- appended. Nothing is looked up first: a repeated debit would fail.
\set n :n + 1
\set wallet random(1, :wallets)
BEGIN;
UPDATE wallets SET balance_paise = balance_paise - 4900, entry_count = entry_count + 1
WHERE business_id = 'biz_' || lpad(:wallet::text, 26, '0') AND balance_paise >= 4900;
INSERT INTO debits (order_id, attempt, business_id, amount_paise, outcome, transfer_id, balance_after_paise, created_at)
VALUES ('ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), 1,
    'biz_' || lpad(:wallet::text, 26, '0'), 4900, 'posted',
    'trf_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), 1000000, now());
COMMIT;
