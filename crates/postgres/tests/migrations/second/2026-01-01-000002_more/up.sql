INSERT INTO words VALUES ('two');
