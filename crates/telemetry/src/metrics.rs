//! Prometheus metrics. Recording goes through the `metrics` crate's macros anywhere; this renders them.

use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Seconds, from a cached read to a slow webhook.
const SECONDS_BUCKETS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Renders what has been recorded in this process.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// In the Prometheus text format.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// How often [`Metrics::upkeep`] wants to be called.
    pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

    /// Folds recorded samples together, which keeps memory bounded between scrapes.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

/// Installs the process-wide recorder. Histograms whose names end in `_seconds` get buckets for durations.
///
/// # Errors
/// When one is installed already.
pub fn install_metrics(service: &'static str) -> anyhow::Result<Metrics> {
    let handle = PrometheusBuilder::new()
        .add_global_label("service", service)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS_BUCKETS)?
        .install_recorder()?;
    Ok(Metrics(handle))
}
