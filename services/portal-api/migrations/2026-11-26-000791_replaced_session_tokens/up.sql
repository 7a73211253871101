-- Tokens of sessions that a confirmation has just replaced. Calls that were on their way with the former token still find their
-- session for some seconds. Of users and of the staff: a digest says nothing about its session. The previous release knows only
-- the present token.
CREATE TABLE replaced_session_tokens (
    -- SHA-256 of the former cookie's value.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    -- SHA-256 of the present one's.
    current_hash BYTEA NOT NULL CHECK (octet_length(current_hash) = 32),
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX replaced_session_tokens_by_current ON replaced_session_tokens (current_hash);
CREATE INDEX replaced_session_tokens_by_expiry ON replaced_session_tokens (expires_at);
