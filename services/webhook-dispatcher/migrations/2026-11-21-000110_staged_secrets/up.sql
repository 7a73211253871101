-- A secret that was made by rotating, and signs beside the present one until its time comes, or its owner says so.
ALTER TABLE endpoints
    ADD COLUMN next_secret_ciphertext BYTEA,
    ADD COLUMN next_secret_key_id TEXT,
    -- From then on it is the secret. Whoever signs goes by this; a worker only tidies up after it.
    ADD COLUMN next_secret_from TIMESTAMPTZ,
    ADD CONSTRAINT endpoints_next_secret CHECK (
        (next_secret_from IS NULL) = (next_secret_ciphertext IS NULL)
        AND (next_secret_from IS NULL) = (next_secret_key_id IS NULL)
    );
CREATE INDEX endpoints_rotating ON endpoints (next_secret_from) WHERE next_secret_from IS NOT NULL;
