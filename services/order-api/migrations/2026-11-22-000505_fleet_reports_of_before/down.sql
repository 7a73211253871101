-- The column goes with 000504.
SELECT 1;
