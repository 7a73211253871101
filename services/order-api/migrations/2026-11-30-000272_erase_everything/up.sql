-- Whether an erasure includes orders in any state, of a business that is closed. Release 1.0.0 erases its completed orders, and
-- counts the others as not completed; portal-api repeats it then.
ALTER TABLE erasures ADD COLUMN everything BOOLEAN NOT NULL DEFAULT FALSE;
