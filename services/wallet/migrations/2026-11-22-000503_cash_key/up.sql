-- With the column order of cash_of_a_business, which it replaces too.
-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS cash_key ON cash (business_id, order_id);
