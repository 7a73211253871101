-- What came of the test's second request, which carries a wrong signature: whether the receiver refused it, when that could
-- be told, and the events of both. It is no delivery and stands in no log.
ALTER TABLE endpoint_health
    ADD COLUMN test_event_id TEXT COLLATE "C",
    ADD COLUMN forged_event_id TEXT COLLATE "C",
    ADD COLUMN forged_refused BOOLEAN,
    ADD COLUMN forged_at TIMESTAMPTZ;
