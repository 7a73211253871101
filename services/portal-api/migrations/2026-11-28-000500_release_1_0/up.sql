-- Businesses, their people and sessions; the operator's staff; logs and mails.
--
-- Tokens are stored by their SHA-256, so that a reader of the database can use none: a random value cannot be guessed.

CREATE TABLE businesses (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'suspended')),
    -- How often the business has been suspended. A request to lift a suspension is about one of them: it never lifts a later one.
    suspensions INTEGER NOT NULL DEFAULT 0,
    live_access BOOLEAN NOT NULL,
    subscription_state TEXT NOT NULL
        CHECK (subscription_state IN ('required', 'requested', 'active', 'expired')),
    subscription_plan TEXT,
    -- Requested by the business, and not yet activated by the operator.
    requested_plan TEXT,
    -- When each item of the go-live checklist was completed.
    active_since TIMESTAMPTZ,
    subscription_active_since TIMESTAMPTZ,
    live_access_since TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT businesses_request_names_a_plan
        CHECK (subscription_state <> 'requested' OR requested_plan IS NOT NULL)
);

-- Counts whichever statement suspends.
CREATE FUNCTION count_suspension() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.suspensions := OLD.suspensions + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER count_suspension BEFORE UPDATE OF status ON businesses FOR EACH ROW
    WHEN (NEW.status = 'suspended' AND OLD.status <> 'suspended')
    EXECUTE FUNCTION count_suspension();

-- Pickup profiles. Only complete profiles are stored.
CREATE TABLE pickup_profiles (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id),
    business_name TEXT NOT NULL,
    contact_name TEXT NOT NULL,
    phone TEXT NOT NULL,
    address_line1 TEXT NOT NULL,
    address_line2 TEXT,
    city TEXT NOT NULL,
    state TEXT NOT NULL,
    pincode TEXT NOT NULL,
    landmark TEXT,
    latitude DOUBLE PRECISION,
    longitude DOUBLE PRECISION,
    full_address TEXT,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Go-live facts, from events or from the services that own them. Set once, never unset.
CREATE TABLE go_live_facts (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id),
    successful_test_order_at TIMESTAMPTZ,
    wallet_funded_at TIMESTAMPTZ
);

-- People. Each has one account in their realm: the address that logs in, the password, and what else proves who they are. References
-- contain the realm, so that nothing of one realm acts in the other.
CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- user: of businesses. staff: of the operator.
    realm TEXT COLLATE "C" NOT NULL CHECK (realm IN ('user', 'staff')),
    -- As entered. email_key is the lower-case form, which is unique in its realm and used for look-ups.
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C",
    email_verified_at TIMESTAMPTZ,
    name TEXT CHECK (char_length(name) BETWEEN 1 AND 100),
    -- NULL: the person has none, or has not set it yet.
    password_hash TEXT,
    -- The business whose identity provider has made the account. It has no password, and its address identifies nobody: a provider
    -- that one business has chosen must not occupy an address for the installation.
    provider_of TEXT COLLATE "C" REFERENCES businesses (id),
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT accounts_of_realm UNIQUE (id, realm),
    CONSTRAINT accounts_email_taken UNIQUE (realm, email_key),
    CONSTRAINT accounts_of_providers CHECK (
        (provider_of IS NULL) = (email_key IS NOT NULL)
        AND (provider_of IS NULL OR (realm = 'user' AND password_hash IS NULL))
    ),
    CONSTRAINT accounts_of_staff_are_named CHECK (realm = 'user' OR name IS NOT NULL)
);

-- Users: the businesses of a person, with their role there. Other services know the id of the membership: that of the account would link
-- the businesses of a person.
CREATE TABLE memberships (
    id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL DEFAULT 'user' CHECK (realm = 'user'),
    role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'finance', 'support', 'viewer')),
    created_at TIMESTAMPTZ NOT NULL,
    last_seen_at TIMESTAMPTZ,
    -- References contain these columns, so that they cannot combine a user with another business or account.
    CONSTRAINT memberships_whole UNIQUE (id, business_id, account_id),
    CONSTRAINT memberships_of_business UNIQUE (id, business_id),
    CONSTRAINT memberships_once UNIQUE (account_id, business_id),
    CONSTRAINT memberships_account_fkey FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm)
);

CREATE INDEX memberships_by_business ON memberships (business_id, id);

