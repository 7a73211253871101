-- What waits is of no use without its secret.
DELETE FROM mails WHERE sealed_token IS NOT NULL;
ALTER TABLE mails DROP COLUMN sealed_token, DROP COLUMN ready_at;
