-- The secret of a mail's link, sealed: who reads this table cannot use it. The texts hold a mark in its place.
--
-- The release before this one would send the mark. It takes what is due and has not expired: such a mail is never both, and
-- is taken by `ready_at` instead.
ALTER TABLE mails
    ADD COLUMN sealed_token BYTEA,
    ADD COLUMN ready_at TIMESTAMPTZ;
