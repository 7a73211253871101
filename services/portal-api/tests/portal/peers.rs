//! The far end of the lines to the other services: answers as it is told, and remembers what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) call: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    pub(crate) idempotency_key: Option<String>,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, (u16, Value)>,
    silent: Vec<String>,
    asked: Vec<Asked>,
}

/// All peers in one server; each has a path of its own in front (`/wallet/internal/…`).
#[derive(Clone)]
pub(crate) struct Peers {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Peers {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Data::from(state.clone());
        let server =
            HttpServer::new(move || App::new().app_data(shared.clone()).default_service(web::to(answer)))
                .workers(1)
                .disable_signals()
                .bind("127.0.0.1:0")
                .unwrap();
        let address = server.addrs()[0];
        tokio::spawn(server.run());
        Self { address, state }
    }

    /// From now on `call` (`"GET /wallet/internal/…"`) is answered so.
    pub(crate) fn answer(&self, call: impl Into<String>, status: u16, body: Value) {
        self.state.lock().unwrap().answers.insert(call.into(), (status, body));
    }

    /// A peer that takes calls and never answers them.
    pub(crate) fn silence(&self, peer: &str) {
        self.state.lock().unwrap().silent.push(format!("/{peer}/"));
    }

    /// What was asked by this method and path.
    pub(crate) fn asked(&self, call: &str) -> Vec<Asked> {
        self.state.lock().unwrap().asked.iter().filter(|asked| asked.call == call).cloned().collect()
    }

    /// The answers that a business gets which has done nothing yet.
    pub(crate) fn know_new_business(&self, business: &str) {
        self.answer(
            format!("GET /order-api/internal/businesses/{business}/test-orders/any"),
            200,
            json!({ "exists": false }),
        );
        self.wallet(business, 0, false);
        self.keys(business, false, false);
        self.webhooks(business, None, "not_tested");
    }

    pub(crate) fn has_test_order(&self, business: &str) {
        self.answer(
            format!("GET /order-api/internal/businesses/{business}/test-orders/any"),
            200,
            json!({ "exists": true }),
        );
    }

    pub(crate) fn wallet(&self, business: &str, balance: i64, funded: bool) {
        self.answer(
            format!("GET /wallet/internal/wallets/{business}"),
            200,
            json!({
                "balancePaise": balance,
                "currency": "INR",
                "fundedAt": funded.then_some("2026-01-01T00:00:00Z"),
                "lowBalanceThresholdPaise": 50_000,
            }),
        );
    }

    pub(crate) fn keys(&self, business: &str, test: bool, live: bool) {
        self.answer(
            format!("GET /key-management/internal/businesses/{business}/api-keys/summary"),
            200,
            json!({ "test": test, "live": live }),
        );
    }

    pub(crate) fn webhooks(&self, business: &str, status: Option<&str>, test: &str) {
        self.answer(
            format!("GET /webhook-dispatcher/internal/businesses/{business}/webhooks/summary"),
            200,
            json!({ "status": status, "connectionTest": test }),
        );
    }
}

async fn answer(request: HttpRequest, body: Bytes, state: Data<Mutex<State>>) -> HttpResponse {
    let call = format!("{} {}", request.method(), request.path());
    let header = |name| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.map(str::to_owned)
    };
    assert_eq!(
        header("authorization").as_deref(),
        Some("Bearer local-internal-token-of-the-local-stack"),
        "{call}"
    );
    let (silent, answer) = {
        let mut state = state.lock().unwrap();
        state.asked.push(Asked {
            call: call.clone(),
            query: request.query_string().to_owned(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            idempotency_key: header("idempotency-key"),
        });
        let silent = state.silent.iter().any(|prefix| request.path().starts_with(prefix.as_str()));
        (silent, state.answers.get(&call).cloned())
    };
    if silent {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let (status, body) = answer.unwrap_or_else(|| {
        (404, json!({ "code": "not_told", "message": format!("nobody said how to answer {call}") }))
    });
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(body)
}
