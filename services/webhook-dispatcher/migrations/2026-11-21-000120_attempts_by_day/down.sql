CREATE TABLE attempts_in_one (
    delivery_id      TEXT COLLATE "C" NOT NULL,
    number           INTEGER NOT NULL CHECK (number >= 1),
    business_id      TEXT COLLATE "C" NOT NULL,
    started_at       TIMESTAMPTZ NOT NULL,
    duration_ms      BIGINT NOT NULL CHECK (duration_ms >= 0),
    response_status  INTEGER CHECK (response_status BETWEEN 100 AND 999),
    succeeded        BOOLEAN NOT NULL,
    error            TEXT,
    request_headers  JSON NOT NULL,
    response_headers JSON NOT NULL,
    response_body    TEXT,
    CHECK (succeeded = (error IS NULL))
);
INSERT INTO attempts_in_one
SELECT delivery_id, number, business_id, started_at, duration_ms, response_status, succeeded, error, request_headers,
    response_headers, response_body
FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_in_one RENAME TO attempts;
ALTER TABLE attempts ADD PRIMARY KEY (delivery_id, number);
