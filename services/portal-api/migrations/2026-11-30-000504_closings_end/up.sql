-- When the operator began to complete the closing. From then on keys and endpoints end, and nobody withdraws it.
ALTER TABLE closings ADD COLUMN ending_at TIMESTAMPTZ;
