CREATE UNIQUE INDEX CONCURRENTLY entries_key ON entries (transfer_id, account, business_id);
