-- The result of the forgery test that follows a connection test: whether the receiver refused the wrong signature (NULL
-- if inconclusive), and the events of both. It is not a delivery and not in the log.
ALTER TABLE endpoint_health
    ADD COLUMN test_event_id TEXT COLLATE "C",
    ADD COLUMN forged_event_id TEXT COLLATE "C",
    ADD COLUMN forged_refused BOOLEAN,
    ADD COLUMN forged_at TIMESTAMPTZ;
