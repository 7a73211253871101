-- As 000513 left it.
ALTER TABLE endpoint_health DROP CONSTRAINT endpoint_health_endpoint_fkey;
ALTER TABLE endpoint_notices DROP CONSTRAINT endpoint_notices_endpoint_fkey;
ALTER TABLE recoveries DROP CONSTRAINT recoveries_endpoint_fkey;
ALTER TABLE endpoints DROP CONSTRAINT endpoints_pkey, ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX endpoints_key ON endpoints (id, business_id);
ALTER TABLE endpoint_health
    DROP CONSTRAINT endpoint_health_pkey,
    ADD PRIMARY KEY (endpoint_id),
    ADD CONSTRAINT endpoint_health_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints (id);
CREATE UNIQUE INDEX endpoint_health_key ON endpoint_health (endpoint_id, business_id);
ALTER TABLE endpoint_notices
    DROP CONSTRAINT endpoint_notices_pkey,
    ADD PRIMARY KEY (endpoint_id, failing_since, percent),
    ADD CONSTRAINT endpoint_notices_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints (id);
CREATE UNIQUE INDEX endpoint_notices_key ON endpoint_notices (endpoint_id, failing_since, percent, business_id);
ALTER TABLE recoveries
    DROP CONSTRAINT recoveries_pkey,
    ADD PRIMARY KEY (id),
    ADD CONSTRAINT recoveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES endpoints (id);
CREATE UNIQUE INDEX recoveries_key ON recoveries (id, business_id);
