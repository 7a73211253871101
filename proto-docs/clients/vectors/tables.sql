CREATE TABLE IF NOT EXISTS waybill_sync (
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  local_order_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('creating', 'created', 'failed')),
  body TEXT,
  body_sha256 TEXT NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  attempted_at_ms BIGINT NOT NULL,
  lease_until_ms BIGINT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  retry_at_ms BIGINT,
  order_id TEXT,
  tracking_code TEXT,
  tracking_url TEXT,
  delivery_status TEXT,
  CHECK ((status = 'created') = (order_id IS NOT NULL)),
  CHECK (status <> 'created' OR body IS NULL),
  PRIMARY KEY (mode, local_order_id)
);
CREATE TABLE IF NOT EXISTS waybill_events (
  event_id TEXT PRIMARY KEY,
  received_at_ms BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS waybill_events_received ON waybill_events (received_at_ms);
CREATE TABLE IF NOT EXISTS waybill_sequences (
  order_id TEXT PRIMARY KEY,
  last_sequence BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS waybill_cursors (
  reader TEXT PRIMARY KEY,
  feed_cursor TEXT NOT NULL
);
