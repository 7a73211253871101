-- Queued mails with an encrypted token are useless without it.
DELETE FROM mails WHERE sealed_token IS NOT NULL;
ALTER TABLE mails DROP COLUMN sealed_token, DROP COLUMN ready_at;
