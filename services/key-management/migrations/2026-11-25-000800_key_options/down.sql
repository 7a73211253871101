-- Without their columns, restricted keys would be unrestricted if this migration is run again.
UPDATE api_keys SET revoked_at = LEAST(now(), expires_at)
WHERE revoked_at IS NULL AND (scopes IS NOT NULL OR ip_allow_list IS NOT NULL);

DROP TRIGGER successors_keep_restrictions ON api_keys;
DROP FUNCTION successors_keep_restrictions;
ALTER TABLE api_keys DROP COLUMN created_by, DROP COLUMN scopes, DROP COLUMN ip_allow_list;
