ALTER TABLE staff_sessions DROP COLUMN single_sign_on;
DROP TABLE sso_log_ins;
DROP TABLE staff_identities;
