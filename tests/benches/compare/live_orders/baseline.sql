-- The three commits of a live order: the intent; the debit as wallet writes it, with its ledger; the placed order, with its
-- timeline and its event. In one database and one session instead of two services. The tables are order-api's and, in the
-- schema `money`, the wallet's, with their indexes, constraints and foreign keys, and without the triggers that check the
-- ledger (Waybill pays for them). Rows are as wide as ours, and the ids of one client increase. Nothing is looked up or
-- repeated, and the outbox is not emptied.
\set n :n + 1
\set wallet random(1, :wallets)
INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint,
    tracking_code, order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt,
    sequence, created_at, updated_at, pending_since, request_id, key_id)
VALUES ('ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'),
    'biz_' || lpad(:wallet::text, 26, '0'), 'live', 'pending_payment', 1,
    'reference-' || :run || '-' || :client_id || '-' || :n, 'key-' || :run || '-' || :client_id || '-' || :n,
    decode(repeat('ab', 32), 'hex'), upper(substr(md5('code' || :run || '-' || :client_id || '-' || :n), 1, 14)),
    'business_website', 'created', 'pending', 'cod', 4900, 129800, {details}, {receipt}, 0, now(), now(), now(),
    'req_' || lpad(:client_id::text, 4, '0') || lpad(:n::text, 22, '0'), 'key_00' || lpad(:wallet::text, 24, '0'));
BEGIN;
UPDATE money.wallets SET balance_paise = balance_paise - 4900, entry_count = entry_count + 1
WHERE business_id = 'biz_' || lpad(:wallet::text, 26, '0') AND balance_paise >= 4900
RETURNING balance_paise AS balance, entry_count AS entry \gset
INSERT INTO money.entries (transfer_id, account, business_id, amount_paise, sequence, balance_after_paise, created_at)
VALUES ('trf_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'),
        'business_wallet', 'biz_' || lpad(:wallet::text, 26, '0'), -4900, :entry, :balance, now()),
    ('trf_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'),
        'fee_income', 'biz_' || lpad(:wallet::text, 26, '0'), 4900, NULL, NULL, now());
INSERT INTO money.transfers (id, kind, business_id, order_id, created_at)
VALUES ('trf_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), 'delivery_fee',
    'biz_' || lpad(:wallet::text, 26, '0'),
    'ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), now());
INSERT INTO money.debits
    (order_id, attempt, business_id, amount_paise, outcome, transfer_id, balance_after_paise, created_at)
VALUES ('ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), 1,
    'biz_' || lpad(:wallet::text, 26, '0'), 4900, 'posted',
    'trf_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), :balance, now());
COMMIT;
BEGIN;
UPDATE orders SET placement = 'placed', pending_since = NULL, sequence = 1, updated_at = now()
WHERE id = 'ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0');
INSERT INTO order_events
    (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
VALUES ('ord_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'), 1,
    'evt_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'),
    'biz_' || lpad(:wallet::text, 26, '0'), 'order.created', 'created', 'pending', '{}', now(), now());
INSERT INTO outbox_messages (event_id, routing_key, body, created_at)
VALUES ('evt_' || lpad(:run::text, 4, '0') || lpad(:client_id::text, 4, '0') || lpad(:n::text, 18, '0'),
    'live.order.created', {event}, now());
COMMIT;
