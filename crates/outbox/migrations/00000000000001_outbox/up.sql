-- What is to be published: written in the transaction that makes it true, deleted once the broker has confirmed it.
CREATE TABLE outbox_messages (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    TEXT COLLATE "C" NOT NULL,
    routing_key TEXT NOT NULL CHECK (octet_length(routing_key) BETWEEN 1 AND 255),
    body        TEXT NOT NULL,
    traceparent TEXT,
    tracestate  TEXT,
    created_at  TIMESTAMPTZ NOT NULL
)
-- Rows live for milliseconds; without frequent cleaning the relay would walk over the dead ones.
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);

-- Which events a consumer has handled, so that a second delivery changes nothing.
CREATE TABLE inbox (
    consumer TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    seen_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (consumer, event_id)
);

CREATE INDEX inbox_by_age ON inbox (seen_at);
