//! The management listener: liveness, readiness and metrics.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde_json::json;
use telemetry::Metrics;

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;
/// Checks a dependency of the service.
pub type Check = Arc<dyn Fn() -> CheckFuture + Send + Sync>;

/// A check that does not answer in this time has failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The checks that must pass before the service takes work.
#[derive(Clone, Default)]
pub struct Readiness(Vec<Dependency>);

#[derive(Clone)]
struct Dependency {
    name: &'static str,
    check: Check,
    /// For checks that matter only at the start: whether the check has passed once.
    passed: Option<Arc<AtomicBool>>,
}

struct Outcome {
    name: &'static str,
    passed: bool,
    ready: bool,
}

impl Readiness {
    /// Adds a dependency that the service needs at all times.
    #[must_use]
    pub fn with<F, E>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display,
    {
        self.add(name, check, None)
    }

    /// Adds a dependency that the service needs at the start. A new instance that cannot reach it must not replace a
    /// working one. Later failures are reported and logged, but the service stays ready.
    #[must_use]
    pub fn with_startup_check<F, E>(
        self,
        name: &'static str,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
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
        self.0.push(Dependency { name, check: Arc::new(check), passed });
        self
    }

    /// Runs each check. Reasons go to the log, because the endpoint needs no authentication.
    async fn run(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.0.len());
        for dependency in &self.0 {
            let name = dependency.name;
            let outcome = tokio::time::timeout(CHECK_TIMEOUT, (dependency.check)()).await;
            let error = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => Some("no answer in time".to_owned()),
            };
            let passed = error.is_none();
            let ready = passed || dependency.passed.as_ref().is_some_and(|once| once.load(Ordering::Relaxed));
            if let Some(once) = dependency.passed.as_ref().filter(|_| passed) {
                once.store(true, Ordering::Relaxed);
            }
            match error {
                Some(error) if ready => {
                    tracing::warn!(check = name, error, "check failed; the service stays ready")
                }
                Some(error) => tracing::warn!(check = name, error, "check failed; the service is not ready"),
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
    async fn startup_checks_are_reported_later_without_affecting_readiness() {
        let there = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&there);
        let readiness = Readiness::default().with_startup_check("broker", move || {
            let there = asked.load(Ordering::Relaxed);
            async move { if there { Ok(()) } else { Err("unreachable") } }
        });
        let look = async || {
            let outcomes = readiness.run().await;
            (outcomes[0].passed, outcomes[0].ready)
        };
        assert_eq!(look().await, (false, false), "not reachable yet");
        there.store(true, Ordering::Relaxed);
        assert_eq!(look().await, (true, true));
        there.store(false, Ordering::Relaxed);
        assert_eq!(look().await, (false, true), "unreachable: reported, but still ready");
    }
}
