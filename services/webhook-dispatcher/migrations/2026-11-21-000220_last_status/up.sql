-- What the endpoint answered to the latest attempt, for the log: 0 when no answer came. Unknown until the first attempt,
-- and of what was sent before this was kept. No index holds it: writing it costs next to nothing, and the log's filter by
-- it looks at a window. The check holds for what is written from now on: there is nothing to look for in what is there.
ALTER TABLE deliveries
    ADD COLUMN last_status INTEGER,
    ADD CONSTRAINT deliveries_last_status_check CHECK (last_status = 0 OR last_status BETWEEN 100 AND 999) NOT VALID;
