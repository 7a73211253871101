-- Businesses, their users, sessions, pickup profiles and go-live facts.

CREATE TABLE businesses (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'suspended')),
    live_access BOOLEAN NOT NULL,
    subscription_state TEXT NOT NULL
        CHECK (subscription_state IN ('required', 'requested', 'active', 'expired')),
    subscription_plan TEXT,
    -- Requested by the business, and not yet activated by the operator.
    requested_plan TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT businesses_request_names_a_plan
        CHECK (subscription_state <> 'requested' OR requested_plan IS NOT NULL)
);

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    -- As entered. email_key is the lower-case form, which is unique and used for look-ups.
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C" NOT NULL,
    password_hash TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner')),
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT users_email_taken UNIQUE (email_key),
    -- Sessions reference both columns, so that they cannot combine a user with another business.
    CONSTRAINT users_of_business UNIQUE (id, business_id)
);

CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the cookie's value, so that a reader of this table cannot log in.
    token_hash BYTEA NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    business_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    last_seen_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ,
    FOREIGN KEY (user_id, business_id) REFERENCES users (id, business_id)
);

CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

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

-- Attempts that count against rate limits, shared by all instances.
CREATE TABLE attempts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('log_in_account', 'log_in_address', 'sign_up_address')),
    -- SHA-256 of the account's e-mail address or of the IP address.
    subject BYTEA NOT NULL CHECK (octet_length(subject) = 32),
    attempted_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX attempts_by_subject ON attempts (scope, subject, attempted_at);
CREATE INDEX attempts_by_time ON attempts (attempted_at);
