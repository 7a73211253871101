CREATE INDEX CONCURRENTLY IF NOT EXISTS operator_audit_log_by_address ON operator_audit_log (address, id) WHERE address IS NOT NULL;
