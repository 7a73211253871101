-- When the personal data of the order was erased. Later events are erased on arrival.
ALTER TABLE order_streams ADD COLUMN personal_data_erased_at TIMESTAMPTZ;