-- The operator's staff, with their role.
CREATE TABLE staff_roles (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    realm TEXT COLLATE "C" NOT NULL DEFAULT 'staff' CHECK (realm = 'staff'),
    role TEXT NOT NULL CHECK (role IN ('administrator', 'finance', 'support', 'viewer')),
    last_seen_at TIMESTAMPTZ,
    CONSTRAINT staff_roles_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE
);

-- Sessions of users, and of the console.
CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the cookie's value. Of the configured operator token (WAYBILL_OPERATOR__TOKEN): HMAC-SHA-256 with that token as the key,
    -- so that changing the token ends its sessions.
    token_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    realm TEXT COLLATE "C" NOT NULL,
    -- NULL: a session of the configured operator token.
    account_id TEXT COLLATE "C",
    -- The membership of a user.
    business_id TEXT COLLATE "C" REFERENCES businesses (id),
    user_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    -- When the person last authenticated.
    authenticated_at TIMESTAMPTZ NOT NULL,
    last_seen_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ,
    -- Whether an identity provider has authenticated the person.
    single_sign_on BOOLEAN NOT NULL,
    -- The IP address at the log-in; for IPv6 its /64 network.
    address TEXT CHECK (char_length(address) <= 64),
    -- The User-Agent at the log-in, truncated.
    user_agent TEXT CHECK (char_length(user_agent) <= 300),
    -- Whether the person had not logged in from this browser before. NULL after a sign-up and the like.
    new_browser BOOLEAN,
    CONSTRAINT sessions_of_realm CHECK (
        (realm = 'user') = (user_id IS NOT NULL) AND (user_id IS NULL) = (business_id IS NULL)
        AND (account_id IS NOT NULL OR realm = 'staff')
    ),
    CONSTRAINT sessions_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE,
    CONSTRAINT sessions_user_fkey FOREIGN KEY (user_id, business_id, account_id)
        REFERENCES memberships (id, business_id, account_id)
);

CREATE INDEX sessions_by_account ON sessions (account_id, id);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE invitations (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the link's token.
    token_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'finance', 'support', 'viewer')),
    -- The inviter and their e-mail address at that time. The user may have been removed since.
    invited_by TEXT COLLATE "C" NOT NULL,
    invited_by_email TEXT NOT NULL,
    -- Whether the link went to the invited address only. Without mails, the inviter passes it on.
    mailed BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- A new invitation replaces the older one to the same address.
    CONSTRAINT invitations_one_of_each UNIQUE (business_id, email_key)
);

CREATE INDEX invitations_by_expiry ON invitations (expires_at);

-- Links that set the password of an account. Each works once.
CREATE TABLE password_links (
    -- SHA-256 of the link's token.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL,
    -- The person of the operator's staff who issued the link; the link ends with that person. NULL: requested by the user, or
    -- issued by a token or a command.
    issued_by TEXT COLLATE "C" REFERENCES staff_roles (account_id) ON DELETE CASCADE,
    -- The address that the link was mailed to, in lower case. NULL: it was passed on by hand.
    mailed_to TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT password_links_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE
);

CREATE INDEX password_links_by_account ON password_links (account_id, created_at);
CREATE INDEX password_links_by_issuer ON password_links (issued_by);
CREATE INDEX password_links_by_expiry ON password_links (expires_at);

-- Links that confirm an e-mail address. Each works once, for 24 hours.
CREATE TABLE email_confirmations (
    -- SHA-256 of the link's token.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL DEFAULT 'user' CHECK (realm = 'user'),
    -- The address that the link was mailed to.
    email TEXT NOT NULL,
    -- Whether the user changes to this address, and the session that requested it.
    is_change BOOLEAN NOT NULL,
    session_id TEXT COLLATE "C",
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- A used link still answers that the address is confirmed.
    used_at TIMESTAMPTZ,
    CONSTRAINT email_confirmations_change_in_a_session CHECK (is_change = (session_id IS NOT NULL)),
    CONSTRAINT email_confirmations_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE
);

CREATE INDEX email_confirmations_by_account ON email_confirmations (account_id, created_at);
CREATE INDEX email_confirmations_by_expiry ON email_confirmations (expires_at);

-- Attempts that count against rate limits, shared by all instances.
CREATE TABLE attempts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope TEXT NOT NULL CHECK (
        scope IN (
            'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
            'log_in_success_address', 'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account',
            'reset_account_address', 'reset_address', 'reset_browser', 'second_factor_account', 'second_factor_account_address',
            'second_factor_browser', 'email_confirmation_account', 'email_confirmation_recipient',
            'email_confirmation_inbox', 'reset_inbox'
        )
    ),
    -- SHA-256 of the account's e-mail address or of the IP address.
    subject BYTEA NOT NULL CHECK (octet_length(subject) = 32),
    attempted_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX attempts_by_subject ON attempts (scope, subject, attempted_at);
