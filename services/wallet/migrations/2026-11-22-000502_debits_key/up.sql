-- Whether an order has paid is asked of the order alone: debits_one_posted_per_order stays as it is, whichever the business.
-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS debits_key ON debits (order_id, attempt, business_id);
