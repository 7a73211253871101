ALTER TABLE endpoint_health
    DROP COLUMN test_event_id,
    DROP COLUMN forged_event_id,
    DROP COLUMN forged_refused,
    DROP COLUMN forged_at;
