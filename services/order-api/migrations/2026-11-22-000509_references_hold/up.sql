-- Reads the tables without blocking writes.
ALTER TABLE simulations VALIDATE CONSTRAINT simulations_order_fkey;
ALTER TABLE fleet_reports VALIDATE CONSTRAINT fleet_reports_order_fkey;
ALTER TABLE fleet_reports VALIDATE CONSTRAINT fleet_reports_of_a_business;