CREATE INDEX attempts_by_time ON attempts (attempted_at);

-- Named operator tokens for automation. They open no sessions, and the configured token is not among them.
CREATE TABLE operator_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    -- The lower-case form of the name.
    name_key TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('administrator', 'finance', 'support', 'viewer')),
    secret_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    -- The secret before the rotation, which works until then.
    previous_hash BYTEA UNIQUE CHECK (octet_length(previous_hash) = 32),
    previous_until TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    disabled_at TIMESTAMPTZ,
    CONSTRAINT operator_tokens_previous_ends CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
);

CREATE UNIQUE INDEX operator_tokens_name ON operator_tokens (name_key) WHERE disabled_at IS NULL;

-- At most one row: above this amount, credits and debits of wallets need a second person. Never above the setting.
CREATE TABLE approval_limit (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    credits_above_paise BIGINT NOT NULL CHECK (credits_above_paise >= 0),
    changed_at TIMESTAMPTZ NOT NULL
);

-- Requests of the operator that need the approval of a second person.
CREATE TABLE operator_approvals (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL
        CHECK (kind IN ('credit', 'debit', 'raise_limit', 'lift_suspension', 'issue_reset_link')),
    about_business TEXT COLLATE "C",
    -- What is executed. Contains no secrets and no addresses.
    parameters JSONB NOT NULL CHECK (jsonb_typeof(parameters) = 'object'),
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('pending', 'approved', 'executed', 'failed', 'rejected', 'withdrawn')),
    requester_type TEXT NOT NULL CHECK (requester_type IN ('person', 'token', 'configuration')),
    requester_id TEXT COLLATE "C",
    -- The e-mail address of the person, or the name of the token, at that time.
    requester_name TEXT NOT NULL,
    requested_at TIMESTAMPTZ NOT NULL,
    -- NULL when the request cannot expire any more.
    expires_at TIMESTAMPTZ,
    -- The person of the staff who approved or rejected.
    decider_id TEXT COLLATE "C",
    decider_email TEXT,
    decided_at TIMESTAMPTZ,
    reason TEXT,
    ended_at TIMESTAMPTZ,
    -- The id of the transfer, or why the request failed.
    outcome TEXT,
    -- When another call had moved the money of the same reference.
    booked_at TIMESTAMPTZ,
    CONSTRAINT operator_approvals_about_a_business CHECK ((about_business IS NULL) = (kind = 'raise_limit')),
    CONSTRAINT operator_approvals_decider_is_whole
        CHECK ((decider_id IS NULL) = (decided_at IS NULL) AND (decider_id IS NULL) = (decider_email IS NULL)),
    CONSTRAINT operator_approvals_four_eyes CHECK (decider_id IS NULL OR decider_id IS DISTINCT FROM requester_id),
    CONSTRAINT operator_approvals_decided
        -- A request to lift a suspension fails with the end of that suspension.
        CHECK (decider_id IS NOT NULL OR state IN ('pending', 'withdrawn') OR (state = 'failed' AND kind = 'lift_suspension')),
    CONSTRAINT operator_approvals_ended CHECK ((ended_at IS NULL) = (state IN ('pending', 'approved'))),
    CONSTRAINT operator_approvals_expire_while_open CHECK (expires_at IS NULL OR ended_at IS NULL)
);

CREATE INDEX operator_approvals_open ON operator_approvals (requested_at) WHERE ended_at IS NULL;

-- Second factors of accounts.
CREATE TABLE second_factors (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    realm TEXT COLLATE "C" NOT NULL,
    -- AES-256-GCM, bound to the account.
    sealed_secret BYTEA NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    -- NULL until a code of the app has confirmed the secret. Only a confirmed factor counts.
    confirmed_at TIMESTAMPTZ,
    -- The period of 30 s of the latest accepted code: a code is accepted once only.
    last_step BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT second_factors_of_realm UNIQUE (account_id, realm),
    CONSTRAINT second_factors_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE
);

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
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL,
    -- SHA-256 of the stored password hash: a new password ends the challenge.
    password_digest BYTEA NOT NULL CHECK (octet_length(password_digest) = 32),
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT log_in_challenges_factor_fkey
        FOREIGN KEY (account_id, realm) REFERENCES second_factors (account_id, realm) ON DELETE CASCADE
);

