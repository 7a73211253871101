DROP INDEX CONCURRENTLY IF EXISTS operator_audit_log_by_address;
