DROP INDEX CONCURRENTLY IF EXISTS fleet_reports_of_order;
