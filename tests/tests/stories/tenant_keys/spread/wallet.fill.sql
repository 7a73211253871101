-- The ledger's own checks are of what services write, a transaction at a time.
ALTER TABLE wallets DISABLE TRIGGER USER;
ALTER TABLE transfers DISABLE TRIGGER USER;
ALTER TABLE entries DISABLE TRIGGER USER;
ALTER TABLE debits DISABLE TRIGGER USER;
INSERT INTO wallets (business_id, balance_paise, entry_count, funded_at, created_at)
SELECT 'biz_' || lpad(n::text, 26, '0'), 1000000, {rows} / {businesses}, now(), now() FROM generate_series(0, {businesses} - 1) AS n;
INSERT INTO transfers (id, kind, business_id, order_id, created_at)
SELECT 'trf_' || lpad(n::text, 26, '0'), 'delivery_fee', 'biz_' || lpad((n % {businesses})::text, 26, '0'),
    'ord_' || lpad(n::text, 26, '0'), timestamptz '2026-01-01' + n * interval '1 second'
FROM generate_series(1, {rows}) AS n;
INSERT INTO entries (transfer_id, account, business_id, amount_paise, sequence, balance_after_paise, created_at)
SELECT id, account, business_id, amount, CASE WHEN amount < 0 THEN (substr(id, 5)::bigint - 1) / {businesses} + 1 END,
    CASE WHEN amount < 0 THEN 1000000 END, created_at
FROM transfers CROSS JOIN (VALUES ('business_wallet', -4900), ('fee_income', 4900)) AS line (account, amount);
INSERT INTO debits (order_id, attempt, business_id, amount_paise, outcome, transfer_id, balance_after_paise, created_at)
SELECT order_id, 1, business_id, 4900, 'posted', id, 1000000, created_at FROM transfers;
ALTER TABLE wallets ENABLE TRIGGER USER;
ALTER TABLE transfers ENABLE TRIGGER USER;
ALTER TABLE entries ENABLE TRIGGER USER;
ALTER TABLE debits ENABLE TRIGGER USER;
