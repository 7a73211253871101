-- Since when the groups of a person at the provider give no role. NULL: the latest log-in had one.
ALTER TABLE staff_identities ADD COLUMN role_lost_at TIMESTAMPTZ;
