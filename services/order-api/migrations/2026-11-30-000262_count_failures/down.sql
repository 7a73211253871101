DROP TRIGGER orders_count_failure ON orders;
DROP FUNCTION count_failure;
