//! The demo: the story of SPECIFICATION §1, step by step, with output for each step.

use std::time::Duration;

use anyhow::{Context, ensure};
use domain::Entropy;
use local_stack::{Demo, Stack};
use reqwest::Method;
use serde_json::{Value, json};

use crate::clients::{COD_DELIVERY, Fleet, Integration, Operator, Portal};
use crate::inbox::Inbox;
use crate::orders::{SAMPLE_CASH_PAISE, SAMPLE_FEE_PAISE, sample_order};
use crate::progress::eventually;
use crate::saved_endpoint::{self, SavedEndpoint};

const TOP_UP_PAISE: i64 = 100_000;
const WAIT: Duration = Duration::from_secs(30);

/// Runs the main job on a running stack. The first run signs up a business and takes it live; later runs place new
/// orders for it. Its receiver of webhooks answers until the process ends.
///
/// # Errors
/// When a step violates the specification.
pub async fn play(stack: &Stack, say: &(dyn Fn(&str) + Sync)) -> anyhow::Result<()> {
    let story = Story { stack, say, entropy: Entropy::from_system()?, inbox: Inbox::open()? };
    let (portal, demo) = match stack.demo() {
        Some(demo) => (story.return_to_business(&demo).await?, demo),
        None => story.go_live().await?,
    };
    story.place_test_order(&portal, &demo.test_key).await?;
    story.place_live_order(&portal, &demo.live_key).await?;
    story.show_next_steps(&demo);
    Ok(())
}

struct Story<'a> {
    stack: &'a Stack,
    say: &'a (dyn Fn(&str) + Sync),
    entropy: Entropy,
    inbox: Inbox,
}

