-- compatible with release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS entries_key ON entries (transfer_id, account, business_id);
