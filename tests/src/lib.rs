//! Helpers of the end-to-end tests: a whole stack, and a business with its receiver of webhooks.

pub mod asyncapi;
pub mod faults;
pub mod figure;
mod mails;
pub mod restoring;
pub mod settings_table;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use demo::clients::{Fleet, Integration, Operator, Portal, Reply};
use demo::{Inbox, ReceivedWebhook, eventually, sample_order};
use domain::{Clock, Entropy, OrderId};
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};

pub use test_kit::{Gate, PATIENCE, smallest_order};

/// The password of every business's owner.
pub const PASSWORD: &str = "a-long-password";

/// A business with its portal session and its webhook endpoint.
pub struct Business {
    pub portal: Portal,
    pub operator: Operator,
    pub fleet: Fleet,
    pub inbox: Inbox,
    /// The owner's address, for further log-ins.
    pub email: String,
    pub test_key: String,
    pub live_key: Option<String>,
    pub endpoint_id: String,
    order_api: String,
    /// The folder of the stack's mails.
    mails: PathBuf,
}

impl Business {
    /// Signs up, creates a Test key and registers a receiver of webhooks.
    pub async fn sign_up(stack: &Stack) -> anyhow::Result<Self> {
        Self::sign_up_at(stack, stack.order_api(), &stack.portal_api()).await
    }

    /// As [`Business::sign_up`], with other addresses of order-api and portal-api, such as a load balancer's.
    pub async fn sign_up_at(stack: &Stack, order_api: String, portal_api: &str) -> anyhow::Result<Self> {
        let unique = OrderId::generate(&Clock::system(), &Entropy::from_system()?).to_string().to_lowercase();
        let email = format!("{unique}@example.com");
        let portal = Portal::sign_up(portal_api, "Malabar Coffee Works", &email, PASSWORD).await?;
        let test_key = create_key(&portal, "test").await?;

        let inbox = Inbox::open()?;
        let endpoint =
            portal.post("/webhook-endpoints", &json!({ "url": inbox.url() })).await?.expect(201)?;
        inbox.set_secret(&text(&endpoint, "secret")?)?;
        Ok(Self {
            operator: Operator::new(portal_api, stack.operator_token())?,
            fleet: Fleet::new(&order_api, stack.fleet_token())?,
            endpoint_id: text(&endpoint, "id")?,
            portal,
            inbox,
            email,
            test_key,
            live_key: None,
            order_api,
            mails: stack.mails(),
        })
    }

    /// Completes the go-live list and creates a Live key, which places orders from then on.
    pub async fn go_live(&mut self, top_up_paise: i64) -> anyhow::Result<()> {
        self.place(&sample_order("first-test-order")).await?;
        self.portal.put("/pickup-profile", &pickup_profile()).await?;
        self.operator.activate(&self.portal.business_id).await?;
        self.top_up(top_up_paise).await?;
        self.live_key = Some(create_key(&self.portal, "live").await?);
        Ok(())
    }

    pub async fn top_up(&self, amount_paise: i64) -> anyhow::Result<Value> {
        self.portal.post("/wallet/top-ups", &json!({ "amountPaise": amount_paise })).await?.expect(201)
    }

    pub async fn balance(&self) -> anyhow::Result<i64> {
        self.portal.get("/wallet").await?["balancePaise"].as_i64().context("no balancePaise")
    }

    /// The base URL of the integration and fleet API, ending in `/v1`.
    pub fn order_api(&self) -> &str {
        &self.order_api
    }

    /// A client with a key of this business.
    pub fn integration(&self, key: &str) -> anyhow::Result<Integration> {
        Integration::new(&self.order_api, key)
    }

    /// A client with the Live key.
    pub fn live(&self) -> anyhow::Result<Integration> {
        self.integration(self.live_key.as_deref().context("not live yet")?)
    }

    /// Places an order with the latest key. Returns the service's order id.
    pub async fn place(&self, order: &Value) -> anyhow::Result<String> {
        text(&self.create(order).await?.expect(201)?, "id")
    }

