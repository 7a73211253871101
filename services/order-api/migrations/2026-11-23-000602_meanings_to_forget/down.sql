DROP INDEX CONCURRENTLY IF EXISTS orders_meanings_to_forget;
