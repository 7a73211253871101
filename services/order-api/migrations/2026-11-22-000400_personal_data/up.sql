-- When the personal data of an order was erased. Its details keep amounts, measures and PIN codes, its events keep the
-- cash, and its fingerprint is 32 zero bytes.
ALTER TABLE orders ADD COLUMN personal_data_erased_at TIMESTAMPTZ;

-- The latest request of each business to erase all its completed orders. The lock of the row is the lease of the
-- worker. A batch of orders commits with its progress.
CREATE TABLE erasures (
    business_id   TEXT COLLATE "C" PRIMARY KEY,
    requested_at  TIMESTAMPTZ NOT NULL,
    -- The last processed order.
    after_id      TEXT COLLATE "C" NOT NULL,
    erased        BIGINT NOT NULL CHECK (erased >= 0),
    not_completed BIGINT NOT NULL CHECK (not_completed >= 0),
    completed_at  TIMESTAMPTZ
);
CREATE INDEX erasures_running ON erasures (requested_at) WHERE completed_at IS NULL;
