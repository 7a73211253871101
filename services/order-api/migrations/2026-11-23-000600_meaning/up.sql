-- The hash of the normalized body, bound to the fingerprint: it no longer matches when another release changes the
-- fingerprint. Unknown for older orders, which are compared by their fingerprints alone.
ALTER TABLE orders ADD COLUMN meaning BYTEA;