    /// The operator records a bank transfer with the cash of an order, once the wallet knows that it was handed over.
    pub async fn pay_out(&self, order: &str, bank_reference: &str) -> anyhow::Result<Value> {
        let path = format!("/businesses/{}/remittances", self.portal.business_id);
        let wanted = json!({ "bankReference": bank_reference, "paidOn": "2026-01-31", "csv": order });
        eventually("the cash to be handed over", PATIENCE, || async {
            let reply = self.operator.call(Method::POST, &path, &wanted).await?;
            let is_early = reply.text.contains("not_handed_over") || reply.text.contains("unknown_order");
            ensure!(reply.status.is_success() || is_early, "a remittance: {} {}", reply.status, reply.text);
            Ok(reply.status.is_success().then_some(reply.body))
        })
        .await
    }

    async fn create(&self, order: &Value) -> anyhow::Result<Reply> {
        let key = self.live_key.as_ref().unwrap_or(&self.test_key);
        let idempotency_key = format!("shop-{}", text(order, "orderReference")?);
        self.integration(key)?.create(&idempotency_key, order).await
    }

    /// Waits for `count` different verified webhooks of an order. Returns them in order of arrival.
    pub async fn webhooks_of(&self, reference: &str, count: usize) -> anyhow::Result<Vec<ReceivedWebhook>> {
        let found = eventually("an order's webhooks", PATIENCE, || async {
            let received = self.inbox.received(|hook| hook.reference() == reference);
            Ok((received.len() >= count).then_some(received))
        })
        .await?;
        ensure!(found.len() == count, "{reference} got {} webhooks, not {count}", found.len());
        Ok(found)
    }

    /// Waits for an order's latest webhook in the delivery log. A webhook may arrive before it is stored.
    pub async fn logged_delivery(&self, reference: &str) -> anyhow::Result<Value> {
        let path = format!("/webhook-endpoints/{}/deliveries?orderReference={reference}", self.endpoint_id);
        eventually("an order's webhook in the log", PATIENCE, || async {
            let page = self.portal.get(&path).await?;
            Ok(page["data"].get(0).cloned())
        })
        .await
    }

    /// Kind and amount of each entry of an order in the wallet's statement.
    pub async fn entries_of(&self, order: &str) -> anyhow::Result<Vec<(String, i64)>> {
        let page = self.portal.get("/wallet/entries?limit=100").await?;
        let entries = page["data"].as_array().context("no entries")?;
        Ok(entries
            .iter()
            .filter(|entry| entry["orderId"] == order)
            .map(|entry| {
                let kind = entry["kind"].as_str().unwrap_or_default().to_owned();
                (kind, entry["amountPaise"].as_i64().unwrap_or_default())
            })
            .collect())
    }
}

/// The kinds of the webhooks, in order of arrival.
pub fn kinds(webhooks: &[ReceivedWebhook]) -> Vec<&str> {
    webhooks.iter().map(|webhook| webhook.event.event.as_str()).collect()
}

/// Asserts that the webhooks of one order arrived in order of their sequence, without a gap.
pub fn assert_in_order(webhooks: &[ReceivedWebhook]) {
    let sequences: Vec<i64> = webhooks.iter().filter_map(|webhook| webhook.event.sequence).collect();
    let expected: Vec<i64> = (1..).take(webhooks.len()).collect();
    assert_eq!(sequences, expected, "{:?}", kinds(webhooks));
}

/// Waits until the outboxes and the pending orders are empty.
pub async fn wait_until_quiet(stack: &Stack) -> anyhow::Result<()> {
    for service in Service::ALL {
        eventually("the outbox to be empty", PATIENCE, || async {
            let waiting = stack.query(service, "SELECT count(*) FROM outbox_messages").await?;
            Ok((waiting.trim() == "0").then_some(()))
        })
        .await?;
    }
    eventually("pending orders to be gone", PATIENCE, || async {
        let sql = "SELECT count(*) FROM orders WHERE placement = 'pending_payment'";
        Ok((stack.query(Service::OrderApi, sql).await?.trim() == "0").then_some(()))
    })
    .await
}

async fn create_key(portal: &Portal, mode: &str) -> anyhow::Result<String> {
    let key = portal.post("/api-keys", &json!({ "mode": mode, "name": mode })).await?.expect(201)?;
    text(&key, "key")
}

pub fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    Ok(value[name].as_str().with_context(|| format!("no {name} in {value}"))?.to_owned())
}

pub fn pickup_profile() -> Value {
    json!({
        "businessName": "Malabar Coffee Works",
        "contactName": "Joseph Mathew",
        "phone": "+919800000002",
        "addressLine1": "27, Church Street",
        "city": "Bengaluru",
        "state": "Karnataka",
        "pincode": "560001"
    })
}
