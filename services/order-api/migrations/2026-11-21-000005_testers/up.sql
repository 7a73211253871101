-- Businesses with a test order. The first one is announced.
CREATE TABLE testers (
    business_id TEXT COLLATE "C" PRIMARY KEY,
    since       TIMESTAMPTZ NOT NULL
);
