-- As 000516 left it, except for its indexes.
ALTER TABLE attempts DROP CONSTRAINT attempts_pkey;
ALTER TABLE attempts ADD PRIMARY KEY (delivery_id, number, started_at);
