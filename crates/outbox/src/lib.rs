//! The transactional outbox and inbox: enqueue, relay, dedupe.
