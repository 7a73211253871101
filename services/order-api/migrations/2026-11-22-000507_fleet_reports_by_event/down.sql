DROP INDEX CONCURRENTLY IF EXISTS fleet_reports_event_id;
