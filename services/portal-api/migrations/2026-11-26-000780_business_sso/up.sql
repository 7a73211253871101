-- Single sign-on of businesses with identity providers of their own. The previous release knows none of these, and does not find
-- the sessions that a provider has opened: their cookies are stored with a digest of their own.

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
    -- Whether only owners may log in with a password.
    required BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Who a user is at the provider of their business. Never an e-mail address, which may be given to somebody else.
CREATE TABLE user_identities (
    business_id TEXT COLLATE "C" NOT NULL,
    issuer TEXT COLLATE "C" NOT NULL,
    -- The `sub` claim: at most 255 ASCII characters (OpenID Connect Core §2).
    subject TEXT COLLATE "C" NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, issuer, subject),
    CONSTRAINT user_identities_by_user UNIQUE (business_id, user_id, issuer),
    FOREIGN KEY (user_id, business_id) REFERENCES users (id, business_id) ON DELETE CASCADE
);

-- Whether the provider of the business has authenticated the user.
ALTER TABLE sessions ADD COLUMN single_sign_on BOOLEAN NOT NULL DEFAULT FALSE;

-- The business whose provider is visited. NULL: the provider of the operator's staff.
ALTER TABLE sso_log_ins ADD COLUMN business_id TEXT COLLATE "C";
