-- The staged secret of a rotation. It signs alongside the current one until its time comes or the owner activates it.
ALTER TABLE endpoints
    ADD COLUMN next_secret_ciphertext BYTEA,
    ADD COLUMN next_secret_key_id TEXT,
    -- From then on it is the current secret. Signing uses this time; a worker only updates the row later.
    ADD COLUMN next_secret_from TIMESTAMPTZ,
    ADD CONSTRAINT endpoints_next_secret CHECK (
        (next_secret_from IS NULL) = (next_secret_ciphertext IS NULL)
        AND (next_secret_from IS NULL) = (next_secret_key_id IS NULL)
    );
CREATE INDEX endpoints_rotating ON endpoints (next_secret_from) WHERE next_secret_from IS NOT NULL;
