-- Single sign-on of the operator's staff with OpenID Connect. The previous release knows none of these: it keeps the sessions
-- that single sign-on has opened until they end, and opens no new ones.

-- Who a person is at an identity provider. Never an e-mail address, which may be given to somebody else.
CREATE TABLE staff_identities (
    issuer TEXT COLLATE "C" NOT NULL,
    -- The `sub` claim: at most 255 ASCII characters (OpenID Connect Core §2).
    subject TEXT COLLATE "C" NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
    staff_id TEXT COLLATE "C" NOT NULL REFERENCES staff (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE UNIQUE INDEX staff_identities_by_staff ON staff_identities (staff_id, issuer);

-- Visits to the provider that have not returned. Each can be completed once, by the browser that started it. Its state, nonce
-- and code verifier derive from the cookie, and are not stored.
CREATE TABLE sso_log_ins (
    -- SHA-256 of the cookie's value.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    issuer TEXT COLLATE "C" NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('log_in', 'confirm', 'link')),
    -- SHA-256 of the session's cookie that is confirmed, or whose account is linked.
    session_hash BYTEA CHECK (octet_length(session_hash) = 32),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sso_log_ins_of_sessions CHECK ((session_hash IS NULL) = (purpose = 'log_in'))
);

CREATE INDEX sso_log_ins_by_expiry ON sso_log_ins (expires_at);

-- Whether the provider has authenticated the person.
ALTER TABLE staff_sessions ADD COLUMN single_sign_on BOOLEAN NOT NULL DEFAULT FALSE;
