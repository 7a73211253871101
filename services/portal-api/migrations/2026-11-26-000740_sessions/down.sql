-- Only after the last instance of the newer release has ended. Console sessions then have no idle limit.
ALTER TABLE audit_log DROP COLUMN address;
ALTER TABLE operator_sessions DROP COLUMN last_seen_at, DROP COLUMN address, DROP COLUMN user_agent;
ALTER TABLE staff_sessions DROP COLUMN last_seen_at, DROP COLUMN address, DROP COLUMN user_agent;
ALTER TABLE sessions DROP COLUMN address, DROP COLUMN new_browser;
