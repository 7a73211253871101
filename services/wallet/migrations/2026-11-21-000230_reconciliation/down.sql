DROP TABLE reconciliation_findings;
DROP TABLE reconciliation_cursors;
DROP TABLE reconciliation_runs;
