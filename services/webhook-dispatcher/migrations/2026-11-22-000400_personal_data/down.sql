ALTER TABLE order_streams DROP COLUMN personal_data_erased_at;
