-- Businesses that are being closed, or are closed (SPECIFICATION §13.7). A row switches nothing off: live access is in `businesses`,
-- so that programs that do not know this table refuse live orders too.
CREATE TABLE closings (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id),
    requested_at TIMESTAMPTZ NOT NULL,
    by_operator BOOLEAN NOT NULL,
    reason TEXT CHECK (length(reason) BETWEEN 1 AND 500),
    -- Whether live access was on, and the operator has not switched it off since.
    restores_live_access BOOLEAN NOT NULL,
    completed_at TIMESTAMPTZ,
    -- Until then, the law keeps the books.
    erase_after TIMESTAMPTZ,
    erased_at TIMESTAMPTZ CHECK (erased_at >= erase_after),
    CONSTRAINT closings_end CHECK ((completed_at IS NULL) = (erase_after IS NULL))
);
