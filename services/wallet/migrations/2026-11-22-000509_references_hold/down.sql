-- Nothing to undo: the reversal of 000508 drops the constraints.
SELECT 1;
