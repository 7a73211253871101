//! Starting logs and traces.

use anyhow::Context as _;
use opentelemetry::global;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use settings::LogFormat;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

/// Keeps the exporter alive; sends what is left when the service stops.
pub struct Telemetry {
    provider: SdkTracerProvider,
}

impl Telemetry {
    /// Sends the last spans, waiting for a collector that is away no longer than the exporter's own time limit.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Starts logs on standard output and, when a collector is configured, traces over OTLP/HTTP. Trace ids are made and
/// passed on either way.
///
/// # Errors
/// When the filter or the collector's address is not usable, or telemetry was started already.
pub fn init(settings: &settings::Telemetry, service: &'static str) -> anyhow::Result<Telemetry> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = tracer_provider(settings, service)?;
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer(service));
    let filter = EnvFilter::try_new(&settings.filter).context("WAYBILL_TELEMETRY__FILTER")?;
    let lines = match settings.format {
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_current_span(false).boxed(),
        LogFormat::Pretty => fmt::layer().with_target(false).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(traces).with(lines).try_init()?;
    Ok(Telemetry { provider })
}

fn tracer_provider(
    settings: &settings::Telemetry,
    service: &'static str,
) -> anyhow::Result<SdkTracerProvider> {
    let resource = Resource::builder().with_service_name(service).build();
    let builder = SdkTracerProvider::builder().with_resource(resource);
    let Some(collector) = &settings.otlp_endpoint else { return Ok(builder.build()) };
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(collector.join("v1/traces")?)
        .with_headers(std::collections::HashMap::new())
        .build()?;
    Ok(builder.with_batch_exporter(exporter).build())
}
