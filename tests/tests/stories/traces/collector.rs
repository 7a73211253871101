//! A collector of OTLP over HTTP: receives and stores spans, and can stop responding.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span as OtlpSpan;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;

const REQUEST_MAX_BYTES: usize = 16 * 1024 * 1024;

/// A span in a test's view.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) service: String,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the first span of a trace.
    pub(crate) parent: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) failed: bool,
    /// The span as text without its times: the digits of a time may contain a PIN code by chance.
    pub(crate) whole: String,
}

#[derive(Clone, Default)]
pub(crate) struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    is_hanging: Arc<AtomicBool>,
}

impl Collector {
    /// Listens; returns its base URL.
    pub(crate) fn start(&self) -> anyhow::Result<String> {
        let data = web::Data::new(self.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(data.clone())
                .app_data(web::PayloadConfig::new(REQUEST_MAX_BYTES))
                .route("/v1/traces", web::post().to(take))
        });
        let server = server.workers(1).disable_signals().bind(("127.0.0.1", 0))?;
        let address = server.addrs().first().copied().context("no address")?;
        tokio::spawn(server.run());
        Ok(format!("http://{address}/"))
    }

    /// From now on, requests are accepted and never answered.
    pub(crate) fn hang(&self) {
        self.is_hanging.store(true, Ordering::Relaxed);
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn of_trace(&self, trace: &str) -> Vec<Span> {
        self.spans().into_iter().filter(|span| span.trace == trace).collect()
    }
}

async fn take(collector: web::Data<Collector>, body: web::Bytes) -> HttpResponse {
    if collector.is_hanging.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
    match ExportTraceServiceRequest::decode(body) {
        Ok(request) => {
            let spans = read(request);
            collector.spans.lock().unwrap_or_else(PoisonError::into_inner).extend(spans);
            HttpResponse::Ok().content_type("application/x-protobuf").finish()
        }
        Err(_) => HttpResponse::BadRequest().finish(),
    }
}

fn read(request: ExportTraceServiceRequest) -> Vec<Span> {
    let mut found = Vec::new();
    for of_service in request.resource_spans {
        let resource = attributes(&of_service.resource.unwrap_or_default().attributes);
        let service = resource.get("service.name").cloned().unwrap_or_default();
        for span in of_service.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            found.push(Span {
                service: service.clone(),
                kind: span.kind(),
                trace: hex(&span.trace_id),
                id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                attributes: attributes(&span.attributes),
                // 2 is an error.
                failed: span.status.as_ref().is_some_and(|status| status.code == 2),
                whole: format!("{:?}", without_times(&span)),
                name: span.name,
            });
        }
    }
    found
}

fn without_times(span: &OtlpSpan) -> OtlpSpan {
    let mut span = OtlpSpan { start_time_unix_nano: 0, end_time_unix_nano: 0, ..span.clone() };
    for event in &mut span.events {
        event.time_unix_nano = 0;
    }
    span
}

fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::BoolValue(yes) => yes.to_string(),
        other => format!("{other:?}"),
    };
    let values = pairs.iter().map(|pair| {
        let value = pair.value.as_ref().and_then(|value| value.value.as_ref());
        (pair.key.clone(), value.map(text).unwrap_or_default())
    });
    values.collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
