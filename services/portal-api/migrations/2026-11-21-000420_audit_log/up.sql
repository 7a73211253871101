-- The audit log. Entries never change, and ids sort by time. Contains no secrets, phone numbers, postal addresses or bodies.

CREATE TABLE audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    at TIMESTAMPTZ NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    actor_type TEXT NOT NULL CHECK (actor_type IN ('user', 'operator', 'system')),
    -- The user and their e-mail address at that time. The user may have been removed since.
    actor_user_id TEXT COLLATE "C",
    actor_email TEXT,
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

-- Old entries are deleted; entries are never updated.
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END;
$$;

CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON audit_log EXECUTE FUNCTION refuse_rewriting();
