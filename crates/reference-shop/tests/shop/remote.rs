//! A fake delivery service: creates, replays and refuses known references. On request, it fails, delays its response or
//! loses it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};
use test_kit::until;
use tokio::sync::Semaphore;
use url::Url;

/// The behaviour for the next request.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// Answers this and creates nothing.
    Answer(u16, Value),
    /// Answers normally after [`Remote::release`].
    Hold,
    /// Answers this after [`Remote::release`].
    HoldAnswer(u16, Value),
    /// Creates the order and never answers.
    LoseAnswer,
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) authorization: String,
    pub(crate) idempotency_key: String,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

pub(crate) struct Remote {
    address: std::net::SocketAddr,
    state: Arc<State>,
}

struct State {
    seen: Mutex<Vec<Seen>>,
    next: Mutex<VecDeque<Next>>,
    /// By reference: the key that created it.
    orders: Mutex<HashMap<String, String>>,
    releases: Semaphore,
}

impl Remote {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(State {
            seen: Mutex::default(),
            next: Mutex::default(),
            orders: Mutex::default(),
            releases: Semaphore::new(0),
        });
        let shared = web::Data::from(state.clone());
        let address = test_kit::serve(move |app| {
            app.app_data(shared.clone()).route("/v1/integration/orders", web::post().to(create));
        });
        Self { address, state }
    }

    pub(crate) fn base_url(&self) -> Url {
        format!("http://{}/v1", self.address).parse().unwrap()
    }

    pub(crate) fn next(&self, next: impl IntoIterator<Item = Next>) {
        self.state.next.lock().unwrap().extend(next);
    }

    pub(crate) fn release(&self) {
        self.state.releases.add_permits(1);
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) async fn has_seen(&self, requests: usize) {
        until("the requests have arrived", async || self.seen().len() >= requests).await;
    }

    /// An order that another caller created under this reference.
    pub(crate) fn already_has(&self, reference: &str) {
        self.state.orders.lock().unwrap().insert(reference.into(), "another key".into());
    }
}

async fn create(state: web::Data<State>, request: HttpRequest, body: String) -> HttpResponse {
    let header = |name| request.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let key = header("Idempotency-Key");
    state.seen.lock().unwrap().push(Seen {
        authorization: header("Authorization"),
        idempotency_key: key.clone(),
        content_type: header("Content-Type"),
        body: body.clone(),
    });
    let next = state.next.lock().unwrap().pop_front();
    match next {
        None => ordinary(&state, &key, &body),
        Some(Next::Answer(status, answer)) => respond(status, &answer),
        Some(Next::Hold) => {
            state.releases.acquire().await.unwrap().forget();
            ordinary(&state, &key, &body)
        }
        Some(Next::HoldAnswer(status, answer)) => {
            state.releases.acquire().await.unwrap().forget();
            respond(status, &answer)
        }
        Some(Next::LoseAnswer) => {
            ordinary(&state, &key, &body);
            std::future::pending().await
        }
    }
}

fn ordinary(state: &State, key: &str, body: &str) -> HttpResponse {
    let body: Value = serde_json::from_str(body).unwrap();
    let reference = body["orderReference"].as_str().unwrap();
    let mut orders = state.orders.lock().unwrap();
    let created_by = orders.entry(reference.to_owned()).or_insert_with(|| key.to_owned());
    if created_by == key {
        respond(201, &order(reference))
    } else {
        let code = "order_reference_exists";
        respond(409, &json!({"message": "The reference exists.", "code": code, "order": order(reference)}))
    }
}

fn order(reference: &str) -> Value {
    json!({
        "id": format!("ord_{reference}"),
        "serviceOrderId": format!("ord_{reference}"),
        "orderReference": reference,
        "trackingCode": format!("TRACK-{reference}"),
        "trackingUrl": format!("https://track.example/TRACK-{reference}"),
        "status": "created",
        "mode": "live",
        "createdAt": "2026-01-01T00:00:00Z",
        "warnings": [],
    })
}

fn respond(status: u16, answer: &Value) -> HttpResponse {
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(answer)
}
