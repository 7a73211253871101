-- Validation cannot be undone; the previous migration drops the constraints.
SELECT 1;
