-- Restores the state after 000507.
ALTER TABLE entries DROP CONSTRAINT entries_transfer_id_fkey;
ALTER TABLE transfers DROP CONSTRAINT transfers_reverses_fkey;
ALTER TABLE top_ups DROP CONSTRAINT top_ups_transfer_id_fkey;
ALTER TABLE payment_notices DROP CONSTRAINT payment_notices_top_up_id_fkey;
ALTER TABLE transfers DROP CONSTRAINT transfers_pkey, ADD CONSTRAINT transfers_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX transfers_key ON transfers (id, business_id);
ALTER TABLE entries DROP CONSTRAINT entries_pkey, ADD CONSTRAINT entries_pkey PRIMARY KEY (transfer_id, account);
CREATE UNIQUE INDEX entries_key ON entries (transfer_id, account, business_id);
ALTER TABLE debits DROP CONSTRAINT debits_pkey, ADD CONSTRAINT debits_pkey PRIMARY KEY (order_id, attempt);
CREATE UNIQUE INDEX debits_key ON debits (order_id, attempt, business_id);
ALTER TABLE cash DROP CONSTRAINT cash_pkey, ADD CONSTRAINT cash_pkey PRIMARY KEY (order_id);
CREATE UNIQUE INDEX cash_key ON cash (business_id, order_id);
ALTER TABLE top_ups DROP CONSTRAINT top_ups_pkey, ADD CONSTRAINT top_ups_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX top_ups_key ON top_ups (id, business_id);
ALTER TABLE transfers ADD CONSTRAINT transfers_reverses_fkey FOREIGN KEY (reverses) REFERENCES transfers;
ALTER TABLE entries ADD CONSTRAINT entries_transfer_id_fkey
    FOREIGN KEY (transfer_id) REFERENCES transfers DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE top_ups ADD CONSTRAINT top_ups_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfers;
ALTER TABLE payment_notices ADD CONSTRAINT payment_notices_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_ups;
ALTER INDEX transfers_one_refund_per_order RENAME TO transfers_one_refund;
ALTER INDEX transfers_one_per_top_up RENAME TO transfers_one_top_up;
CREATE UNIQUE INDEX transfers_one_refund_per_order ON transfers (order_id) WHERE kind = 'refund';
CREATE UNIQUE INDEX transfers_one_per_top_up ON transfers (reference) WHERE kind = 'top_up';
CREATE INDEX cash_of_a_business ON cash (business_id, order_id);
