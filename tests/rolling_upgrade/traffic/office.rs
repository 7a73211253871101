//! A business's work in the portal: log-ins, status and orders, payments, key and endpoint changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use demo::clients::{Api, Integration, Operator, Portal};
use demo::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PASSWORD, pickup_profile, smallest_order, text};

use super::orders::{End, Placed};

/// The amount of each top-up and each credit.
const AMOUNT: i64 = 1_000;
/// People who log in by turns: each may do so a hundred times in a quarter of an hour.
const PEOPLE: usize = 4;
/// How long a revoked key may still be accepted.
const REVOKED_AFTER: Duration = Duration::from_secs(5);
/// The balance never falls this low, so an endpoint for this event gets no webhooks.
const RARE_EVENT: &str = "wallet.low_balance";

pub(super) struct Office {
    name: String,
    portal_api: String,
    order_api: String,
    /// The e-mails of its people.
    people: Vec<String>,
    operator: Operator,
    shop_endpoint: String,
    hook_url: String,
    /// An endpoint that changes continuously.
    endpoint: String,
    record: OfficeRecord,
}

/// The responses that one office got.
#[derive(Default)]
pub(crate) struct OfficeRecord {
    pub(crate) placed: Vec<Placed>,
    pub(crate) paid_in: i64,
    /// The ids of created keys; none of them works any more.
    pub(crate) keys: Vec<String>,
    /// When they were revoked.
    pub(crate) revoked: Vec<(Instant, Integration)>,
    /// The endpoint and the last value of its `maxPerSecond`.
    pub(crate) endpoint: (String, i64),
}

impl Office {
    pub(super) async fn open(name: String, business: &Business, portal_api: &str) -> anyhow::Result<Self> {
        let endpoint = json!({ "url": business.inbox.url(), "events": [RARE_EVENT] });
        let endpoint = business.portal.post("/webhook-endpoints", &endpoint).await?.expect(201)?;
        Ok(Self {
            portal_api: portal_api.to_owned(),
            order_api: business.order_api().to_owned(),
            people: people(&name, business, portal_api).await?,
            operator: business.operator.clone(),
            shop_endpoint: business.endpoint_id.clone(),
            hook_url: business.inbox.url().to_owned(),
            endpoint: text(&endpoint, "id")?,
            name,
            record: OfficeRecord::default(),
        })
    }

    pub(super) async fn work_steadily(mut self, enough: &AtomicBool) -> anyhow::Result<OfficeRecord> {
        let mut people = self.people.clone().into_iter().cycle();
        for number in 0.. {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            let name = format!("{}-{number}", self.name);
            let email = people.next().context("no people")?;
            self.works(&email, &name, number).await.with_context(|| name.clone())?;
        }
        Ok(self.record)
    }

    async fn works(&mut self, email: &str, name: &str, number: i64) -> anyhow::Result<()> {
        let portal = Portal::log_in(&self.portal_api, email, PASSWORD).await?;
        looks(&portal).await.context("status and orders")?;
        self.pays_in(&portal, name).await.context("money")?;
        self.changes_keys(&portal, name).await.context("keys")?;
        self.changes_endpoints(&portal, number).await.context("endpoints")?;
        let mut profile = pickup_profile();
        profile["contactName"] = json!(name);
        portal.put("/pickup-profile", &profile).await.context("pickup profile")?;
        Ok(())
    }

    /// Every payment is requested twice and happens once.
    async fn pays_in(&mut self, portal: &Portal, name: &str) -> anyhow::Result<()> {
        let wanted = json!({ "amountPaise": AMOUNT });
        let top_up = portal.post_once("/wallet/top-ups", name, &wanted).await?.expect(201)?;
        let again = portal.post_once("/wallet/top-ups", name, &wanted).await?.expect(201)?;
        ensure!(again["id"] == top_up["id"], "{again} after {top_up}");
        let path = format!("/businesses/{}/wallet/credits", portal.business_id);
        let wanted = json!({ "amountPaise": AMOUNT, "reference": name });
        let credit = self.operator.call(Method::POST, &path, &wanted).await?.expect(201)?;
        let again = self.operator.call(Method::POST, &path, &wanted).await?.expect(200)?;
        ensure!(again["transferId"] == credit["transferId"], "{again} after {credit}");
        self.record.paid_in += 2 * AMOUNT;
        let statement = portal.get("/wallet/entries?limit=50").await?;
        ensure!(statement["data"].as_array().is_some_and(|lines| lines.len() >= 3), "{statement}");
        Ok(())
    }

