-- What an endpoint missed is looked for among the events of its business, and not of all of them. In an order of words that is
-- asked for by name: plans that are made while the table is empty must not take this index for its key.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_of_business ON events (business_id COLLATE "POSIX", event_id COLLATE "POSIX");
