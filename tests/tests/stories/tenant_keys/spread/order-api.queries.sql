-- a new order [one]
INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint, tracking_code,
    order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt, sequence, created_at,
    updated_at, pending_since)
SELECT new.*, 'live', 'pending_payment', 1, 'new', 'new', decode(repeat('ab', 32), 'hex'), 'NEW', '', 'created', 'not_applicable',
    'prepaid', 4900, 0, '{}', '', 0, now(), now(), now()
FROM unnest(ARRAY['ord_new'], ARRAY['{business}']) AS new (id, business_id)
ON CONFLICT DO NOTHING;
-- the order that holds an idempotency key [one]
SELECT id, placement, attempt, receipt FROM orders
WHERE business_id = '{business}' AND mode = 'live' AND idempotency_key = md5('key' || {row}) AND placement <> 'released';
-- placing what is paid [one]
SELECT id, attempt FROM orders
WHERE id = ANY (ARRAY['{order}']) AND business_id = ANY (ARRAY['{business}']) AND placement = 'pending_payment'
ORDER BY id FOR UPDATE;
-- one order [one]
SELECT id, status, details FROM orders WHERE id = '{order}' AND business_id = '{business}' AND placement = 'placed';
-- a page of orders [one]
SELECT id, status, details FROM orders
WHERE business_id = '{business}' AND placement = 'placed' AND mode = 'live' AND id < '{order}' ORDER BY id DESC LIMIT 50;
-- an order's timeline [one]
SELECT sequence, kind, data FROM order_events WHERE order_id = '{order}' AND business_id = '{business}' ORDER BY sequence LIMIT 100;
-- a move [one]
UPDATE orders SET status = 'returned', sequence = sequence + 1
WHERE id = '{order}' AND business_id = '{business}' AND sequence = 3;
-- the fleet's report, which names the order alone [each]
SELECT id, status FROM orders WHERE id = '{order}' AND mode = 'live' AND placement = 'placed' FOR UPDATE;
-- the tracking page, which has the code alone [each]
SELECT id, status FROM orders WHERE tracking_code = 'TEST-' || upper(substr(md5('code' || {row}), 1, 14)) AND placement = 'placed';
-- what changed, of all businesses, for the fleet [each]
SELECT id, status FROM orders
WHERE mode = 'live' AND placement = 'placed' AND updated_at >= '2026-01-01' ORDER BY updated_at, id LIMIT 100;
