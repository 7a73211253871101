-- Only after the last instance of the newer release has ended. Codes of the app remain.
CREATE OR REPLACE FUNCTION pass_on_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    heir users%ROWTYPE;
BEGIN
    SELECT * INTO heir FROM users
        WHERE account_id = OLD.id AND account_business_id = OLD.business_id
        ORDER BY last_seen_at DESC NULLS LAST, id LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE users
        SET account_id = NULL, account_business_id = NULL, email = OLD.email, email_key = OLD.email_key,
            email_verified_at = OLD.email_verified_at, name = OLD.name, password_hash = OLD.password_hash
        WHERE id = heir.id AND business_id = heir.business_id;
    UPDATE users SET account_id = heir.id, account_business_id = heir.business_id
        WHERE account_id = OLD.id AND account_business_id = OLD.business_id;
    -- The previous release may have let a session of the membership set up a factor, which is not that of the account.
    DELETE FROM second_factors WHERE user_id = heir.id AND business_id = heir.business_id;
    -- Locked, so that a confirmation or a used code is not lost.
    PERFORM FROM second_factors WHERE user_id = OLD.id AND business_id = OLD.business_id FOR UPDATE;
    IF FOUND THEN
        INSERT INTO second_factors
                (account_id, business_id, user_id, sealed_secret, started_at, confirmed_at, last_step, bound_to)
            SELECT heir.id, heir.business_id, heir.id, sealed_secret, started_at, confirmed_at, last_step,
                coalesce(bound_to, account_id)
            FROM second_factors WHERE user_id = OLD.id AND business_id = OLD.business_id;
        UPDATE recovery_codes SET account_id = heir.id WHERE account_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
DROP TABLE passkey_ceremonies;
DROP TABLE passkeys;
