-- Only after the last instance of the newer release has ended. Removes all memberships but one of each person, and the second
-- factors that have moved: their secrets could not be read any more.
DROP TRIGGER update_memberships ON users;
DROP TRIGGER "A_pass_on_account" ON users;
DROP FUNCTION update_memberships, pass_on_account;
DELETE FROM sessions USING users
    WHERE sessions.user_id = users.id AND sessions.business_id = users.business_id AND users.account_id IS NOT NULL;
DELETE FROM users WHERE account_id IS NOT NULL;
DELETE FROM second_factors WHERE bound_to IS NOT NULL;
ALTER TABLE second_factors DROP COLUMN bound_to;
ALTER TABLE users DROP COLUMN account_business_id, DROP COLUMN account_id;
