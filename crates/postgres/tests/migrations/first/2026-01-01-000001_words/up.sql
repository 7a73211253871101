CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('one'); SELECT pg_sleep(0.3);
