-- A refund takes back a posted debit of its own business, of which an order has one.
CREATE UNIQUE INDEX CONCURRENTLY transfers_one_refund ON transfers (order_id, business_id) WHERE kind = 'refund';
