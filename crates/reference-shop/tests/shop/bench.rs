//! The environment of each test: a shop with its own database, and the service that it calls.

use std::net::SocketAddr;

use domain::{Clock, Mode};
use reference_shop::{
    LocalOrder, LocalOrderId, Modes, NewOrder, ReceivedWebhook, Shop, ShopSettings, SyncOutcome,
    WEBHOOK_PATH, WebhookServer,
};
use serde_json::{Value, json};
use settings::Secret;
use test_kit::eventually;

use crate::remote::Remote;

pub(crate) const API_KEY: &str = "sk_live_waybill_key-of-the-shop";
pub(crate) const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

pub(crate) struct Bench {
    pub(crate) shop: Shop,
    pub(crate) remote: Remote,
    pub(crate) clock: Clock,
    pub(crate) settings: ShopSettings,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut ShopSettings)) -> Self {
        let remote = Remote::start().await;
        let database = test_kit::database_url().await;
        let mut settings = ShopSettings::new(database, remote.base_url(), Secret::new(API_KEY));
        settings.webhook_secret = Some(Secret::new(SECRET));
        settings.modes = Modes::new([Mode::Live]);
        change(&mut settings);
        let clock = Clock::manual(Clock::system().now());
        let shop = Shop::open_with_clock(settings.clone(), clock.clone()).await.unwrap();
        Self { shop, remote, clock, settings }
    }

    pub(crate) async fn confirmed(&self, reference: &str) -> LocalOrderId {
        self.shop.confirm_order(NewOrder::sample(reference)).await.unwrap()
    }

    pub(crate) async fn created(&self, reference: &str) -> LocalOrderId {
        let id = self.confirmed(reference).await;
        let outcome = self.shop.sync_order(&id).await.unwrap();
        assert!(matches!(outcome, SyncOutcome::Created(_)), "{outcome:?}");
        id
    }

    pub(crate) async fn order(&self, id: &LocalOrderId) -> LocalOrder {
        self.shop.order(id).await.unwrap().expect("the order is kept")
    }

    pub(crate) async fn serve(&self) -> Sender {
        let (address, server) = self.shop.serve_webhooks("127.0.0.1:0".parse().unwrap()).await.unwrap();
        Sender { address, server, clock: self.clock.clone(), http: test_kit::client() }
    }

    /// The webhook of this event, once it is processed.
    pub(crate) async fn processed(&self, event_id: &str) -> ReceivedWebhook {
        eventually("the webhook is processed", async || {
            let received = self.shop.received(0, 1_000).await.unwrap();
            received.into_iter().find(|webhook| webhook.event_id == event_id && webhook.outcome.is_some())
        })
        .await
    }
}

/// Sends webhooks as the delivery service does.
pub(crate) struct Sender {
    pub(crate) address: SocketAddr,
    pub(crate) server: WebhookServer,
    clock: Clock,
    http: reqwest::Client,
}

impl Sender {
    pub(crate) async fn send(&self, event: &Value) -> (u16, Value) {
        self.send_signed(&serde_json::to_vec_pretty(event).unwrap(), SECRET).await
    }

    pub(crate) async fn send_signed(&self, body: &[u8], secret: &str) -> (u16, Value) {
        let timestamp = self.now();
        let signature = webhook_signature::sign(secret, timestamp, body);
        self.send_with(
            body,
            &[("Service-Timestamp", &timestamp.to_string()), ("Service-Signature", &signature)],
        )
        .await
    }

    pub(crate) async fn send_with(&self, body: &[u8], headers: &[(&str, &str)]) -> (u16, Value) {
        let mut request =
            self.http.post(format!("http://{}{WEBHOOK_PATH}", self.address)).body(body.to_vec());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().timestamp()
    }
}

/// A live webhook for the order that [`Remote`] created under this reference.
pub(crate) fn event(kind: &str, sequence: i64, reference: &str, status: &str) -> Value {
    json!({
        "id": format!("evt_{reference}_{sequence}"),
        "event": kind,
        "sequence": sequence,
        "mode": "live",
        "occurredAt": "2026-01-01T00:00:00Z",
        "order": {
            "id": format!("ord_{reference}"),
            "serviceOrderId": format!("ord_{reference}"),
            "orderReference": reference,
            "trackingCode": format!("TRACK-{reference}"),
            "trackingUrl": format!("https://track.example/TRACK-{reference}"),
            "status": status,
            "codStatus": "pending",
        },
        "data": {},
    })
}
