-- The position of an event in the feed of its business: a time that is never before the start of the transaction that
-- wrote it, by the database's clock. The default covers the previous release. Older events have none; their position is
-- recorded_at.
ALTER TABLE order_events
    ADD COLUMN feed_at TIMESTAMPTZ,
    -- When personal data was removed from this event. Unknown for events that earlier releases erased.
    ADD COLUMN personal_data_erased_at TIMESTAMPTZ;
-- A statement of its own: with the column, the default would fill existing rows, and rewrite the table.
ALTER TABLE order_events ALTER COLUMN feed_at SET DEFAULT clock_timestamp();
