//! A fake Razorpay. It stores orders and payments, and can lose responses or be unavailable.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use actix_web::web::{Data, Json, Path, Query};
use actix_web::{HttpRequest, HttpResponse, web};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use settings::Secret;
use sha2::Sha256;
use wallet::{Payments, Provider, RazorpayAccount};

pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret-of-the-tests";
/// `rzp_test_key:rzp_secret`
const AUTHORIZATION: &str = "Basic cnpwX3Rlc3Rfa2V5OnJ6cF9zZWNyZXQ=";
/// Razorpay's minimum: one rupee.
const AMOUNT_MIN: i64 = 100;

#[derive(Default)]
struct State {
    orders: Vec<Value>,
    payments: Vec<Value>,
    /// The order is created, but the response is lost.
    loses_answers: bool,
    unavailable: bool,
}

#[derive(Clone)]
pub(crate) struct FakeRazorpay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FakeRazorpay {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Data::from(state.clone());
        let address = test_kit::serve(move |app| {
            app.app_data(shared.clone())
                .route("/v1/orders", web::post().to(create))
                .route("/v1/orders", web::get().to(list))
                .route("/v1/orders/{id}/payments", web::get().to(payments));
        });
        Self { address, state }
    }

    pub(crate) fn settings(&self) -> Payments {
        Payments {
            provider: Provider::Razorpay,
            razorpay: RazorpayAccount {
                url: test_kit::url(self.address),
                key_id: "rzp_test_key".into(),
                key_secret: Secret::new("rzp_secret"),
                webhook_secret: Secret::new(WEBHOOK_SECRET),
            },
        }
    }

    pub(crate) fn set_unavailable(&self, unavailable: bool) {
        self.lock().unavailable = unavailable;
    }

    pub(crate) fn lose_answers(&self, loses_answers: bool) {
        self.lock().loses_answers = loses_answers;
    }

    pub(crate) fn orders(&self) -> usize {
        self.lock().orders.len()
    }

    /// Pays this amount for an order, without sending a webhook.
    pub(crate) fn pay(&self, order: &str, payment: &str, amount: i64, status: &str) -> Value {
        let payment = json!({
            "id": payment, "entity": "payment", "amount": amount, "currency": "INR", "status": status,
            "order_id": order, "method": "upi",
        });
        self.lock().payments.push(payment.clone());
        payment
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with the lock")
    }
}

/// The body of a webhook.
pub(crate) fn event(kind: &str, payment: &Value) -> String {
    let order = payment["order_id"].as_str().expect("a payment of an order");
    json!({
        "entity": "event", "account_id": "acc_1", "event": kind, "contains": ["payment"],
        "payload": {"payment": {"entity": payment}, "order": {"entity": {"id": order, "status": "paid"}}},
        "created_at": 1_700_000_000,
    })
    .to_string()
}

pub(crate) fn sign(body: &str, secret: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The response if the credentials are wrong or the provider is unavailable.
fn refusal(request: &HttpRequest, state: &State) -> Option<HttpResponse> {
    let given = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    if given != Some(AUTHORIZATION) {
        return Some(HttpResponse::Unauthorized().json(json!({"error": {"code": "BAD_REQUEST_ERROR"}})));
    }
    state.unavailable.then(|| HttpResponse::ServiceUnavailable().finish())
}

async fn create(request: HttpRequest, body: Json<Value>, state: Data<Mutex<State>>) -> HttpResponse {
    let mut state = state.lock().expect("no test panics with the lock");
    if let Some(refused) = refusal(&request, &state) {
        return refused;
    }
    if body["amount"].as_i64().is_none_or(|amount| amount < AMOUNT_MIN) {
        let error = json!({"error": {"code": "BAD_REQUEST_ERROR", "description": "The amount is too small"}});
        return HttpResponse::BadRequest().json(error);
    }
    let order = json!({
        "id": format!("order_{}", state.orders.len() + 1), "entity": "order", "amount": body["amount"],
        "amount_paid": 0, "currency": body["currency"], "receipt": body["receipt"], "status": "created",
    });
    state.orders.push(order.clone());
    if state.loses_answers { HttpResponse::BadGateway().finish() } else { HttpResponse::Ok().json(order) }
}

async fn list(
    request: HttpRequest,
    query: Query<std::collections::HashMap<String, String>>,
    state: Data<Mutex<State>>,
) -> HttpResponse {
    let state = state.lock().expect("no test panics with the lock");
    if let Some(refused) = refusal(&request, &state) {
        return refused;
    }
    let receipt = query.get("receipt").map(String::as_str);
    collection(state.orders.iter().filter(|order| order["receipt"].as_str() == receipt))
}

async fn payments(request: HttpRequest, order: Path<String>, state: Data<Mutex<State>>) -> HttpResponse {
    let state = state.lock().expect("no test panics with the lock");
    if let Some(refused) = refusal(&request, &state) {
        return refused;
    }
    collection(state.payments.iter().filter(|payment| payment["order_id"].as_str() == Some(order.as_str())))
}

fn collection<'a>(items: impl Iterator<Item = &'a Value>) -> HttpResponse {
    let items: Vec<_> = items.collect();
    HttpResponse::Ok().json(json!({"entity": "collection", "count": items.len(), "items": items}))
}
