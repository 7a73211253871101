DROP INDEX CONCURRENTLY IF EXISTS recoveries_one_running;
