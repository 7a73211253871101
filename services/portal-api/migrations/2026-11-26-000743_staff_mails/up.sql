-- Queued mails to the operator's staff. Those of `mails` belong to businesses, and the previous release reads their business.
-- They contain no links that grant access.
CREATE TABLE staff_mails (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    staff_id TEXT COLLATE "C" NOT NULL REFERENCES staff (id) ON DELETE CASCADE,
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

CREATE INDEX staff_mails_by_due ON staff_mails (due_at);
CREATE INDEX staff_mails_by_staff ON staff_mails (staff_id);
