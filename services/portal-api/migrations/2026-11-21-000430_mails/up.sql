-- Mails on their way. Written with the change that causes them, and removed once they are sent or given up: some hold
-- links that let their holders in.

CREATE TABLE mails (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text_body TEXT NOT NULL,
    html_body TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- When it is to be tried, the first time or again.
    due_at TIMESTAMPTZ NOT NULL,
    -- From then on nobody needs it any more.
    expires_at TIMESTAMPTZ NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0)
);

CREATE INDEX mails_by_due ON mails (due_at);
CREATE INDEX mails_by_business ON mails (business_id);
