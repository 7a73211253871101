-- Businesses that placed a test order, which is announced once of each.
CREATE TABLE testers (
    business_id TEXT COLLATE "C" PRIMARY KEY,
    since       TIMESTAMPTZ NOT NULL
);
