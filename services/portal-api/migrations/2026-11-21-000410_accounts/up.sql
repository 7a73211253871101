-- Several people for one business, each with a role; who was invited; and what a session tells of its browser.

ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users ADD CONSTRAINT users_role_check CHECK (role IN ('owner', 'developer', 'viewer'));
ALTER TABLE users ADD COLUMN last_seen_at TIMESTAMPTZ;
CREATE INDEX users_by_business ON users (business_id, id);

-- As the browser called itself when it logged in, cut short.
ALTER TABLE sessions ADD COLUMN user_agent TEXT CHECK (char_length(user_agent) <= 300);

CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the link's secret: who reads this table cannot accept anything.
    token_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
    -- Who invited, and their e-mail as it was then. They may be gone since.
    invited_by TEXT COLLATE "C" NOT NULL,
    invited_by_email TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- Inviting somebody again replaces the older invitation.
    CONSTRAINT invitations_one_of_each UNIQUE (business_id, email_key)
);

CREATE INDEX invitations_by_expiry ON invitations (expires_at);

ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_address', 'sign_up_address', 'invitation_business', 'reset_account', 'reset_address'
    )
);
