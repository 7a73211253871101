-- What was validated goes with 000508.
SELECT 1;
