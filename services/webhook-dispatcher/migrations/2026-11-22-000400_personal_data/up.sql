-- Since then nothing is kept or sent that tells of the people of this order, whatever still comes of it.
ALTER TABLE order_streams ADD COLUMN personal_data_erased_at TIMESTAMPTZ;
