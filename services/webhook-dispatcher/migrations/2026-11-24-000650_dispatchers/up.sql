-- The running instances of the service. They share the rate limits of endpoints.
CREATE TABLE dispatchers (
    id BIGINT PRIMARY KEY,
    alive_until TIMESTAMPTZ NOT NULL
);
