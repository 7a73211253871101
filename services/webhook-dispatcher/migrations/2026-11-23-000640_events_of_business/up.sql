-- Finds missed events among those of one business. The collation must be named in queries: otherwise plans made for the
-- empty table could use this index instead of the key.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_of_business ON events (business_id COLLATE "POSIX", event_id COLLATE "POSIX");
