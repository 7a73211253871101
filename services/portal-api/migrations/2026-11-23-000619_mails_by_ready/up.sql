CREATE INDEX CONCURRENTLY IF NOT EXISTS mails_by_ready ON mails (ready_at) WHERE ready_at IS NOT NULL;
