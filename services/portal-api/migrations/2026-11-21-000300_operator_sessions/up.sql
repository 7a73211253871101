-- Sessions of the operator's console.
CREATE TABLE operator_sessions (
    -- HMAC-SHA-256 of the cookie's value with the operator's token as the key: changing the token ends all sessions.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX operator_sessions_by_expiry ON operator_sessions (expires_at);
