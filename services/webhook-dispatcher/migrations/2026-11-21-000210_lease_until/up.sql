-- The end of a lease gets a column without an index, so claims update no index. Deliveries leased now become due when
-- their lease expires, as before.
ALTER TABLE deliveries
    ADD COLUMN lease_until TIMESTAMPTZ,
    ADD CONSTRAINT deliveries_lease_check CHECK (lease_until IS NULL OR lease_token IS NOT NULL);
