-- API keys (SPECIFICATION §2.4). The key itself is never stored: `key_hash` is its HMAC-SHA256 under a pepper that lives outside
-- the database, so that a copy of this table opens nothing.
CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (id LIKE 'key\_%'),
    business_id TEXT COLLATE "C" NOT NULL CHECK (business_id LIKE 'biz\_%'),
    mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
    name TEXT NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
    key_hash BYTEA NOT NULL CHECK (octet_length(key_hash) = 32),
    prefix TEXT NOT NULL,
    last_four TEXT NOT NULL CHECK (char_length(last_four) = 4),
    created_at TIMESTAMPTZ NOT NULL,
    -- The user who created the key, or who rotated its predecessor. NULL if the caller named none.
    created_by TEXT COLLATE "C" CHECK (created_by LIKE 'usr\_%'),
    last_used_at TIMESTAMPTZ,
    -- When the key stopped working: revoked by its business, or at its end.
    revoked_at TIMESTAMPTZ,
    -- The end of the key, or of a rotated key's grace period if that is earlier.
    expires_at TIMESTAMPTZ,
    -- The key that this one replaces.
    rotated_from TEXT COLLATE "C",
    -- What the key may do. NULL: everything.
    scopes TEXT[]
        CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['orders:write', 'orders:read', 'events:read']),
    -- Networks in CIDR form. NULL: all.
    ip_allow_list TEXT[] CHECK (cardinality(ip_allow_list) BETWEEN 1 AND 20),
    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
    -- A key is replaced once, by a key of the same business.
    CONSTRAINT api_keys_rotated_from_key UNIQUE (rotated_from),
    CONSTRAINT api_keys_business_id_id_key UNIQUE (business_id, id),
    CONSTRAINT api_keys_rotated_from_fkey
        FOREIGN KEY (business_id, rotated_from) REFERENCES api_keys (business_id, id)
);

-- Lists, newest first.
CREATE INDEX api_keys_newest_first ON api_keys (business_id, created_at DESC, id DESC);
-- Keys that are still to end.
CREATE INDEX api_keys_to_expire ON api_keys (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
