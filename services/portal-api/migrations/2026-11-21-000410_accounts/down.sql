DELETE FROM attempts WHERE scope NOT IN ('log_in_account', 'log_in_address', 'sign_up_address');
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check;
ALTER TABLE attempts ADD CONSTRAINT attempts_scope_check CHECK (scope IN ('log_in_account', 'log_in_address', 'sign_up_address'));
DROP TABLE invitations;
ALTER TABLE sessions DROP COLUMN user_agent;
DROP INDEX users_by_business;
ALTER TABLE users DROP COLUMN last_seen_at;
ALTER TABLE users DROP CONSTRAINT users_role_check;
-- Users with other roles stay, but none can be added.
ALTER TABLE users ADD CONSTRAINT users_role_check CHECK (role IN ('owner')) NOT VALID;
