-- The response status of the latest attempt, for the log: 0 if no response arrived. NULL before the first attempt, and
-- for older deliveries. Without an index, because the log's filter reads a window. NOT VALID: existing rows need no
-- check.
ALTER TABLE deliveries
    ADD COLUMN last_status INTEGER,
    ADD CONSTRAINT deliveries_last_status_check CHECK (last_status = 0 OR last_status BETWEEN 100 AND 999) NOT VALID;
