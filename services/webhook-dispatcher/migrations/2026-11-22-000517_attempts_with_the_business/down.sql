-- As 000516 left it, but for the indexes that it made.
ALTER TABLE attempts DROP CONSTRAINT attempts_pkey;
ALTER TABLE attempts ADD PRIMARY KEY (delivery_id, number, started_at);
