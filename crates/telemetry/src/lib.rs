//! Logs, traces, metrics, and the W3C context that joins them across HTTP and AMQP.
