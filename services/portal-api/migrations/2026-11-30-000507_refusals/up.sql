-- What the operator last refused a business: its approval, or live access. A later approval deletes the row.
CREATE TABLE refusals (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id),
    -- The owners read it.
    reason TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
    refused_at TIMESTAMPTZ NOT NULL,
    -- When an owner asked again.
    asked_again_at TIMESTAMPTZ CHECK (asked_again_at >= refused_at)
);
