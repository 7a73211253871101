-- The options of a key. A key without them may do everything, as before.
--
-- The previous release runs on this table too, and knows no options. It must not make them ineffective:
-- - Verification: it looks a key up by its hash. A key with scopes or an allow-list is stored under another hash, so the previous
--   release finds no such key, and order-api answers 401. The end of a key is expires_at, which the previous release enforces.
-- - Creation: a request with options has a path that the previous release lacks.
-- - Rotation: its INSERT copies no options. The trigger refuses a successor that lacks the scopes or the allow-list of its key. A key
--   with an end looks rotated to it, so it refuses another rotation.
ALTER TABLE api_keys
    -- The user who created the key, or the first of the keys that it replaces. Unknown for keys of earlier releases.
    ADD COLUMN created_by TEXT COLLATE "C" CHECK (created_by LIKE 'usr\_%'),
    ADD COLUMN scopes TEXT[]
        CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['orders:write', 'orders:read', 'events:read']),
    -- Networks in CIDR form.
    ADD COLUMN ip_allow_list TEXT[] CHECK (cardinality(ip_allow_list) BETWEEN 1 AND 20);

CREATE FUNCTION successors_keep_restrictions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM api_keys
        WHERE business_id = NEW.business_id AND id = NEW.rotated_from
            AND (scopes, ip_allow_list) IS DISTINCT FROM (NEW.scopes, NEW.ip_allow_list)
    ) THEN
        RAISE EXCEPTION 'the key % does not have the restrictions of the key %', NEW.id, NEW.rotated_from;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER successors_keep_restrictions BEFORE INSERT ON api_keys FOR EACH ROW
    WHEN (NEW.rotated_from IS NOT NULL) EXECUTE FUNCTION successors_keep_restrictions();
