-- What the body of an order means, hashed together with its fingerprint, so that a fingerprint written by another release
-- makes it void. Unknown of orders before this column: their fingerprints alone are compared.
ALTER TABLE orders ADD COLUMN meaning BYTEA;
