//! The management listener: is the process alive, can it do its work, and its metrics.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
pub struct Readiness(Vec<Needed>);

#[derive(Clone)]
struct Needed {
    name: &'static str,
    check: Check,
    /// Of what is needed for the beginning alone: whether it has passed once.
    passed: Option<Arc<AtomicBool>>,
}

struct Outcome {
    name: &'static str,
    passed: bool,
    ready: bool,
}

impl Readiness {
    /// What no work can be done without.
    #[must_use]
    pub fn with<F, E>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display,
    {
        self.add(name, check, None)
    }

    /// What must have been there once, so that one who cannot reach it at all takes nobody's place. When it goes away later, that
    /// is told, and work goes on.
    #[must_use]
    pub fn with_once<F, E>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display,
    {
        self.add(name, check, Some(Arc::default()))
    }

    fn add<F, E>(
        mut self,
        name: &'static str,
        check: impl Fn() -> F + Send + Sync + 'static,
        passed: Option<Arc<AtomicBool>>,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display,
    {
        let check = move || -> CheckFuture {
            let outcome = check();
            Box::pin(async move { outcome.await.map_err(|error| error.to_string()) })
        };
        self.0.push(Needed { name, check: Arc::new(check), passed });
        self
    }

    /// Each check and whether it passed. Reasons go to the log, not to whoever asks.
    async fn run(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.0.len());
        for needed in &self.0 {
            let name = needed.name;
            let outcome = tokio::time::timeout(CHECK_TIMEOUT, (needed.check)()).await;
            let error = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => Some("no answer in time".to_owned()),
            };
            let passed = error.is_none();
            let ready = passed || needed.passed.as_ref().is_some_and(|once| once.load(Ordering::Relaxed));
            if let Some(once) = needed.passed.as_ref().filter(|_| passed) {
                once.store(true, Ordering::Relaxed);
            }
            match error {
                Some(error) if ready => tracing::warn!(check = name, error, "ready without it"),
                Some(error) => tracing::warn!(check = name, error, "not ready"),
                None => {}
            }
            outcomes.push(Outcome { name, passed, ready });
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
    let ready = outcomes.iter().all(|outcome| outcome.ready);
    let checks: serde_json::Map<_, _> =
        outcomes.into_iter().map(|outcome| (outcome.name.to_owned(), json!(outcome.passed))).collect();
    let mut response = if ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    response.json(json!({ "status": if ready { "ready" } else { "not ready" }, "checks": checks }))
}

async fn render_metrics(metrics: web::Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn what_is_needed_once_is_told_later_and_no_more() {
        let there = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&there);
        let readiness = Readiness::default().with_once("broker", move || {
            let there = asked.load(Ordering::Relaxed);
            async move { if there { Ok(()) } else { Err("away") } }
        });
        let look = async || {
            let outcomes = readiness.run().await;
            (outcomes[0].passed, outcomes[0].ready)
        };
        assert_eq!(look().await, (false, false), "never there yet");
        there.store(true, Ordering::Relaxed);
        assert_eq!(look().await, (true, true));
        there.store(false, Ordering::Relaxed);
        assert_eq!(look().await, (false, true), "gone, and told");
    }
}
