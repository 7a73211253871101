-- The request that an order was accepted from, and the key that it was sent with. Unknown of orders before these columns.
ALTER TABLE orders
    ADD COLUMN request_id TEXT COLLATE "C",
    ADD COLUMN key_id TEXT COLLATE "C";
