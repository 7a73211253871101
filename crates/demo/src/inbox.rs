//! The receiver of a business's webhooks: verifies each with the client for integrators, and keeps it in memory.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data, Payload, post};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::Context;
use serde_json::json;
use waybill_client::actix::{read_body, refuse};
use waybill_client::webhooks::{Secrets, VerifyOptions, construct_event};
use waybill_client::{WebhookError, WebhookEvent};

const PATH: &str = "/api/waybill/webhook";

/// A webhook with a verified signature.
#[derive(Clone, Debug)]
pub struct ReceivedWebhook {
    pub event: WebhookEvent,
    /// The signed bytes.
    pub body: Bytes,
    /// By their lower-case names.
    pub headers: BTreeMap<String, String>,
    /// Greater than 1 when the event was sent again.
    pub times_received: u32,
}

impl ReceivedWebhook {
    /// The reference of the event's order; empty without an order.
    pub fn reference(&self) -> &str {
        self.event.order.as_ref().map_or("", |order| &order.order_reference)
    }
}

/// A running receiver. It runs until the process ends.
pub struct Inbox {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Without them, every webhook gets 401.
    secrets: Option<Secrets>,
    received: Vec<ReceivedWebhook>,
    fails_next: bool,
}

impl Inbox {
    /// Receives webhooks on a free port.
    ///
    /// # Errors
    /// When no port is free.
    pub fn open() -> anyhow::Result<Self> {
        let state = Arc::<Mutex<State>>::default();
        let data = Data::from(state.clone());
        let server =
            HttpServer::new(move || App::new().app_data(data.clone()).route(PATH, post().to(receive)))
                .workers(1)
                .disable_signals()
                .bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = *server.addrs().first().context("the receiver has no address")?;
        tokio::spawn(server.run());
        Ok(Self { url: format!("http://{address}{PATH}"), state })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the secret that verifies later webhooks.
    ///
    /// # Errors
    /// When it is not a whole signing secret.
    pub fn set_secret(&self, secret: &str) -> anyhow::Result<()> {
        lock(&self.state).secrets = Some(Secrets::new([secret])?);
        Ok(())
    }

    /// Answers the next webhook with 500, so that the service sends it again.
    pub fn fail_next(&self) {
        lock(&self.state).fails_next = true;
    }

    /// The webhooks that are wanted, one for each event, in order of arrival.
    pub fn received(&self, is_wanted: impl Fn(&ReceivedWebhook) -> bool) -> Vec<ReceivedWebhook> {
        lock(&self.state).received.iter().filter(|webhook| is_wanted(webhook)).cloned().collect()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn receive(state: Data<Mutex<State>>, request: HttpRequest, payload: Payload) -> HttpResponse {
    let body = match read_body(payload).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let mut state = lock(&state);
    if std::mem::take(&mut state.fails_next) {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "The receiver fails once.");
    }
    match state.keep(&request, body) {
        Ok(()) => HttpResponse::Ok().json(json!({ "received": true })),
        Err(error) => refuse(StatusCode::UNAUTHORIZED, error.reason()),
    }
}

impl State {
    fn keep(&mut self, request: &HttpRequest, body: Bytes) -> Result<(), WebhookError> {
        let secrets = self.secrets.as_ref().ok_or(WebhookError::Mismatch)?;
        let event = construct_event(&body, request.headers(), secrets, &VerifyOptions::default())?;
        if let Some(known) = self.received.iter_mut().find(|known| known.event.id == event.id) {
            known.times_received += 1;
            return Ok(());
        }
        let headers = request.headers().iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        self.received.push(ReceivedWebhook { event, body, headers: headers.collect(), times_received: 1 });
        Ok(())
    }
}
