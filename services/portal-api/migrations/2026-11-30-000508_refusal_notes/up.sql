-- What an owner wrote when asking again. The operator reads it.
ALTER TABLE refusals ADD COLUMN note TEXT CHECK (length(note) BETWEEN 1 AND 500);
