-- Reconciliation: how far the books have been looked through, and what is wrong with them.

-- One row: whose turn it is, and how the last turn went.
CREATE TABLE reconciliation_runs (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    -- When the next turn begins. An instance that takes its turn moves it ahead as it goes, so that another one takes
    -- over from it should it die.
    next_at TIMESTAMPTZ NOT NULL,
    holder TEXT,
    -- The last turn that looked at all it was to look at.
    completed_at TIMESTAMPTZ,
    duration_ms BIGINT CHECK (duration_ms >= 0),
    rows_checked BIGINT CHECK (rows_checked >= 0),
    -- Steps between the services that were not done then, and too young to be missed.
    under_way BIGINT NOT NULL DEFAULT 0 CHECK (under_way >= 0)
);
INSERT INTO reconciliation_runs (next_at) VALUES ('epoch');

CREATE TABLE reconciliation_cursors (
    feed TEXT PRIMARY KEY,
    -- What is new is looked at from here.
    recent TEXT COLLATE "C" NOT NULL,
    -- The sweep through the whole history goes on from here; and when it last came to its end.
    sweep TEXT COLLATE "C" NOT NULL,
    swept_at TIMESTAMPTZ
);

-- What was found and is still so. Each turn looks at these again first.
CREATE TABLE reconciliation_findings (
    check_name TEXT NOT NULL,
    -- The id of the transfer, order, top-up or business that it is about.
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT NOT NULL,
    found_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (check_name, subject)
);
