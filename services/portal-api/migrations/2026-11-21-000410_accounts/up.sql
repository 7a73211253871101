-- Several users per business with roles; invitations; and the browser of each session.

ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users ADD CONSTRAINT users_role_check CHECK (role IN ('owner', 'developer', 'viewer'));
ALTER TABLE users ADD COLUMN last_seen_at TIMESTAMPTZ;
CREATE INDEX users_by_business ON users (business_id, id);

-- The User-Agent at the log-in, truncated.
ALTER TABLE sessions ADD COLUMN user_agent TEXT CHECK (char_length(user_agent) <= 300);

CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the link's token, so that a reader of this table cannot accept invitations.
    token_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
    -- The inviter and their e-mail address at that time. The user may have been removed since.
    invited_by TEXT COLLATE "C" NOT NULL,
    invited_by_email TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- A new invitation replaces the older one to the same address.
    CONSTRAINT invitations_one_of_each UNIQUE (business_id, email_key)
);

CREATE INDEX invitations_by_expiry ON invitations (expires_at);

ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_address', 'sign_up_address', 'invitation_business', 'reset_account', 'reset_address'
    )
);
