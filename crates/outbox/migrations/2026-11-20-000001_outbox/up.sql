-- Events that are committed and not yet confirmed by the broker. The relay deletes what is confirmed, so the table is
-- as long as the broker is behind.
CREATE TABLE outbox_messages (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    TEXT COLLATE "C" NOT NULL,
    routing_key TEXT NOT NULL,
    -- The envelope as it will be published, byte for byte.
    body        BYTEA NOT NULL,
    traceparent TEXT,
    tracestate  TEXT,
    created_at  TIMESTAMPTZ NOT NULL
);

-- Events that a consumer of this service has handled, so that a redelivery changes nothing.
CREATE TABLE inbox (
    consumer TEXT NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    seen_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (consumer, event_id)
);

CREATE INDEX inbox_seen_at ON inbox (seen_at);
