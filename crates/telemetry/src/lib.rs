//! Logs, traces and metrics, and the W3C trace context across HTTP and AMQP.
//!
//! Each log line chooses its fields: ids, statuses, durations and counts. Never log secrets, keys, phone numbers,
//! e-mail addresses, addresses or bodies.

mod context;
mod export;
mod logs;
mod metrics;
mod process;
mod spans;

pub use context::{TraceContext, trace_id};
pub use logs::{Telemetry, check_filter, init};
pub use metrics::{Metrics, install_metrics};
pub use opentelemetry::KeyValue;
pub use spans::{ClientSpan, describe, fail, record};
