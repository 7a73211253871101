-- Second factors of users and of the operator's staff. The previous release knows none of these, and would let an enrolled
-- account log in with its password alone: without WAYBILL_MFA__KEY, nobody can enrol.

CREATE TABLE second_factors (
    -- The id of the user or of the person of the staff.
    account_id TEXT COLLATE "C" PRIMARY KEY,
    -- The business of the user.
    business_id TEXT COLLATE "C",
    user_id TEXT COLLATE "C",
    staff_id TEXT COLLATE "C" REFERENCES staff (id) ON DELETE CASCADE,
    -- AES-256-GCM, bound to the account.
    sealed_secret BYTEA NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    -- NULL until a code of the app has confirmed the secret. Only a confirmed factor counts.
    confirmed_at TIMESTAMPTZ,
    -- The period of 30 s of the latest accepted code: a code is accepted once only.
    last_step BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT second_factors_of_one_account CHECK (
        account_id = coalesce(user_id, staff_id) AND num_nonnulls(user_id, staff_id) = 1
        AND (business_id IS NULL) = (user_id IS NULL)
    ),
    FOREIGN KEY (user_id, business_id) REFERENCES users (id, business_id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX second_factors_by_user ON second_factors (user_id);
CREATE UNIQUE INDEX second_factors_by_staff ON second_factors (staff_id);

-- Unused recovery codes. A used one is deleted.
CREATE TABLE recovery_codes (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    -- SHA-256 of the account and the code, which has 120 random bits.
    code_hash BYTEA NOT NULL CHECK (octet_length(code_hash) = 32),
    PRIMARY KEY (account_id, code_hash)
);

-- Log-ins with a right password that wait for the code. They grant nothing else.
CREATE TABLE log_in_challenges (
    -- SHA-256 of the cookie's value.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    account_id TEXT COLLATE "C" NOT NULL REFERENCES second_factors (account_id) ON DELETE CASCADE,
    business_id TEXT COLLATE "C",
    -- SHA-256 of the stored password hash: a new password ends the challenge.
    password_digest BYTEA NOT NULL CHECK (octet_length(password_digest) = 32),
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX log_in_challenges_by_account ON log_in_challenges (account_id);
CREATE INDEX log_in_challenges_by_expiry ON log_in_challenges (expires_at);

-- When the user last authenticated. NULL: when the session was opened.
ALTER TABLE sessions ADD COLUMN authenticated_at TIMESTAMPTZ;
ALTER TABLE staff_sessions ADD COLUMN authenticated_at TIMESTAMPTZ;

-- Wrong codes have limits of their own.
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
        'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account', 'reset_account_address',
        'reset_address', 'reset_browser', 'second_factor_account', 'second_factor_account_address', 'second_factor_browser'
    )
);
