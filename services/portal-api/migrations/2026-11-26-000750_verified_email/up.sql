-- Verified e-mail addresses, and names of users.
--
-- Accounts that exist now count as verified, so that their users keep receiving warnings. The default marks them without rewriting
-- the table, and ends at once: accounts that the previous release creates from now on are unverified.
ALTER TABLE users
    ADD COLUMN email_verified_at TIMESTAMPTZ DEFAULT now(),
    ADD COLUMN name TEXT CHECK (char_length(name) BETWEEN 1 AND 100);
ALTER TABLE users ALTER COLUMN email_verified_at SET DEFAULT NULL;

-- Whether the link went to the invited address only. The previous release also shows it to the inviter.
ALTER TABLE invitations ADD COLUMN mailed BOOLEAN NOT NULL DEFAULT FALSE;

-- The address that the link was mailed to, in lower case. NULL: it was passed on by hand.
ALTER TABLE password_resets ADD COLUMN mailed_to TEXT COLLATE "C";

-- Links that confirm an e-mail address. Each works once, for 24 hours.
CREATE TABLE email_confirmations (
    -- SHA-256 of the link's token, so that a reader of this table cannot confirm addresses.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    -- The address that the link was mailed to.
    email TEXT NOT NULL,
    -- Whether the user changes to this address, and the session that requested it.
    is_change BOOLEAN NOT NULL,
    session_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- A used link still answers that the address is confirmed.
    used_at TIMESTAMPTZ,
    CHECK (is_change = (session_id IS NOT NULL)),
    FOREIGN KEY (user_id, business_id) REFERENCES users (id, business_id) ON DELETE CASCADE
);

CREATE INDEX email_confirmations_by_user ON email_confirmations (user_id, created_at);
CREATE INDEX email_confirmations_by_expiry ON email_confirmations (expires_at);

ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
        'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account', 'reset_account_address',
        'reset_address', 'reset_browser', 'second_factor_account', 'second_factor_account_address', 'second_factor_browser',
        'email_confirmation_account', 'email_confirmation_recipient'
    )
);
