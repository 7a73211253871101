//! The management listener: is the process alive, can it do its work, and its metrics.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde_json::json;
use telemetry::Metrics;

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;
/// Something the service cannot work without.
pub type Check = Arc<dyn Fn() -> CheckFuture + Send + Sync>;

/// A check that does not answer in this time has failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// What must hold before the service takes work.
#[derive(Clone, Default)]
pub struct Readiness(Vec<(&'static str, Check)>);

impl Readiness {
    #[must_use]
    pub fn with<F, E>(mut self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display,
    {
        let check = move || -> CheckFuture {
            let outcome = check();
            Box::pin(async move { outcome.await.map_err(|error| error.to_string()) })
        };
        self.0.push((name, Arc::new(check)));
        self
    }

    /// Each check and whether it passed. Reasons go to the log, not to whoever asks.
    async fn run(&self) -> Vec<(&'static str, bool)> {
        let mut outcomes = Vec::with_capacity(self.0.len());
        for (name, check) in &self.0 {
            let outcome = tokio::time::timeout(CHECK_TIMEOUT, check()).await;
            let fault = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => Some("no answer in time".to_owned()),
            };
            if let Some(fault) = &fault {
                tracing::warn!(check = name, fault, "not ready");
            }
            outcomes.push((*name, fault.is_none()));
        }
        outcomes
    }
}

/// `GET /health/live`, `GET /health/ready`, `GET /metrics`.
pub fn management_routes(
    readiness: Readiness,
    metrics: Metrics,
) -> impl Fn(&mut web::ServiceConfig) + Clone + Send + 'static {
    move |config| {
        config
            .app_data(web::Data::new(readiness.clone()))
            .app_data(web::Data::new(metrics.clone()))
            .route("/health/live", web::get().to(live))
            .route("/health/ready", web::get().to(ready))
            .route("/metrics", web::get().to(render_metrics));
    }
}

async fn live() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "alive" }))
}

async fn ready(readiness: web::Data<Readiness>) -> HttpResponse {
    let outcomes = readiness.run().await;
    let ready = outcomes.iter().all(|(_, passed)| *passed);
    let checks: serde_json::Map<_, _> =
        outcomes.into_iter().map(|(name, passed)| (name.to_owned(), json!(passed))).collect();
    let mut response = if ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    response.json(json!({ "status": if ready { "ready" } else { "not ready" }, "checks": checks }))
}

async fn render_metrics(metrics: web::Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics.render())
}
