//! Logs, traces and metrics, and the W3C trace context that joins them across HTTP and AMQP.
//!
//! What is logged is chosen line by line where it is logged: ids, statuses, durations and counts. Secrets, keys,
//! phones, e-mails, addresses and bodies are never handed to a log macro.

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
