-- Password reset links. Each works once, for one hour.

CREATE TABLE password_resets (
    -- SHA-256 of the link's token, so that a reader of this table cannot reset passwords.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (user_id, business_id) REFERENCES users (id, business_id) ON DELETE CASCADE
);

CREATE INDEX password_resets_by_user ON password_resets (user_id, created_at);
CREATE INDEX password_resets_by_expiry ON password_resets (expires_at);