CREATE INDEX log_in_challenges_by_account ON log_in_challenges (account_id);
CREATE INDEX log_in_challenges_by_expiry ON log_in_challenges (expires_at);

-- Passkeys of accounts. They belong to a second factor, and end with it.
CREATE TABLE passkeys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL,
    -- Chosen by the authenticator. A passkey is one of one account.
    credential_id BYTEA NOT NULL CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    -- The public key and its properties. No secret.
    credential JSONB NOT NULL,
    -- The highest number that the authenticator has signed. 0 for authenticators that do not count.
    sign_count BIGINT NOT NULL DEFAULT 0 CHECK (sign_count >= 0),
    name TEXT NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
    created_at TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ,
    CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
    CONSTRAINT passkeys_factor_fkey
        FOREIGN KEY (account_id, realm) REFERENCES second_factors (account_id, realm) ON DELETE CASCADE
);

CREATE INDEX passkeys_by_account ON passkeys (account_id, id);

-- Challenges that authenticators have not signed yet, to add a passkey, to log in, or to confirm a session.
CREATE TABLE passkey_ceremonies (
    -- SHA-256 of the purpose, and of the session or the log-in that it belongs to: each has one at a time.
    ceremony_hash BYTEA PRIMARY KEY CHECK (octet_length(ceremony_hash) = 32),
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL,
    state JSONB NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT passkey_ceremonies_factor_fkey
        FOREIGN KEY (account_id, realm) REFERENCES second_factors (account_id, realm) ON DELETE CASCADE
);

CREATE INDEX passkey_ceremonies_by_account ON passkey_ceremonies (account_id);
CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_at);

-- Single sign-on of businesses with identity providers of their own.
CREATE TABLE business_sso (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id) ON DELETE CASCADE,
    issuer TEXT COLLATE "C" NOT NULL,
    client_id TEXT NOT NULL,
    -- AES-256-GCM, bound to the business.
    sealed_secret BYTEA NOT NULL,
    -- Separated by spaces.
    scopes TEXT NOT NULL,
    groups_claim TEXT NOT NULL,
    -- [{"group": …, "role": …}, …]: of several groups of a person, the first in this list counts.
    group_roles JSONB NOT NULL,
    -- Of people in none of the groups. NULL: they cannot log in.
    default_role TEXT CHECK (default_role IN ('developer', 'finance', 'support', 'viewer')),
    -- Of people with the default role. Without any, they must be in a group.
    allowed_domains TEXT[] NOT NULL,
    -- Whether only owners may log in with a password.
    required BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Who people are at identity providers. Never by an e-mail address, which may be given to somebody else.
CREATE TABLE identities (
    -- The business whose provider it is. NULL: the operator's.
    business_id TEXT COLLATE "C",
    issuer TEXT COLLATE "C" NOT NULL,
    -- The `sub` claim: at most 255 ASCII characters (OpenID Connect Core §2).
    subject TEXT COLLATE "C" NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
    account_id TEXT COLLATE "C" NOT NULL,
    realm TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- Of the staff: since when the groups of the person at the provider give no role. NULL: the latest log-in had one.
    role_lost_at TIMESTAMPTZ,
    CONSTRAINT identities_once UNIQUE NULLS NOT DISTINCT (business_id, issuer, subject),
    CONSTRAINT identities_by_account UNIQUE NULLS NOT DISTINCT (account_id, business_id, issuer),
    CONSTRAINT identities_of_realm CHECK ((realm = 'user') = (business_id IS NOT NULL)),
    CONSTRAINT identities_account_fkey
        FOREIGN KEY (account_id, realm) REFERENCES accounts (id, realm) ON DELETE CASCADE,
    CONSTRAINT identities_user_fkey
        FOREIGN KEY (account_id, business_id) REFERENCES memberships (account_id, business_id) ON DELETE CASCADE
);

-- Visits to a provider that have not returned. Each can be completed once, by the browser that started it. Its state, nonce
-- and code verifier derive from the cookie, and are not stored.
CREATE TABLE sso_log_ins (
    -- SHA-256 of the cookie's value.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    -- The business whose provider is visited. NULL: the provider of the operator's staff.
    business_id TEXT COLLATE "C",
    issuer TEXT COLLATE "C" NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('log_in', 'confirm', 'link')),
    -- SHA-256 of the session's cookie that is confirmed, or whose account is linked.
    session_hash BYTEA CHECK (octet_length(session_hash) = 32),
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sso_log_ins_of_sessions CHECK ((session_hash IS NULL) = (purpose = 'log_in'))
);

