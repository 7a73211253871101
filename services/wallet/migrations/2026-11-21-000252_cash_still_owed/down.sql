CREATE INDEX cash_unsettled ON cash (business_id, due_since) WHERE settled_at IS NULL;
DROP INDEX cash_outstanding;
