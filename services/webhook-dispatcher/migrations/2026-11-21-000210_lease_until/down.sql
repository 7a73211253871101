UPDATE deliveries SET due_at = lease_until WHERE lease_until IS NOT NULL;
ALTER TABLE deliveries DROP COLUMN lease_until;