CREATE INDEX sso_log_ins_by_expiry ON sso_log_ins (expires_at);

-- Old entries of the audit logs are deleted; entries are never updated.
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END;
$$;

-- The audit log of a business. Ids sort by time. Contains no secrets, phone numbers, postal addresses or bodies.
CREATE TABLE audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    at TIMESTAMPTZ NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    actor_type TEXT NOT NULL CHECK (actor_type IN ('user', 'operator', 'system')),
    -- The user and their e-mail address at that time. The user may have been removed since.
    actor_user_id TEXT COLLATE "C",
    actor_email TEXT,
    -- The address of users and of failed log-ins. NULL for the operator, whose addresses are in its own log only.
    address TEXT,
    target_type TEXT,
    target_id TEXT COLLATE "C",
    target_label TEXT,
    request_id TEXT COLLATE "C",
    details JSONB NOT NULL CHECK (jsonb_typeof(details) = 'object'),
    CONSTRAINT audit_log_users_are_named
        CHECK ((actor_type = 'user') = (actor_user_id IS NOT NULL) AND (actor_user_id IS NULL) = (actor_email IS NULL)),
    CONSTRAINT audit_log_targets_are_whole CHECK ((target_type IS NULL) = (target_id IS NULL))
);

CREATE INDEX audit_log_by_business ON audit_log (business_id, id);
CREATE INDEX audit_log_by_action ON audit_log (business_id, action, id);
CREATE INDEX audit_log_by_user ON audit_log (business_id, actor_user_id, id);
CREATE INDEX audit_log_by_address ON audit_log (business_id, address, id) WHERE address IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON audit_log EXECUTE FUNCTION refuse_rewriting();

-- Actions of the operator, and its reads of personal data. Ids sort by time. Contains no secrets, customers' data, postal
-- addresses or bodies.
CREATE TABLE operator_audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    at TIMESTAMPTZ NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    actor_type TEXT NOT NULL CHECK (actor_type IN ('person', 'token', 'configuration', 'command', 'unknown')),
    actor_id TEXT COLLATE "C",
    -- The e-mail address of the person, or the name of the token, at that time.
    actor_name TEXT NOT NULL,
    -- The IP address of the caller; for IPv6 its /64 network.
    address TEXT,
    -- The business that the entry is about.
    about_business TEXT COLLATE "C",
    target_type TEXT,
    target_id TEXT COLLATE "C",
    target_label TEXT,
    request_id TEXT COLLATE "C",
    details JSONB NOT NULL CHECK (jsonb_typeof(details) = 'object'),
    CONSTRAINT operator_audit_log_targets_are_whole CHECK ((target_type IS NULL) = (target_id IS NULL))
);

CREATE INDEX operator_audit_log_by_action ON operator_audit_log (action, id);
CREATE INDEX operator_audit_log_by_actor ON operator_audit_log (actor_name, id);
CREATE INDEX operator_audit_log_by_address ON operator_audit_log (address, id) WHERE address IS NOT NULL;
CREATE INDEX operator_audit_log_by_business ON operator_audit_log (about_business, id);
CREATE INDEX operator_audit_log_by_request ON operator_audit_log (request_id);
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON operator_audit_log EXECUTE FUNCTION refuse_rewriting();

-- Queued mails, of businesses and to the operator's staff. Inserted with the change that causes them, and deleted once sent or failed.
CREATE TABLE mails (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    business_id TEXT COLLATE "C" REFERENCES businesses (id),
    staff_id TEXT COLLATE "C" REFERENCES staff_roles (account_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text_body TEXT NOT NULL,
    html_body TEXT NOT NULL,
    -- The encrypted token of the mail's link, so that a reader of this table cannot use it. The texts contain a placeholder.
    sealed_token BYTEA,
    created_at TIMESTAMPTZ NOT NULL,
    -- The time of the next attempt.
    due_at TIMESTAMPTZ NOT NULL,
    -- After this time the mail is useless.
    expires_at TIMESTAMPTZ NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    CONSTRAINT mails_of_one_owner CHECK (num_nonnulls(business_id, staff_id) = 1)
);

CREATE INDEX mails_by_due ON mails (due_at);
CREATE INDEX mails_by_business ON mails (business_id);
CREATE INDEX mails_by_staff ON mails (staff_id);
