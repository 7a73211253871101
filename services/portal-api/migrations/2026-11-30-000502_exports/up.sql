-- Files with orders or cash of a business, for its users or for the operator's staff (SPECIFICATION §13.6). A worker writes a file in
-- chunks. It may contain customers' data, so all is deleted at the expiry.
CREATE TABLE exports (
    id TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    realm TEXT COLLATE "C" NOT NULL CHECK (realm IN ('user', 'staff')),
    -- The id of the user, or of the person or token of the operator, who asked for it.
    author TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('orders', 'cash')),
    format TEXT NOT NULL CHECK (format IN ('csv', 'xlsx')),
    -- Of the list. May contain a searched phone.
    filter JSONB NOT NULL CHECK (jsonb_typeof(filter) = 'object'),
    shows_customers BOOLEAN NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    failure TEXT,
    -- Also tells the writer of a chunk whether another one has begun the file again.
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    row_count BIGINT NOT NULL DEFAULT 0 CHECK (row_count >= 0),
    percent INTEGER NOT NULL DEFAULT 0 CHECK (percent BETWEEN 0 AND 100),
    chunks INTEGER NOT NULL DEFAULT 0 CHECK (chunks >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    -- When it may be written; while it is written, the end of the lease.
    due_at TIMESTAMPTZ NOT NULL,
    completed_at TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, id),
    CONSTRAINT exports_end_once CHECK ((state IN ('done', 'failed')) = (completed_at IS NOT NULL)),
    CONSTRAINT exports_failures_have_a_reason CHECK ((state = 'failed') = (failure IS NOT NULL))
);

-- One file of a business is written at a time.
CREATE UNIQUE INDEX exports_one_running ON exports (business_id, realm) WHERE state = 'running';
CREATE INDEX exports_by_due ON exports (due_at) WHERE state IN ('waiting', 'running');
CREATE INDEX exports_by_author ON exports (author);
CREATE INDEX exports_by_expiry ON exports (expires_at);

CREATE TABLE export_chunks (
    business_id TEXT COLLATE "C" NOT NULL,
    export_id TEXT COLLATE "C" NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    content BYTEA NOT NULL,
    PRIMARY KEY (business_id, export_id, position),
    CONSTRAINT export_chunks_export_id_fkey
        FOREIGN KEY (business_id, export_id) REFERENCES exports (business_id, id) ON DELETE CASCADE
);
