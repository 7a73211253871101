-- Events to publish: inserted in the transaction that causes them, deleted after the broker has confirmed them.
CREATE TABLE outbox_messages (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    TEXT COLLATE "C" NOT NULL,
    routing_key TEXT NOT NULL CHECK (octet_length(routing_key) BETWEEN 1 AND 255),
    body        TEXT NOT NULL,
    traceparent TEXT,
    tracestate  TEXT,
    created_at  TIMESTAMPTZ NOT NULL
)
-- Rows live for milliseconds. Without frequent vacuuming, the relay would scan the dead rows.
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);

-- The events that a consumer has handled, so that a redelivery changes nothing.
CREATE TABLE inbox (
    consumer TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    seen_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (consumer, event_id)
);

CREATE INDEX inbox_by_age ON inbox (seen_at);
