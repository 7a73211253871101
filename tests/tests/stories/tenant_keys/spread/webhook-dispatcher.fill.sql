INSERT INTO endpoints (id, business_id, url, events, modes, paused, secret_ciphertext, secret_key_id, created_at, updated_at)
SELECT 'whe_' || lpad(n::text, 26, '0'), 'biz_' || lpad(n::text, 26, '0'), 'https://shop.example/hook', ARRAY['order.created'],
    ARRAY['live'], false, '', 'key', now(), now()
FROM generate_series(0, {businesses} - 1) AS n;
INSERT INTO endpoint_health (endpoint_id, business_id, connection_test) SELECT id, business_id, 'not_tested' FROM endpoints;
INSERT INTO order_streams (order_id, business_id, next_sequence)
SELECT 'ord_' || lpad(n::text, 26, '0'), 'biz_' || lpad((n % {businesses})::text, 26, '0'), 2 FROM generate_series(1, {rows}) AS n;
INSERT INTO events (event_id, business_id, order_id, sequence, kind, mode, order_reference, body, occurred_at)
SELECT 'evt_' || substr(order_id, 5), business_id, order_id, 1, 'order.created', 'live', 'reference-' || substr(order_id, 5),
    decode(repeat('7b', 300), 'hex'), timestamptz '2026-01-01' + substr(order_id, 5)::bigint * interval '1 second'
FROM order_streams;
INSERT INTO deliveries (id, event_id, endpoint_id, business_id, order_id, sequence, kind, in_turn, state, attempts,
    earlier_attempts, due_at, created_at, completed_at)
SELECT 'whd_' || substr(event_id, 5), event_id, 'whe_' || substr(business_id, 5), business_id, order_id, sequence, kind, true,
    CASE WHEN is_due THEN 'pending' ELSE 'succeeded' END, 1, 0, CASE WHEN is_due THEN occurred_at END, occurred_at,
    CASE WHEN NOT is_due THEN occurred_at END
FROM events CROSS JOIN LATERAL (SELECT substr(event_id, 5)::bigint % 97 = 0 AS is_due) AS due;
INSERT INTO attempts (delivery_id, number, business_id, started_at, duration_ms, response_status, succeeded, request_headers,
    response_headers)
SELECT id, 1, business_id, created_at, 20, 200, true, '{}', '{}' FROM deliveries;
