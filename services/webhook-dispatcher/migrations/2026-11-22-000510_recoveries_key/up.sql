CREATE UNIQUE INDEX CONCURRENTLY recoveries_key ON recoveries (id, business_id);
