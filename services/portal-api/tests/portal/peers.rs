//! Fake peers: they answer as configured, and record the requests.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use chrono::{DateTime, Utc};
use domain::Paise;
use internal_api::keys::ApiKeySummary;
use internal_api::orders::AnyTestOrder;
use internal_api::wallet::WalletView;
use internal_api::webhooks::{ConnectionTest, EndpointStatus, WebhookSummary};
use serde::Serialize;
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
    /// In turn. The last one stays.
    answers: HashMap<String, VecDeque<(u16, Value)>>,
    silent: Vec<String>,
    failing: Vec<String>,
    asked: Vec<Asked>,
    /// Calls that no real peer would take. They fail the test at its end: a panic in the server would only be a 503.
    violations: Vec<String>,
}

/// All peers in one server; each has a path of its own in front (`/wallet/internal/…`).
#[derive(Clone)]
pub(crate) struct Peers {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Drop for Peers {
    fn drop(&mut self) {
        let violations = std::mem::take(&mut self.state.lock().unwrap().violations);
        assert!(
            violations.is_empty() || std::thread::panicking(),
            "the peers were called wrongly: {violations:?}"
        );
    }
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
        self.answer_in_turn(call, [(status, body)]);
    }

    /// From now on `call` is answered so: each time with the next one, and with the last one from then on.
    pub(crate) fn answer_in_turn(
        &self,
        call: impl Into<String>,
        answers: impl IntoIterator<Item = (u16, Value)>,
    ) {
        self.state.lock().unwrap().answers.insert(call.into(), answers.into_iter().collect());
    }

    /// A peer that takes calls and never answers them.
    pub(crate) fn silence(&self, peer: &str) {
        self.state.lock().unwrap().silent.push(format!("/{peer}/"));
    }

    /// A peer that answers every call with 503. Its callers treat it as a silent one, and need no time to notice.
    pub(crate) fn fail(&self, peer: &str) {
        self.state.lock().unwrap().failing.push(format!("/{peer}/"));
    }

    /// Silent and failing peers answer new calls again.
    pub(crate) fn recover(&self) {
        let mut state = self.state.lock().unwrap();
        state.silent.clear();
        state.failing.clear();
    }

    /// What was asked by this method and path.
    pub(crate) fn asked(&self, call: &str) -> Vec<Asked> {
        self.state.lock().unwrap().asked.iter().filter(|asked| asked.call == call).cloned().collect()
    }

    /// All that was asked, oldest first.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.iter().map(|asked| asked.call.clone()).collect()
    }

    /// The answers that a business gets which has done nothing yet.
    pub(crate) fn know_new_business(&self, business: &str) {
        self.test_orders(business, false);
        self.wallet(business, 0, false);
        self.keys(business, false, false);
        self.webhooks(business, None, ConnectionTest::NotTested);
    }

    pub(crate) fn has_test_order(&self, business: &str) {
        self.test_orders(business, true);
    }

    fn test_orders(&self, business: &str, exists: bool) {
        let call = format!("GET /order-api/internal/businesses/{business}/test-orders/any");
        self.answer(call, 200, answer_of(&AnyTestOrder { exists }));
    }

    pub(crate) fn wallet(&self, business: &str, balance: i64, funded: bool) {
        self.answer(format!("GET /wallet/internal/wallets/{business}"), 200, wallet_of(balance, funded));
    }

    pub(crate) fn keys(&self, business: &str, test: bool, live: bool) {
        let call = format!("GET /key-management/internal/businesses/{business}/api-keys/summary");
        self.answer(call, 200, answer_of(&ApiKeySummary { test, live }));
    }

    pub(crate) fn webhooks(
        &self,
        business: &str,
        status: Option<EndpointStatus>,
        connection_test: ConnectionTest,
    ) {
        let call = format!("GET /webhook-dispatcher/internal/businesses/{business}/webhooks/summary");
        self.answer(call, 200, answer_of(&WebhookSummary { status, connection_test, verified: None }));
    }
}

pub(crate) fn wallet_of(balance: i64, funded: bool) -> Value {
    answer_of(&WalletView {
        owed_paise: Paise::ZERO,
        balance_paise: Paise::new(balance),
        currency: "INR".to_owned(),
        funded_at: funded.then(at),
        low_balance_threshold_paise: Paise::new(50_000),
    })
}

/// The time that peers name.
pub(crate) fn at() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// A peer's answer, from the type that the peer answers with.
pub(crate) fn answer_of(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

async fn answer(request: HttpRequest, body: Bytes, state: Data<Mutex<State>>) -> HttpResponse {
    let call = format!("{} {}", request.method(), request.path());
    let header = |name| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.map(str::to_owned)
    };
    if header("authorization").as_deref() != Some("Bearer local-internal-token-of-the-local-stack") {
        state.lock().unwrap().violations.push(format!("{call} without the internal token"));
        let refusal = json!({ "code": "internal_token_invalid", "message": "Send the internal token." });
        return HttpResponse::Unauthorized().json(refusal);
    }
    let (silent, failing, answer) = {
        let mut state = state.lock().unwrap();
        state.asked.push(Asked {
            call: call.clone(),
            query: request.query_string().to_owned(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            idempotency_key: header("idempotency-key"),
        });
        let is_among =
            |peers: &[String]| peers.iter().any(|prefix| request.path().starts_with(prefix.as_str()));
        let (silent, failing) = (is_among(&state.silent), is_among(&state.failing));
        let answers = state.answers.get_mut(&call);
        let answer =
            answers.and_then(|all| if all.len() > 1 { all.pop_front() } else { all.front().cloned() });
        (silent, failing, answer)
    };
    if silent {
        std::future::pending::<()>().await;
    }
    if failing {
        return HttpResponse::ServiceUnavailable().finish();
    }
    let (status, body) = answer.unwrap_or_else(|| {
        (404, json!({ "code": "not_told", "message": format!("nobody said how to answer {call}") }))
    });
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(body)
}
