//! Exports spans to a collector without delaying the work: spans queue up for a separate thread, and a full queue drops
//! them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use metrics::counter;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData, SpanExporter,
};

/// The length of the queue; further spans are dropped.
const QUEUE_MAX: usize = 4_096;
/// The number of spans in one request.
const BATCH_MAX: usize = 512;
const SEND_EVERY: Duration = Duration::from_secs(1);
/// The collector's time limit for a request.
const SEND_MAX: Duration = Duration::from_secs(5);

/// Without a collector nothing is recorded, but trace contexts are still created and propagated, for log lines.
pub(crate) fn tracer_provider(
    settings: &settings::Telemetry,
    service: &'static str,
) -> anyhow::Result<SdkTracerProvider> {
    let resource = Resource::builder().with_service_name(service).build();
    let builder = SdkTracerProvider::builder().with_resource(resource);
    let Some(collector) = &settings.otlp_endpoint else {
        return Ok(builder.with_sampler(child_of(Sampler::AlwaysOff)).build());
    };
    // The HTTP client needs a provider even without TLS. Another part of the process may have installed one.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(collector.join("v1/traces")?)
        .with_timeout(SEND_MAX)
        .with_headers(std::collections::HashMap::new())
        .build()?;
    let limits = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE_MAX)
        .with_max_export_batch_size(BATCH_MAX)
        .with_scheduled_delay(SEND_EVERY)
        .build();
    let exporter = Counted { exporter, is_away: AtomicBool::new(false) };
    let processor = BatchSpanProcessor::builder(exporter).with_batch_config(limits).build();
    let sampler = child_of(Sampler::TraceIdRatioBased(settings.sampling_ratio));
    Ok(builder.with_sampler(sampler).with_span_processor(processor).build())
}

/// The caller decides whether a trace is sampled. `root` decides for traces that start here.
fn child_of(root: Sampler) -> Sampler {
    Sampler::ParentBased(Box::new(root))
}

/// Counts sent and lost spans, and logs when the collector becomes unreachable or reachable.
#[derive(Debug)]
struct Counted<E> {
    exporter: E,
    is_away: AtomicBool,
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let outcome = self.exporter.export(batch).await;
        let (sent, lost) = if outcome.is_ok() { (spans, 0) } else { (0, spans) };
        counter!("telemetry_spans_total", "outcome" => "exported").increment(sent);
        counter!("telemetry_spans_total", "outcome" => "dropped").increment(lost);
        match (&outcome, self.is_away.swap(outcome.is_err(), Ordering::Relaxed)) {
            (Err(error), false) => tracing::warn!(%error, "trace export failing; spans are dropped"),
            (Ok(()), true) => tracing::info!("trace export recovered"),
            _ => {}
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
