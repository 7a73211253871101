//! The recorder of metrics.

use std::sync::OnceLock;

use telemetry::Metrics;

/// A process has one recorder, so all its tests share it.
pub fn metrics(service: &'static str) -> Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(|| telemetry::install_metrics(service).expect("the first recorder")).clone()
}
