-- A refund reverses a posted debit of its own business; an order has one such debit.
-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS transfers_one_refund ON transfers (order_id, business_id) WHERE kind = 'refund';
