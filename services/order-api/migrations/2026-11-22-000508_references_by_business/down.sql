ALTER TABLE fleet_reports DROP CONSTRAINT fleet_reports_of_a_business, DROP CONSTRAINT fleet_reports_order_fkey;
ALTER TABLE simulations DROP CONSTRAINT simulations_order_fkey;
