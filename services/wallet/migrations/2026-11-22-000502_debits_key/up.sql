-- An order pays once for any business, so debits_one_posted_per_order stays unchanged.
-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS debits_key ON debits (order_id, attempt, business_id);
