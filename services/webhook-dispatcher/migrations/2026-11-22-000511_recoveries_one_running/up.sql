-- One at a time. Instances of the previous release name the former index, recoveries_running, in ON CONFLICT.
-- contract: with the next release, recoveries_running.
-- compatible with release 1: rows that satisfy the former key, without the business, satisfy this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS recoveries_one_running ON recoveries (endpoint_id, business_id) WHERE state = 'running';
