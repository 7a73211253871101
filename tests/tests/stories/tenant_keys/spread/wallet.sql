CREATE SCHEMA spread;
CREATE TABLE spread.tables (place INTEGER, table_name TEXT);
INSERT INTO spread.tables VALUES (1, 'wallets'), (2, 'transfers'), (3, 'entries'), (4, 'debits'), (5, 'cash');
