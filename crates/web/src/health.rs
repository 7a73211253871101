//! The management listener: liveness, readiness and metrics.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde_json::json;
use telemetry::Metrics;

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;
type Check = Arc<dyn Fn() -> CheckFuture + Send + Sync>;

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

struct Failure {
    error: String,
    /// Whether a service can start in spite of it.
    is_harmless: bool,
}

struct Outcome {
    name: &'static str,
    error: Option<String>,
    ready: bool,
}

impl Readiness {
    /// Adds a dependency that the service needs at all times.
    #[must_use]
    pub fn with<F, E>(self, name: &'static str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + 'static,
    {
        self.add(name, |_| false, check, None)
    }

    /// Adds a dependency that the service can do without. A new instance whose check fails must not replace a working one,
    /// unless the failure `is_harmless`: a wrong password is not. Once the check has passed, failures are reported and
    /// logged, and the service stays ready.
    #[must_use]
    pub fn with_startup_check<F, E>(
        self,
        name: &'static str,
        is_harmless: fn(&E) -> bool,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + 'static,
    {
        self.add(name, is_harmless, check, Some(Arc::default()))
    }

    fn add<F, E>(
        mut self,
        name: &'static str,
        is_harmless: fn(&E) -> bool,
        check: impl Fn() -> F + Send + Sync + 'static,
        passed: Option<Arc<AtomicBool>>,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + 'static,
    {
        let check = move || -> CheckFuture {
            let outcome = check();
            Box::pin(async move {
                outcome
                    .await
                    .map_err(|error| Failure { is_harmless: is_harmless(&error), error: error.to_string() })
            })
        };
        self.0.push(Dependency { name, check: Arc::new(check), passed });
        self
    }

    /// Runs each check. Reasons go to the log, because the endpoint needs no authentication.
    async fn run(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.0.len());
        for dependency in &self.0 {
            outcomes.push(dependency.run().await);
        }
        outcomes
    }
}

impl Dependency {
    async fn run(&self) -> Outcome {
        let outcome = tokio::time::timeout(CHECK_TIMEOUT, (self.check)()).await;
        let failure = match outcome {
            Ok(outcome) => outcome.err(),
            Err(_) => Some(Failure { error: "no answer in time".to_owned(), is_harmless: false }),
        };
        if let Some(once) = self.passed.as_ref().filter(|_| failure.is_none()) {
            once.store(true, Ordering::Relaxed);
        }
        let has_passed = self.passed.as_ref().is_some_and(|once| once.load(Ordering::Relaxed));
        let ready = has_passed || failure.as_ref().is_none_or(|failure| failure.is_harmless);
        Outcome { name: self.name, error: failure.map(|failure| failure.error), ready }
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
    log(&outcomes, ready);
    let checks: serde_json::Map<_, _> = outcomes
        .into_iter()
        .map(|outcome| (outcome.name.to_owned(), json!(outcome.error.is_none())))
        .collect();
    let mut response = if ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    response.json(json!({ "status": if ready { "ready" } else { "not ready" }, "checks": checks }))
}

/// One line per probe.
fn log(outcomes: &[Outcome], ready: bool) {
    let failed = |outcome: &Outcome| Some(format!("{}: {}", outcome.name, outcome.error.as_ref()?));
    let failed: Vec<String> = outcomes.iter().filter_map(failed).collect();
    let failed = failed.join("; ");
    match (failed.is_empty(), ready) {
        (true, _) => {}
        (false, true) => tracing::warn!(failed, "checks failed; the service is ready all the same"),
        (false, false) => tracing::warn!(failed, "checks failed; the service is not ready"),
    }
}

async fn render_metrics(metrics: web::Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics.render())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[actix_web::test]
    async fn a_startup_check_is_reported_later_without_affecting_readiness() {
        let answer = Arc::new(Mutex::new(Err("refused")));
        let asked = Arc::clone(&answer);
        let is_harmless = |error: &&str| *error == "unreachable";
        let readiness = Readiness::default().with_startup_check("broker", is_harmless, move || {
            let answer = *asked.lock().unwrap();
            async move { answer }
        });
        for (answers, passed, ready, why) in [
            (Err("refused"), false, false, "a new instance with a wrong password"),
            (Err("unreachable"), false, true, "harmless"),
            (Err("refused"), false, false, "it has not passed yet"),
            (Ok(()), true, true, "it passes"),
            (Err("refused"), false, true, "it has passed once"),
        ] {
            *answer.lock().unwrap() = answers;
            let outcomes = readiness.run().await;
            assert_eq!((outcomes[0].error.is_none(), outcomes[0].ready), (passed, ready), "{why}");
        }
    }
}
