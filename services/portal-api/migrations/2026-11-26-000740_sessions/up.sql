-- Where sessions come from, and when console sessions were last used. NULL in rows of the previous release, which writes none
-- of these.

-- The IP address at the log-in; for IPv6 its /64 network.
ALTER TABLE sessions
    ADD COLUMN address TEXT CHECK (char_length(address) <= 64),
    -- Whether the user had not logged in from this browser before.
    ADD COLUMN new_browser BOOLEAN;

-- last_seen_at: NULL until this release has seen the session. The idle limit counts from then on, so that nobody is logged out
-- by the upgrade.
ALTER TABLE staff_sessions
    ADD COLUMN last_seen_at TIMESTAMPTZ,
    ADD COLUMN address TEXT CHECK (char_length(address) <= 64),
    ADD COLUMN user_agent TEXT CHECK (char_length(user_agent) <= 300);
ALTER TABLE operator_sessions
    ADD COLUMN last_seen_at TIMESTAMPTZ,
    ADD COLUMN address TEXT CHECK (char_length(address) <= 64),
    ADD COLUMN user_agent TEXT CHECK (char_length(user_agent) <= 300);

-- The address of users and of failed log-ins. NULL for the operator, whose addresses are in its own log only. A CHECK would
-- read the whole log while it is locked.
ALTER TABLE audit_log ADD COLUMN address TEXT;
