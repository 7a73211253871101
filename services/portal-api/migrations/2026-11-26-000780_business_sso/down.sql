-- Without their business, they would be visits of the staff.
DELETE FROM sso_log_ins WHERE business_id IS NOT NULL;
ALTER TABLE sso_log_ins DROP COLUMN business_id;
-- Nothing else could end them.
DELETE FROM sessions WHERE single_sign_on;
ALTER TABLE sessions DROP COLUMN single_sign_on;
DROP TABLE user_identities;
DROP TABLE business_sso;
