CREATE SCHEMA spread;
CREATE TABLE spread.tables (place INTEGER, table_name TEXT);
INSERT INTO spread.tables VALUES (1, 'endpoints'), (2, 'endpoint_health'), (3, 'order_streams'), (4, 'parked_events'),
    (5, 'events'), (6, 'deliveries'), (7, 'attempts');