    /// Creates a key that places an order; another key replaces it and is revoked.
    async fn changes_keys(&mut self, portal: &Portal, name: &str) -> anyhow::Result<()> {
        let made = portal.post("/api-keys", &json!({ "mode": "test", "name": name })).await?.expect(201)?;
        let (id, first) = self.key(&made)?;
        let order = first.create(name, &smallest_order(name)).await?.expect(201)?;
        let order = text(&order, "id")?;
        let (reference, events) = (name.to_owned(), vec!["order.created"]);
        let placed = Placed { id: order.clone(), reference, is_live: false, end: End::LeftAlone, events };
        self.record.placed.push(placed);

        let rotate = format!("/api-keys/{id}/rotate");
        let rotated = portal.post(&rotate, &json!({ "graceSeconds": 0 })).await?.expect(200)?;
        self.stops_working(first).await.context("a rotated key")?;
        let (id, second) = self.key(&rotated)?;
        second.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
        portal.post(&format!("/api-keys/{id}/revoke"), &json!({})).await?.expect(200)?;
        self.stops_working(second).await.context("a revoked key")?;
        self.stay_refused().await?;

        let listed = portal.get("/api-keys?limit=100").await?;
        let listed = listed["data"].as_array().context("no keys")?;
        let line = listed.iter().find(|key| key["id"] == id).context("the key is not listed")?;
        ensure!(line["revokedAt"].is_string(), "{line}");
        Ok(())
    }

    fn key(&mut self, made: &Value) -> anyhow::Result<(String, Integration)> {
        let id = text(made, "id")?;
        self.record.keys.push(id.clone());
        Ok((id, Integration::new(&self.order_api, text(made, "key")?)?))
    }

    async fn stops_working(&mut self, key: Integration) -> anyhow::Result<()> {
        let since = Instant::now();
        eventually("the key to be refused", REVOKED_AFTER, || async {
            let reply = key.call(Method::GET, "?limit=1", None).await?;
            if reply.status == 401 { Ok(Some(())) } else { reply.expect(200).map(|_| None) }
        })
        .await?;
        self.record.revoked.push((since, key));
        Ok(())
    }

    /// Every instance rejects the latest key that was revoked long enough ago.
    async fn stay_refused(&self) -> anyhow::Result<()> {
        let mut latest = self.record.revoked.iter().rev();
        let Some((_, key)) = latest.find(|(since, _)| since.elapsed() > REVOKED_AFTER) else { return Ok(()) };
        key.call(Method::GET, "?limit=1", None).await?.expect(401)?;
        Ok(())
    }

    async fn changes_endpoints(&mut self, portal: &Portal, number: i64) -> anyhow::Result<()> {
        let own = format!("/webhook-endpoints/{}", self.endpoint);
        let limit = 1 + number % 50;
        let change = json!({ "maxPerSecond": limit });
        portal.call(Method::PATCH, &own, Some(&change)).await?.expect(200)?;
        self.record.endpoint = (self.endpoint.clone(), limit);
        portal.post(&format!("{own}/secret/rotate"), &json!({ "graceSeconds": 3_600 })).await?.expect(200)?;
        portal.post(&format!("{own}/secret/activate"), &json!({})).await?.expect(200)?;

        let wanted = json!({ "url": self.hook_url, "events": [RARE_EVENT] });
        let made = portal.post("/webhook-endpoints", &wanted).await?.expect(201)?;
        let made = format!("/webhook-endpoints/{}", text(&made, "id")?);
        portal.call(Method::DELETE, &made, None).await?.expect(204)?;
        let test = format!("/webhook-endpoints/{}/test", self.shop_endpoint);
        let test = portal.post(&test, &json!({})).await?.expect(200)?;
        ensure!(test["succeeded"] == true && test["forgedRefused"] == true, "{test}");
        let listed = portal.get("/webhook-endpoints").await?;
        let listed = listed["data"].as_array().context("no endpoints")?;
        let line =
            listed.iter().find(|line| line["id"] == self.endpoint).context("the endpoint is not listed")?;
        ensure!(line["maxPerSecond"] == limit, "{line}");
        Ok(())
    }
}

/// Invites them. They may do everything that an office does.
async fn people(office: &str, business: &Business, portal_api: &str) -> anyhow::Result<Vec<String>> {
    let api = Api::new(portal_api.to_owned())?;
    business.confirm_email().await?;
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        let email = format!("{number}.{office}.{}", business.email);
        let invitation = json!({ "email": email, "role": "owner" });
        business.portal.post("/invitations", &invitation).await?.expect(201)?;
        let token = business.mailed_token(&email, "invitation").await?;
        let accept = api.request(Method::POST, "/v1/portal/invitations/accept");
        let account = json!({ "token": token, "password": PASSWORD });
        api.send(accept.json(&account)).await?.expect(201)?;
        people.push(email);
    }
    Ok(people)
}

async fn looks(portal: &Portal) -> anyhow::Result<()> {
    let status = portal.get("/status").await?;
    ensure!(status["goLive"]["unlocked"] == true, "{status}");
    let orders = portal.get("/orders?mode=test&limit=5").await?;
    let order = text(&orders["data"][0], "id")?;
    let timeline = portal.get(&format!("/orders/{order}/events")).await?;
    ensure!(timeline["data"].as_array().is_some_and(|events| !events.is_empty()), "{timeline}");
    Ok(())
}
