-- What an endpoint missed is looked for among the events of its business, and not of all of them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_of_business ON events (business_id, event_id);
