-- Only after the last instance of the newer release has ended. Export the log first: this deletes it.
DROP TABLE operator_audit_log;
DROP TABLE staff_sessions;
DROP TABLE operator_tokens;
DROP TABLE staff_links;
DROP TABLE staff;