impl Story<'_> {
    fn say(&self, line: impl AsRef<str>) {
        (self.say)(line.as_ref());
    }

    fn operator(&self) -> anyhow::Result<Operator> {
        Operator::new(&self.stack.portal_api(), self.stack.operator_token())
    }

    /// From sign-up to a Live key.
    async fn go_live(&self) -> anyhow::Result<(Portal, Demo)> {
        self.say("\nA business signs up and creates a Test key");
        // A unique address, so that an interrupted first run does not block the next one.
        let email = format!("demo-{:04x}@example.com", self.entropy.below(0x1_0000));
        let password = format!("demo-{:016x}", self.entropy.u128() as u64);
        let portal =
            Portal::sign_up(&self.stack.portal_api(), "Malabar Coffee Works", &email, &password).await?;
        self.say(format!("  signed up as {email} ({})", portal.business_id));
        let test_key = create_key(&portal, "test").await?.expect(201)?;
        let test_key = text(&test_key, "key")?;
        self.say(format!("  Test key {}… (shown in full only once)", &test_key[..20]));
        let endpoint = register_endpoint(&portal, self.inbox.url()).await?;
        self.inbox.set_secret(&endpoint.secret)?;
        saved_endpoint::save(self.stack.directory(), &endpoint)?;
        self.say(format!("  webhook endpoint {}, subscribed to the 10 default events", self.inbox.url()));
        self.show_the_lock(&portal).await?;
        self.place(&test_key, "first-test").await?;
        let live_key = self.unlock(&portal).await?;
        let demo = Demo { email, password, test_key, live_key };
        self.stack.set_demo(demo.clone())?;
        Ok((portal, demo))
    }

    async fn show_the_lock(&self, portal: &Portal) -> anyhow::Result<()> {
        let refused = create_key(portal, "live").await?;
        ensure!(refused.status == 403, "a Live key before going live: {}", refused.text);
        let missing = refused.body["missing"].as_array().map_or(0, Vec::len);
        self.say(format!("  a Live key is refused (403): {missing} go-live items are open"));
        Ok(())
    }

    /// Completes the go-live list.
    async fn unlock(&self, portal: &Portal) -> anyhow::Result<String> {
        self.say("\nThe business goes live");
        portal.put("/pickup-profile", &pickup_profile()).await?;
        self.say("  pickup profile completed");
        portal.put("/subscription", &json!({ "plan": "starter" })).await?;
        self.operator()?.activate(&portal.business_id).await?;
        self.say("  operator approved the business, its subscription and its live access");
        portal.post("/wallet/top-ups", &json!({ "amountPaise": TOP_UP_PAISE })).await?.expect(201)?;
        self.say(format!("  wallet topped up with {}", domain::Paise::new(TOP_UP_PAISE)));
        let live_key = create_key(portal, "live").await?.expect(201)?;
        let live_key = text(&live_key, "key")?;
        self.say(format!("  all go-live items are done; Live key {}…", &live_key[..20]));
        Ok(live_key)
    }

    /// Logs in again, and updates the endpoint's URL, because the receiver's port changes with each run.
    async fn return_to_business(&self, demo: &Demo) -> anyhow::Result<Portal> {
        self.say("\nThe demo business of the last run logs in again");
        let portal = Portal::log_in(&self.stack.portal_api(), &demo.email, &demo.password).await?;
        let endpoint = saved_endpoint::load(self.stack.directory())?
            .context("demo-endpoint.json is missing; run `make reset` to start anew")?;
        self.inbox.set_secret(&endpoint.secret)?;
        let path = format!("/webhook-endpoints/{}", endpoint.id);
        portal.call(Method::PATCH, &path, Some(&json!({ "url": self.inbox.url() }))).await?.expect(200)?;
        let balance = balance(&portal).await?;
        if balance < TOP_UP_PAISE / 2 {
            portal.post("/wallet/top-ups", &json!({ "amountPaise": TOP_UP_PAISE })).await?.expect(201)?;
            self.say(format!("  wallet topped up with {}", domain::Paise::new(TOP_UP_PAISE)));
        }
        Ok(portal)
    }

    async fn place_test_order(&self, portal: &Portal, key: &str) -> anyhow::Result<()> {
        self.say("\nTest order");
        let before = balance(portal).await?;
        let (_, reference) = self.place(key, "test").await?;
        eventually("the test order in the portal", WAIT, || async {
            let page = portal.get(&format!("/orders?mode=test&orderReference={reference}")).await?;
            Ok(page["data"].as_array().is_some_and(|orders| orders.len() == 1).then_some(()))
        })
        .await?;
        self.say("  the portal lists it; no driver, no fee");
        ensure!(balance(portal).await? == before, "a test order touched the wallet");
        self.show_webhooks(&reference, 1).await
    }

    async fn place_live_order(&self, portal: &Portal, key: &str) -> anyhow::Result<()> {
        self.say("\nLive order, cash on delivery");
        let before = balance(portal).await?;
        let (order_id, reference) = self.place(key, "live").await?;
        let after = balance(portal).await?;
        ensure!(
            before - after == SAMPLE_FEE_PAISE,
            "the wallet did not pay the fee exactly once: {before} → {after}"
        );
        let rupees = domain::Paise::new;
        self.say(format!(
            "  fee {}: wallet {} → {}",
            rupees(SAMPLE_FEE_PAISE),
            rupees(before),
            rupees(after)
        ));
        let fleet = Fleet::new(&self.stack.order_api(), self.stack.fleet_token())?;
        fleet.drive(&order_id, &COD_DELIVERY, SAMPLE_CASH_PAISE).await?;
        self.say("  the fleet delivered the order, and collected, handed over and settled the cash");
        self.show_webhooks(&reference, 1 + COD_DELIVERY.len()).await?;
        self.say("  the shop verified every signature");
        Ok(())
    }

    /// Places an order as the business's shop. Returns the service's order id and the reference.
    async fn place(&self, key: &str, what: &str) -> anyhow::Result<(String, String)> {
        let reference = format!("demo-{what}-{:08x}", self.entropy.below(u32::MAX));
        let shop = Integration::new(&self.stack.order_api(), key)?;
        let idempotency_key = format!("demo-shop-{reference}");
        let order = shop.create(&idempotency_key, &sample_order(&reference)).await?.expect(201)?;
        let (code, url) = (text(&order, "trackingCode")?, text(&order, "trackingUrl")?);
        self.say(format!("  order {reference} placed: {code} {url}"));
        Ok((text(&order, "id")?, reference))
    }

    /// Shows the webhooks of an order as they arrive, until there are `count`.
    async fn show_webhooks(&self, reference: &str, count: usize) -> anyhow::Result<()> {
        let mut shown = 0;
        while shown < count {
            let received = eventually("the webhooks", WAIT, || async {
                let received = self.inbox.received(|webhook| webhook.reference() == reference);
                Ok((received.len() > shown).then_some(received))
            })
            .await?;
            for webhook in &received[shown..] {
                let number = webhook.event.sequence.unwrap_or_default();
                self.say(format!("  ← webhook {number:>2}  {}", webhook.event.event));
            }
            shown = received.len();
        }
        Ok(())
    }

    fn show_next_steps(&self, demo: &Demo) {
        let order_api = self.stack.order_api();
        self.say("\nWaybill is running\n");
        self.say(format!("  API        {order_api}"));
        self.say(format!("  Docs       {}/docs/", self.stack.order_api_origin()));
        self.say(format!(
            "  Portal     {}   (log in: {} / {})",
            self.stack.portal_api(),
            demo.email,
            demo.password
        ));
        self.say(format!("  Test key   {}", demo.test_key));
        self.say(format!("  Live key   {}", demo.live_key));
        self.say(format!(
            "  Details    {}   (tokens, databases, processes)",
            self.stack.directory().join("stack.json").display()
        ));
        self.say(format!("  Logs       {}", self.stack.directory().join("logs").display()));
        self.say(format!("  Mails      {}", self.stack.mails().display()));
        self.say("\nPlace your own test order:\n");
        self.say(curl(&order_api, &demo.test_key, self.entropy.below(u32::MAX)));
        self.say("\nPress Ctrl-C to stop. The next run continues with this data; `make reset` deletes it.");
    }
}

