-- A top-up and its transfer have the same business.
-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS transfers_one_top_up ON transfers (reference, business_id) WHERE kind = 'top_up';
