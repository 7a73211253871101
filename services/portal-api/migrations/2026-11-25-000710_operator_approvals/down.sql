-- Only after the last instance of the newer release has ended. Open requests are lost; the operator's log keeps who asked and
-- who decided. Finish approved credits first: their outcome may be unknown.
ALTER TABLE password_resets DROP COLUMN issued_by;
DROP TABLE operator_approvals;
