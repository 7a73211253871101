-- Reads the tables without blocking writes.
ALTER TABLE transfers VALIDATE CONSTRAINT transfers_reverses_fkey;
ALTER TABLE entries VALIDATE CONSTRAINT entries_transfer_id_fkey;
ALTER TABLE top_ups VALIDATE CONSTRAINT top_ups_transfer_id_fkey;
ALTER TABLE payment_notices VALIDATE CONSTRAINT payment_notices_top_up_id_fkey;
