-- Test orders that move by themselves. The next step is scheduled here, in the same transaction as the step before it,
-- so that a run goes on where it was after a restart. The row is gone when the run is over.
CREATE TABLE simulations (
    order_id    TEXT COLLATE "C" PRIMARY KEY REFERENCES orders (id),
    business_id TEXT COLLATE "C" NOT NULL,
    scenario    TEXT NOT NULL CHECK (scenario IN ('delivered', 'failed', 'cancelled', 'no_driver')),
    steps_done  INTEGER NOT NULL CHECK (steps_done >= 0),
    next_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX simulations_due ON simulations (next_at);
