-- compatible with release 1: what it writes refers to its own business; what is dropped is another form of what stays.
-- The new keys replace the former ones, and references include the business: for new rows from now on, and after 000509 for
-- existing rows. Reads no rows, so locks are short.
-- The first DROPs lock the tables: LOCK TABLE needs a right to change rows, which nobody has in the ledger.
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '500ms', true);
    FOR try IN 1..100 LOOP
        BEGIN
            ALTER TABLE entries DROP CONSTRAINT entries_transfer_id_fkey, DROP CONSTRAINT entries_pkey;
            ALTER TABLE transfers DROP CONSTRAINT transfers_reverses_fkey;
            ALTER TABLE debits DROP CONSTRAINT debits_pkey;
            ALTER TABLE cash DROP CONSTRAINT cash_pkey;
            ALTER TABLE top_ups DROP CONSTRAINT top_ups_transfer_id_fkey;
            ALTER TABLE payment_notices DROP CONSTRAINT payment_notices_top_up_id_fkey;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF try = 100 THEN RAISE; END IF;
            PERFORM pg_sleep(0.2);
        END;
    END LOOP;
END $$;
ALTER TABLE transfers
    DROP CONSTRAINT transfers_pkey,
    ADD CONSTRAINT transfers_pkey PRIMARY KEY USING INDEX transfers_key;
ALTER TABLE entries ADD CONSTRAINT entries_pkey PRIMARY KEY USING INDEX entries_key;
ALTER TABLE debits ADD CONSTRAINT debits_pkey PRIMARY KEY USING INDEX debits_key;
ALTER TABLE cash ADD CONSTRAINT cash_pkey PRIMARY KEY USING INDEX cash_key;
ALTER TABLE top_ups
    DROP CONSTRAINT top_ups_pkey,
    ADD CONSTRAINT top_ups_pkey PRIMARY KEY USING INDEX top_ups_key;
ALTER TABLE transfers ADD CONSTRAINT transfers_reverses_fkey
    FOREIGN KEY (reverses, business_id) REFERENCES transfers (id, business_id) NOT VALID;
ALTER TABLE entries ADD CONSTRAINT entries_transfer_id_fkey
    FOREIGN KEY (transfer_id, business_id) REFERENCES transfers (id, business_id)
    DEFERRABLE INITIALLY DEFERRED NOT VALID;
ALTER TABLE top_ups ADD CONSTRAINT top_ups_transfer_id_fkey
    FOREIGN KEY (transfer_id, business_id) REFERENCES transfers (id, business_id) NOT VALID;
ALTER TABLE payment_notices ADD CONSTRAINT payment_notices_top_up_id_fkey
    FOREIGN KEY (top_up_id, business_id) REFERENCES top_ups (id, business_id) NOT VALID;
DROP INDEX cash_of_a_business, transfers_one_refund_per_order, transfers_one_per_top_up;
ALTER INDEX transfers_one_refund RENAME TO transfers_one_refund_per_order;
ALTER INDEX transfers_one_top_up RENAME TO transfers_one_per_top_up;
