-- a business's subscribed endpoints [one]
SELECT endpoints.id, url FROM endpoints
JOIN endpoint_health AS health ON health.endpoint_id = endpoints.id AND health.business_id = endpoints.business_id
WHERE endpoints.business_id = '{business}' AND deleted_at IS NULL AND 'order.created' = ANY (events) ORDER BY id LIMIT 20;
-- a page of an endpoint's log, whose bounds are compared as rows [each]
SELECT delivery.id, delivery.state, events.order_reference FROM (
    SELECT * FROM deliveries
    WHERE (business_id, endpoint_id, id) < ('{business}', '{endpoint}', '{delivery}')
        AND (business_id, endpoint_id, id) >= ('{business}', '{endpoint}', '')
    ORDER BY business_id DESC, endpoint_id DESC, id DESC LIMIT 20000) AS delivery
JOIN events ON events.event_id = delivery.event_id AND events.business_id = '{business}'
ORDER BY delivery.business_id DESC, delivery.endpoint_id DESC, delivery.id DESC LIMIT 50;
-- one delivery with its attempts [one]
SELECT deliveries.state, events.mode, attempts.response_status FROM deliveries
JOIN events ON events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
JOIN attempts ON attempts.delivery_id = deliveries.id AND attempts.business_id = deliveries.business_id
WHERE deliveries.business_id = '{business}' AND deliveries.id = '{delivery}';
-- what became of an order's events [one]
SELECT deliveries.id, deliveries.state FROM events
JOIN deliveries ON deliveries.event_id = events.event_id AND deliveries.business_id = events.business_id
WHERE events.order_id = '{order}' AND events.business_id = '{business}' AND deliveries.business_id = '{business}'
ORDER BY deliveries.created_at, deliveries.id LIMIT 50;
-- the due deliveries of an endpoint, its business named [one]
SELECT id FROM deliveries
WHERE business_id = '{business}' AND endpoint_id = '{endpoint}' AND due_at <= now() AND lease_until IS NULL
ORDER BY due_at, id LIMIT 10;
-- the due deliveries of an endpoint, as senders ask, who serve all businesses [each]
SELECT id FROM deliveries
WHERE endpoint_id = '{endpoint}' AND due_at <= now() AND lease_until IS NULL ORDER BY due_at, id LIMIT 10;
-- the stream of an order, locked, whichever the business [each]
SELECT order_id, business_id, next_sequence FROM order_streams WHERE order_id = ANY (ARRAY['{order}']) FOR UPDATE;
