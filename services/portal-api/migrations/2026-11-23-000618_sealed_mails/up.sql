-- The encrypted token of a mail's link, so that a reader of this table cannot use it. The texts contain a placeholder.
--
-- The previous release would send the placeholder. It sends mails that are due and not expired; for mails with a token,
-- `due_at` equals `expires_at`, and this release uses `ready_at` instead.
ALTER TABLE mails
    ADD COLUMN sealed_token BYTEA,
    ADD COLUMN ready_at TIMESTAMPTZ;
