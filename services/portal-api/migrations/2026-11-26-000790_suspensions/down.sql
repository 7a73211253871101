-- Only after the last instance of the newer release has ended. Requests that wait then lift any suspension.
DROP TRIGGER count_suspension ON businesses;
DROP FUNCTION count_suspension();
ALTER TABLE businesses DROP COLUMN suspensions;
