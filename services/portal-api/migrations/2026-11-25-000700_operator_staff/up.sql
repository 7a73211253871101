-- The operator's staff with personal accounts and roles, named operator tokens, and the operator's audit log. The previous
-- release knows none of these: it accepts neither the sessions of persons nor the named tokens.

CREATE TABLE staff (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    -- As entered. email_key is the lower-case form, which is unique and used for look-ups.
    email TEXT NOT NULL,
    email_key TEXT COLLATE "C" NOT NULL CONSTRAINT staff_email_taken UNIQUE,
    -- NULL until the person has set a password with a link.
    password_hash TEXT,
    role TEXT NOT NULL CHECK (role IN ('administrator', 'finance', 'support', 'viewer')),
    created_at TIMESTAMPTZ NOT NULL,
    last_seen_at TIMESTAMPTZ
);

-- Links that set a password. Each person has at most one.
CREATE TABLE staff_links (
    -- SHA-256 of the link's token, so that a reader of this table cannot use it.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    staff_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES staff (id) ON DELETE CASCADE,
    -- The links of an administrator end with the administrator. NULL: created by a token or by the command.
    created_by TEXT COLLATE "C" REFERENCES staff (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX staff_links_by_creator ON staff_links (created_by);
CREATE INDEX staff_links_by_expiry ON staff_links (expires_at);

-- Operator tokens for automation. The configured token (WAYBILL_OPERATOR__TOKEN) is not among them.
CREATE TABLE operator_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    -- The lower-case form of the name.
    name_key TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('administrator', 'finance', 'support', 'viewer')),
    -- SHA-256 of the secret, which is random.
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

-- Console sessions of persons. Those of the configured token are in operator_sessions; named tokens open none.
CREATE TABLE staff_sessions (
    -- SHA-256 of the cookie's value.
    token_hash BYTEA PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    staff_id TEXT COLLATE "C" NOT NULL REFERENCES staff (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
);

CREATE INDEX staff_sessions_by_staff ON staff_sessions (staff_id);
CREATE INDEX staff_sessions_by_expiry ON staff_sessions (expires_at);

-- Actions of the operator, and its reads of personal data. Entries never change, and ids sort by time. Contains no secrets,
-- customers' data, postal addresses or bodies.
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
CREATE INDEX operator_audit_log_by_business ON operator_audit_log (about_business, id);
CREATE INDEX operator_audit_log_by_request ON operator_audit_log (request_id);

CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON operator_audit_log EXECUTE FUNCTION refuse_rewriting();
