DROP INDEX CONCURRENTLY orders_after_failure;
