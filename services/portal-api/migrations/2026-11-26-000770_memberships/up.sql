-- One person in several businesses. A membership is a row of `users` in its business. One of the rows is the account: it has the
-- address that logs in, the password and the second factor. The others refer to it. The previous release sees them as users who
-- never log in, and reads their sessions as those of any user.
ALTER TABLE users
    -- The account of a further membership. NULL: the row is an account itself.
    ADD COLUMN account_id TEXT COLLATE "C",
    ADD COLUMN account_business_id TEXT COLLATE "C";
-- compatible with release 3: it leaves the new columns NULL. The address of a further membership is refused on purpose.
ALTER TABLE users
    ADD CONSTRAINT users_account_fkey
        FOREIGN KEY (account_id, account_business_id) REFERENCES users (id, business_id) NOT VALID,
    ADD CONSTRAINT users_account_is_whole CHECK ((account_id IS NULL) = (account_business_id IS NULL)) NOT VALID,
    ADD CONSTRAINT users_membership_is_elsewhere CHECK (account_business_id <> business_id) NOT VALID,
    -- A further membership has no address of its own to log in with. Stops the previous release from giving it one.
    ADD CONSTRAINT users_membership_logs_in_nowhere CHECK (account_id IS NULL OR email_key = id) NOT VALID;

-- What the sealed secret and the recovery codes are bound to, if not account_id: the factor has moved to another row.
ALTER TABLE second_factors ADD COLUMN bound_to TEXT COLLATE "C";

-- The account's own row is removed from its business: the membership that was used last becomes the account, with the address,
-- the password and the second factor. Both releases remove users, so this is a trigger.
CREATE FUNCTION pass_on_account() RETURNS trigger LANGUAGE plpgsql AS $$
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
-- Triggers fire in the order of their names. This one fires before those of foreign keys (RI_...), which delete the factor.
CREATE TRIGGER "A_pass_on_account" AFTER DELETE ON users FOR EACH ROW
    WHEN (OLD.account_id IS NULL)
    EXECUTE FUNCTION pass_on_account();

-- The memberships show the address and the name of their account. A new password ends their sessions too.
CREATE FUNCTION update_memberships() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users SET email = NEW.email, email_verified_at = NEW.email_verified_at, name = NEW.name
        WHERE account_id = NEW.id AND account_business_id = NEW.business_id;
    IF NEW.password_hash <> OLD.password_hash THEN
        UPDATE sessions SET revoked_at = now()
            FROM users AS member
            WHERE member.account_id = NEW.id AND member.account_business_id = NEW.business_id
                AND sessions.user_id = member.id AND sessions.business_id = member.business_id
                AND sessions.revoked_at IS NULL;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER update_memberships AFTER UPDATE OF email, email_verified_at, name, password_hash ON users FOR EACH ROW
    WHEN (
        OLD.account_id IS NULL AND NEW.account_id IS NULL
        AND (OLD.email, OLD.email_verified_at, OLD.name, OLD.password_hash)
            IS DISTINCT FROM (NEW.email, NEW.email_verified_at, NEW.name, NEW.password_hash)
    )
    EXECUTE FUNCTION update_memberships();
