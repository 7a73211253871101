ALTER TABLE order_events DROP COLUMN feed_at, DROP COLUMN personal_data_erased_at;
