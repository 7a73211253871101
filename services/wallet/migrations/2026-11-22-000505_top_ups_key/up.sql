CREATE UNIQUE INDEX CONCURRENTLY top_ups_key ON top_ups (id, business_id);
