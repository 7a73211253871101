-- Only after the last instance of the newer release has ended. Users with the roles finance and support become viewers.
DROP TRIGGER clear_exact_role ON users;
DROP FUNCTION clear_exact_role();
ALTER TABLE invitations DROP COLUMN exact_role;
ALTER TABLE users DROP COLUMN exact_role;
