-- The request that created an order, and its API key. Unknown for older orders.
ALTER TABLE orders
    ADD COLUMN request_id TEXT COLLATE "C",
    ADD COLUMN key_id TEXT COLLATE "C";
