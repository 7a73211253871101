ALTER TABLE staff_identities DROP COLUMN role_lost_at;
