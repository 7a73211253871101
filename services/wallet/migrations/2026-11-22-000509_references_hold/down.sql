-- What was validated goes with what made it.
SELECT 1;
