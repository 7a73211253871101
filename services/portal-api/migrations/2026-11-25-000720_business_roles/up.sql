-- The roles finance and support.
--
-- The previous release runs on these tables too, and knows neither. It reads `role`, which says `viewer` for both: it grants them
-- nothing that it does not grant viewers. This release reads `exact_role` first.
ALTER TABLE users
    ADD COLUMN exact_role TEXT
        CHECK (exact_role IS NULL OR (role = 'viewer' AND exact_role IN ('finance', 'support')));
ALTER TABLE invitations
    ADD COLUMN exact_role TEXT
        CHECK (exact_role IS NULL OR (role = 'viewer' AND exact_role IN ('finance', 'support')));

-- The previous release changes `role` alone. The exact role must not return when the user becomes a viewer again.
CREATE FUNCTION clear_exact_role() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.exact_role := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER clear_exact_role BEFORE UPDATE OF role ON users FOR EACH ROW
    WHEN (NEW.role <> OLD.role AND NEW.exact_role IS NOT DISTINCT FROM OLD.exact_role)
    EXECUTE FUNCTION clear_exact_role();
