DROP INDEX endpoints_rotating;
ALTER TABLE endpoints
    DROP CONSTRAINT endpoints_next_secret,
    DROP COLUMN next_secret_ciphertext,
    DROP COLUMN next_secret_key_id,
    DROP COLUMN next_secret_from;
