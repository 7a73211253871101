-- Reconciliation: the cursors of the scans, and the open findings.

-- One row: the lease of the current run, and the result of the last one.
CREATE TABLE reconciliation_runs (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    -- The start of the next run. During a run, its instance moves this ahead as a lease, so that another instance takes over
    -- if it dies.
    next_at TIMESTAMPTZ NOT NULL,
    holder TEXT,
    -- The last complete run.
    completed_at TIMESTAMPTZ,
    duration_ms BIGINT CHECK (duration_ms >= 0),
    rows_checked BIGINT CHECK (rows_checked >= 0),
    -- Missing steps between the services that were too recent to be findings.
    under_way BIGINT NOT NULL DEFAULT 0 CHECK (under_way >= 0)
);
INSERT INTO reconciliation_runs (next_at) VALUES ('epoch');

CREATE TABLE reconciliation_cursors (
    feed TEXT PRIMARY KEY,
    -- The cursor of new rows.
    recent TEXT COLLATE "C" NOT NULL,
    -- The cursor of the sweep through the whole history, and the last time that it reached the end.
    sweep TEXT COLLATE "C" NOT NULL,
    swept_at TIMESTAMPTZ
);

-- Open findings. Each run checks them again first.
CREATE TABLE reconciliation_findings (
    check_name TEXT NOT NULL,
    -- The id of a transfer, order, top-up or business.
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT NOT NULL,
    found_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (check_name, subject)
);
