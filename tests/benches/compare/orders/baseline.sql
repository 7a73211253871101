\set number random(1, 1000000000000000)
-- The details, the receipt and (cut to its length) the event are bytes that order-api wrote for an order, so that
-- both compress alike.
BEGIN;
INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint,
    tracking_code, order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details, receipt,
    sequence, created_at, updated_at, request_id, key_id)
VALUES ('ord_' || :client_id || '_' || :number, 'biz_01KZZZZZZZZZZZZZZZZZZZZZZZ', 'test', 'placed', 1,
    'reference-' || :client_id || '-' || :number, 'key-' || :client_id || '-' || :number, decode(repeat('ab', 32), 'hex'),
    'TEST-' || :client_id || :number, 'business_website', 'created', 'pending', 'cod', 4900, 129800,
    {details}, {receipt}, 1, now(), now(), 'req_' || lpad(:client_id || '_' || :number, 26, '0'), 'key_01KZZZZZZZZZZZZZZZZZZZZZZZ');
INSERT INTO outbox_messages (event_id, routing_key, body, created_at)
VALUES ('evt_' || :client_id || '_' || :number, 'test.order.created', {event}, now());
COMMIT;
