-- Simulated deliveries of test orders. Each step schedules the next one in its transaction, so that a run continues
-- after a restart. The last step deletes the row.
CREATE TABLE simulations (
    order_id    TEXT COLLATE "C" PRIMARY KEY REFERENCES orders (id),
    business_id TEXT COLLATE "C" NOT NULL,
    scenario    TEXT NOT NULL CHECK (scenario IN ('delivered', 'failed', 'cancelled', 'no_driver')),
    steps_done  INTEGER NOT NULL CHECK (steps_done >= 0),
    next_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX simulations_due ON simulations (next_at);
