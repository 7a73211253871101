//! The examples of the client's README, word for word, and a shop that runs them.

use std::convert::Infallible;

use actix_web::web::{self, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use anyhow::Context;
use serde_json::json;
use test_kit::until;
use tokio_postgres::types::ToSql;
use waybill_client::webhooks::{Secrets, VerifyOptions, sign_test_event};
use waybill_client::{
    ApiErrorKind, Apply, ClientOptions, Database, Error, FollowOptions, Mode, NewCustomer, NewDelivery,
    NewOrder, NewPayment, OrderSync, Receiver, Row, SqlSyncStore, SyncOutcome, Waybill, WebhookEvent,
};

use crate::shop::TestShop;
use crate::sync::database_with_tables;

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn to_waybill(order_id: &str) -> NewOrder {
    NewOrder {
        order_reference: order_id.into(),
        customer: NewCustomer {
            name: "Asha Rao".into(),
            phone: "+919800000001".into(),
            ..Default::default()
        },
        delivery: NewDelivery {
            address_line1: "12th Main Road".into(),
            city: "Bengaluru".into(),
            state: "Karnataka".into(),
            pincode: "560038".into(),
            ..Default::default()
        },
        payment: NewPayment { delivery_fee_paise: 4_900, ..Default::default() },
        ..Default::default()
    }
}

async fn create(api_key: &str, base_url: &str, order_id: &str) -> Result<String, Error> {
    // Or `from_env`, which reads `WAYBILL_API_KEY` and `WAYBILL_BASE_URL`.
    let waybill = Waybill::new(api_key, base_url, ClientOptions::default())?;
    match waybill.orders.create(to_waybill(order_id), &format!("my-shop-{order_id}")).await {
        Ok(created) => Ok(created.order.tracking_url),
        Err(Error::Api(error)) if error.kind() == ApiErrorKind::InsufficientBalance => {
            Ok(format!("missing: {:?} paise", error.shortfall_paise))
        }
        Err(error) => Err(error), // names every wrong field
    }
}

#[derive(Clone)]
pub(crate) struct Postgres(pub(crate) String);

impl Database for Postgres {
    type Transaction = tokio_postgres::Client;
    type Error = anyhow::Error;

    async fn begin(&self) -> anyhow::Result<tokio_postgres::Client> {
        let (client, connection) = tokio_postgres::connect(&self.0, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute("BEGIN").await?;
        Ok(client)
    }

    async fn rows(
        &self,
        transaction: &mut tokio_postgres::Client,
        statement: &'static str,
        parameters: &[&str],
    ) -> anyhow::Result<Vec<Row>> {
        let parameters: Vec<_> = parameters.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
        let rows = transaction.query(statement, &parameters).await?;
        Ok(rows.iter().map(|row| (0..row.len()).map(|column| row.get(column)).collect()).collect())
    }

    async fn commit(&self, transaction: tokio_postgres::Client) -> anyhow::Result<()> {
        Ok(transaction.batch_execute("COMMIT").await?)
    }
}

async fn ensure_delivery(
    waybill: &Waybill,
    database: Postgres,
    order_id: &str,
) -> anyhow::Result<SyncOutcome> {
    let store = SqlSyncStore::new(database, waybill.mode());
    let sync = OrderSync::new(waybill.clone(), store, "my-shop")?;
    sync.ensure(order_id, || async { Ok(to_waybill(order_id)) }).await
}

struct Shop;

impl Apply<Postgres> for Shop {
    async fn apply(
        &self,
        event: &WebhookEvent,
        transaction: &mut tokio_postgres::Client,
    ) -> anyhow::Result<()> {
        // Any event tells the status: one that arrives late is skipped when a later one was applied.
        if let Some(order) = event.order.as_ref().filter(|order| order.status == "delivered") {
            let delivered = "UPDATE orders SET delivered = TRUE WHERE id = $1";
            transaction.execute(delivered, &[&order.order_reference]).await?;
        }
        Ok(())
    }

    fn on_refused(&self, reason: &'static str) {
        eprintln!("webhook not applied: {reason}"); // `mismatch`, `too_old`, `other_mode` …
    }
}

async fn webhook(receiver: Data<Receiver<Postgres>>, request: HttpRequest, payload: Payload) -> HttpResponse {
    match waybill_client::actix::receive(&receiver, &request, payload, &Shop).await {
        Ok(answer) => answer,
        Err(error) => {
            eprintln!("webhook not applied: {error}");
            HttpResponse::ServiceUnavailable().finish() // the service sends it again
        }
    }
}

fn receiver(database: Postgres, secret: &str, mode: Mode) -> Result<Receiver<Postgres>, Error> {
    let secrets = Secrets::new([secret])?; // add the next one while you rotate
    Ok(Receiver::new(database, secrets, mode, VerifyOptions::default()))
}

async fn catch_up(receiver: &Receiver<Postgres>, waybill: &Waybill) -> anyhow::Result<Infallible> {
    let on_retry = |error: &Error| eprintln!("feed: {error} Trying again.");
    let options = FollowOptions { on_retry: Some(Box::new(on_retry)), ..Default::default() };
    receiver.follow(waybill, "main", &Shop, options, |_, _| {}).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_work() -> anyhow::Result<()> {
    let readme = include_str!("../../../proto-docs/clients/rust/README.md");
    let install =
        readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).context("install")?;
    let guide = include_str!("../../../proto-docs/integrators/first-order.md");
    assert!(guide.contains(install), "the guide installs otherwise than:\n{install}");
    let examples: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 5);
    for example in examples {
        assert!(include_str!("readme.rs").contains(example), "this example is not compiled:\n{example}");
    }

    let shop = TestShop::open().await?;
    let url = create(&shop.business.test_key, shop.business.order_api(), "1001").await?;
    assert!(url.contains("/track/TEST-"), "{url}");

    let (waybill, database) = (shop.test()?, database_with_tables().await?);
    let orders = "CREATE TABLE orders (id TEXT PRIMARY KEY, delivered BOOLEAN NOT NULL);
                  INSERT INTO orders VALUES ('1002', FALSE)";
    local_stack::query(&database.0, orders).await?;
    let created = ensure_delivery(&waybill, database.clone(), "1002").await?;
    let again = ensure_delivery(&waybill, database.clone(), "1002").await?;
    assert_eq!((created.status(), again.status()), ("created", "already_created"));

    let shared = Data::new(receiver(database.clone(), SECRET, Mode::Test)?);
    let receiver = shared.clone();
    let address = test_kit::serve(move |app| {
        app.app_data(shared.clone()).route("/api/delivery/webhook", web::post().to(webhook));
    });
    let order = json!({"id": "ord_1", "orderReference": "1002", "status": "delivered"});
    let body =
        json!({"id": "evt_1", "event": "order.delivered", "mode": "test", "sequence": 5, "order": order});
    let body = body.to_string();
    let mut request = test_kit::client().post(format!("http://{address}/api/delivery/webhook"));
    for (name, value) in
        sign_test_event(body.as_bytes(), &Secrets::new([SECRET])?, &VerifyOptions::default())?
    {
        request = request.header(name, value);
    }
    assert_eq!(request.body(body).send().await?.status().as_u16(), 200);
    let delivered = local_stack::query(&database.0, "SELECT id FROM orders WHERE delivered").await?;
    assert_eq!(delivered.trim(), "1002");

    let caught_up = until("the feed is caught up", async || {
        let count = "SELECT count(*) > 1 FROM waybill_events";
        local_stack::query(&database.0, count).await.is_ok_and(|more| more.trim() == "t")
    });
    tokio::select! {
        stopped = catch_up(&receiver, &waybill) => { stopped.context("catching up")?; }
        () = caught_up => {}
    }
    shop.stack.shut_down().await
}
