INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint, tracking_code,
    order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt, sequence, created_at,
    updated_at)
SELECT 'ord_' || lpad(n::text, 26, '0'), 'biz_' || lpad((n % {businesses})::text, 26, '0'),
    CASE WHEN n % 10 = 0 THEN 'test' ELSE 'live' END, 'placed', 1, 'reference-' || n, md5('key' || n),
    decode(repeat('ab', 32), 'hex'), 'TEST-' || upper(substr(md5('code' || n), 1, 14)), 'business_website',
    CASE WHEN n % 20 = 0 THEN 'created' ELSE 'delivered' END, 'not_applicable', 'prepaid', 4900, 0,
    jsonb_build_object('customer', repeat(md5(n::text), 16)), decode(repeat(md5(n::text), 16), 'hex'), 3,
    timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second'
FROM generate_series(1, {rows}) AS n;
INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
SELECT id, number, 'evt_' || lpad(((substr(id, 5)::bigint - 1) * 3 + number)::text, 26, '0'), business_id, 'order.created', 'created', 'not_applicable', '{}',
    created_at, created_at + number * interval '1 microsecond'
FROM orders CROSS JOIN generate_series(1, 3) AS number;
INSERT INTO fleet_reports (event_id, order_id, fingerprint, recorded_at, business_id)
SELECT id || '-' || number, id, fingerprint, created_at, business_id
FROM orders CROSS JOIN generate_series(1, 2) AS number WHERE mode = 'live';
