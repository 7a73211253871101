-- One at a time. The former one, recoveries_running, is what instances of the version before name in ON CONFLICT.
-- contract: with the next release, recoveries_running.
-- borne by release 1: whoever keeps the former rule, without the business, keeps this one.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS recoveries_one_running ON recoveries (endpoint_id, business_id) WHERE state = 'running';
