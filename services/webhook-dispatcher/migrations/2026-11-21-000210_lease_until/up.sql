-- The end of a lease has a column of its own, which no index holds: taking a delivery then writes no index.
-- What is leased at this moment is due when its lease ends, as before.
ALTER TABLE deliveries
    ADD COLUMN lease_until TIMESTAMPTZ,
    ADD CONSTRAINT deliveries_lease_check CHECK (lease_until IS NULL OR lease_token IS NOT NULL);
