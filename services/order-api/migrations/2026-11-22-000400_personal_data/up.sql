-- Since when an order tells nothing of people any more: of its details amounts, measures and PIN codes are left, of its events
-- the cash, and its fingerprint is 32 zero bytes.
ALTER TABLE orders ADD COLUMN personal_data_erased_at TIMESTAMPTZ;

-- The latest wish of each business to have all its completed orders erased. The row's lock is the worker's lease: a portion
-- of orders and how far it came commit together.
CREATE TABLE erasures (
    business_id   TEXT COLLATE "C" PRIMARY KEY,
    requested_at  TIMESTAMPTZ NOT NULL,
    -- Everything up to this order was looked at.
    after_id      TEXT COLLATE "C" NOT NULL,
    erased        BIGINT NOT NULL CHECK (erased >= 0),
    not_completed BIGINT NOT NULL CHECK (not_completed >= 0),
    completed_at  TIMESTAMPTZ
);
CREATE INDEX erasures_running ON erasures (requested_at) WHERE completed_at IS NULL;
