-- Queued mails. Inserted with the change that causes them, and deleted once sent or failed, because some contain links that
-- grant access.

CREATE TABLE mails (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text_body TEXT NOT NULL,
    html_body TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- The time of the next attempt.
    due_at TIMESTAMPTZ NOT NULL,
    -- After this time the mail is useless.
    expires_at TIMESTAMPTZ NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0)
);

CREATE INDEX mails_by_due ON mails (due_at);
CREATE INDEX mails_by_business ON mails (business_id);
