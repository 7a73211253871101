-- Requests of the operator that need the approval of a second person. The previous release knows no approvals: it executes
-- every call at once, so switch approvals on after its last instance has ended.

CREATE TABLE operator_approvals (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('credit', 'lift_suspension', 'issue_reset_link')),
    about_business TEXT COLLATE "C" NOT NULL,
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
    -- The id of a credit's transfer, or the code of the refusal.
    outcome TEXT,
    CONSTRAINT operator_approvals_decider_is_whole
        CHECK ((decider_id IS NULL) = (decided_at IS NULL) AND (decider_id IS NULL) = (decider_email IS NULL)),
    CONSTRAINT operator_approvals_four_eyes CHECK (decider_id IS NULL OR decider_id IS DISTINCT FROM requester_id),
    CONSTRAINT operator_approvals_decided
        CHECK (decider_id IS NOT NULL OR state IN ('pending', 'withdrawn')),
    CONSTRAINT operator_approvals_ended CHECK ((ended_at IS NULL) = (state IN ('pending', 'approved'))),
    CONSTRAINT operator_approvals_expire_while_open CHECK (expires_at IS NULL OR ended_at IS NULL)
);

CREATE INDEX operator_approvals_open ON operator_approvals (requested_at) WHERE ended_at IS NULL;

-- The person of the operator's staff who issued the link; the link ends with that person. NULL: requested by the user, or
-- issued by a token.
ALTER TABLE password_resets ADD COLUMN issued_by TEXT COLLATE "C";
