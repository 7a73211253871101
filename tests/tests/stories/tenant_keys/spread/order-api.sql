CREATE SCHEMA spread;
CREATE TABLE spread.tables (place INTEGER, table_name TEXT);
INSERT INTO spread.tables VALUES (1, 'orders'), (2, 'order_events'), (3, 'fleet_reports'), (4, 'simulations');
