DROP TABLE erasures;
DROP INDEX fleet_reports_of_order;
DROP INDEX orders_released;
DROP INDEX orders_to_erase;
ALTER TABLE orders DROP COLUMN personal_data_erased_at;
