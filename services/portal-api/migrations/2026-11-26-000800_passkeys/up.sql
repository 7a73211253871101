-- Passkeys of users and of the operator's staff. They belong to a confirmed second factor: when either release removes that, its
-- passkeys end with it. The previous release knows none of these, and asks for a code.

CREATE TABLE passkeys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    -- The business of the user. NULL for the staff.
    business_id TEXT COLLATE "C",
    -- Chosen by the authenticator. A passkey is one of one account.
    credential_id BYTEA NOT NULL CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    -- The public key and its properties. No secret.
    credential JSONB NOT NULL,
    -- The highest number that the authenticator has signed. 0 for authenticators that do not count.
    sign_count BIGINT NOT NULL DEFAULT 0 CHECK (sign_count >= 0),
    name TEXT NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id)
);

CREATE INDEX passkeys_by_account ON passkeys (account_id, id);

-- Challenges that authenticators have not signed yet, to add a passkey, to log in, or to confirm a session.
CREATE TABLE passkey_ceremonies (
    -- SHA-256 of the purpose, and of the session or the log-in that it belongs to: each has one at a time.
    ceremony_hash BYTEA PRIMARY KEY CHECK (octet_length(ceremony_hash) = 32),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    business_id TEXT COLLATE "C",
    state JSONB NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX passkey_ceremonies_by_account ON passkey_ceremonies (account_id);
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_at);

-- As before, and the passkeys move with the second factor.
CREATE OR REPLACE FUNCTION pass_on_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    heir users%ROWTYPE;
BEGIN
    SELECT * INTO heir FROM users
        WHERE account_id = OLD.id AND account_business_id = OLD.business_id
        ORDER BY last_seen_at DESC NULLS LAST, id LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE users
        SET account_id = NULL, account_business_id = NULL, email = OLD.email, email_key = OLD.email_key,
            email_verified_at = OLD.email_verified_at, name = OLD.name, password_hash = OLD.password_hash
        WHERE id = heir.id AND business_id = heir.business_id;
    UPDATE users SET account_id = heir.id, account_business_id = heir.business_id
        WHERE account_id = OLD.id AND account_business_id = OLD.business_id;
    -- The previous release may have let a session of the membership set up a factor, which is not that of the account.
    DELETE FROM second_factors WHERE user_id = heir.id AND business_id = heir.business_id;
    -- Locked, so that a confirmation or a used code is not lost.
    PERFORM FROM second_factors WHERE user_id = OLD.id AND business_id = OLD.business_id FOR UPDATE;
    IF FOUND THEN
        INSERT INTO second_factors
                (account_id, business_id, user_id, sealed_secret, started_at, confirmed_at, last_step, bound_to)
            SELECT heir.id, heir.business_id, heir.id, sealed_secret, started_at, confirmed_at, last_step,
                coalesce(bound_to, account_id)
            FROM second_factors WHERE user_id = OLD.id AND business_id = OLD.business_id;
        UPDATE recovery_codes SET account_id = heir.id WHERE account_id = OLD.id;
        UPDATE passkeys SET account_id = heir.id, business_id = heir.business_id
            WHERE account_id = OLD.id AND business_id = OLD.business_id;
    END IF;
    RETURN NULL;
END $$;
