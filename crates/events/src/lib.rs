//! The contract on the broker: envelope, payloads, routing keys.
