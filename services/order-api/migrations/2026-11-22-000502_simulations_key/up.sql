CREATE UNIQUE INDEX CONCURRENTLY simulations_key ON simulations (order_id, business_id);
