DROP TABLE fleet_reports;
DROP TABLE order_events;
DROP TABLE orders;
