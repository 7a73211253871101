CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_by_address ON audit_log (business_id, address, id) WHERE address IS NOT NULL;