/// A command that can be pasted into a shell.
fn curl(order_api: &str, key: &str, number: u32) -> String {
    let body = json!({
        "orderReference": format!("hello-{number:08x}"),
        "customer": { "name": "Asha Rao", "phone": "+919800000001" },
        "delivery": {
            "addressLine1": "12th Main Road", "city": "Bengaluru", "state": "Karnataka", "pincode": "560038"
        },
        "payment": { "paymentType": "prepaid", "deliveryFeePaise": 4900 }
    });
    format!(
        "curl -sS {order_api}/integration/orders \\\n  -H 'Authorization: Bearer {key}' \\\n  \
         -H 'Idempotency-Key: hello-{number:08x}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )
}

async fn create_key(portal: &Portal, mode: &str) -> anyhow::Result<crate::clients::Reply> {
    portal.post("/api-keys", &json!({ "mode": mode, "name": format!("Demo {mode} key") })).await
}

async fn register_endpoint(portal: &Portal, url: &str) -> anyhow::Result<SavedEndpoint> {
    let endpoint = portal.post("/webhook-endpoints", &json!({ "url": url })).await?.expect(201)?;
    Ok(SavedEndpoint { id: text(&endpoint, "id")?, secret: text(&endpoint, "secret")? })
}

async fn balance(portal: &Portal) -> anyhow::Result<i64> {
    portal.get("/wallet").await?["balancePaise"].as_i64().context("the wallet has no balancePaise")
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    Ok(value[name].as_str().with_context(|| format!("no {name} in the response"))?.to_owned())
}

/// A complete pickup profile (SPECIFICATION §2.1, `pickup.*`).
fn pickup_profile() -> Value {
    json!({
        "businessName": "Malabar Coffee Works",
        "contactName": "Joseph Mathew",
        "phone": "+919800000002",
        "addressLine1": "27, Church Street",
        "city": "Bengaluru",
        "state": "Karnataka",
        "pincode": "560001",
        "fullAddress": "27, Church Street, Bengaluru, Karnataka 560001"
    })
}
