//! A small shop on actix-web and PostgreSQL: one delivery for each confirmed order, and webhooks that update it.
//!
//! ```text
//! shop serve 127.0.0.1:8080   creates the tables, and receives webhooks
//! shop follow                 applies the events that no webhook brought
//! shop order 1001 prepaid     confirms a sample order, then creates its delivery
//! shop sync 1001              retries that for one order
//! shop show [1001]            prints one order, or the newest 20
//! ```
//!
//! The rules for a shop, and what keeps them:
//!
//! | rule | code |
//! | --- | --- |
//! | an outage of the delivery service never fails a checkout | [`Shop::confirm_order`] |
//! | an order has one delivery: one attempt at a time, always with the same reference and Idempotency-Key, and none once the delivery is known | [`OrderSync`], with its record in [`TABLES`] |
//! | a retry is for one order, when somebody asks for it | [`Shop::create_delivery`] |
//! | a webhook is verified on its raw bytes before they are parsed | [`Receiver`] |
//! | an event is applied once and in order, to an order that exists | [`Receiver`], [`UpdateOrder`] |
//! | the API key and the signing secret are in no log | the client |

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command line and its environment")]

use std::env;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actix_web::web::{Data, Payload, post};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::{Context, bail, ensure};
use tokio::sync::Mutex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls};
use waybill_client::webhooks::{Secrets, VerifyOptions};
use waybill_client::{
    Apply, ClientOptions, Database, Error, FollowOptions, NewCustomer, NewDelivery, NewOrder, NewPayment,
    OrderSync, PaymentType, Receiver, Row, SqlSyncStore, SyncOutcome, SyncStatus, SyncStore, TABLES, Waybill,
    WebhookEvent,
};

const WEBHOOK_PATH: &str = "/api/waybill/webhook";
const GOODS_PAISE: i32 = 124_900;
const DELIVERY_FEE_PAISE: i64 = 4_900;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn setting(name: &str) -> anyhow::Result<String> {
    env::var(format!("WAYBILL_{name}")).with_context(|| format!("WAYBILL_{name} is not set"))
}

fn seconds(name: &str, default: u64) -> anyhow::Result<Duration> {
    let text = setting(name).unwrap_or_else(|_| default.to_string());
    Ok(Duration::from_secs(text.parse().with_context(|| format!("WAYBILL_{name} must be seconds"))?))
}

/// The shop's database, and its idle connections. In your program, use its pool.
#[derive(Clone)]
struct Postgres {
    config: Config,
    idle: Arc<Mutex<Vec<Client>>>,
}

impl Postgres {
    fn new(url: &str) -> anyhow::Result<Self> {
        let mut config: Config = url.parse().context("WAYBILL_DATABASE__URL")?;
        // A database that hangs fails the work, which is then repeated.
        config
            .connect_timeout(Duration::from_secs(5))
            .tcp_user_timeout(Duration::from_secs(10))
            .options("-c statement_timeout=5s -c idle_in_transaction_session_timeout=10s");
        Ok(Self { config, idle: Arc::default() })
    }

    async fn connection(&self) -> anyhow::Result<Client> {
        let mut idle = self.idle.lock().await;
        while let Some(client) = idle.pop() {
            if !client.is_closed() {
                return Ok(client);
            }
        }
        drop(idle);
        // A database on another machine needs TLS, such as that of tokio-postgres-rustls.
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// One statement of the shop itself.
    async fn query(
        &self,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> anyhow::Result<Vec<tokio_postgres::Row>> {
        let client = self.connection().await?;
        let rows = client.query(statement, parameters).await?;
        self.idle.lock().await.push(client);
        Ok(rows)
    }
}

/// A transaction that is dropped closes its connection, which rolls it back.
impl Database for Postgres {
    type Transaction = Client;
    type Error = anyhow::Error;

    async fn begin(&self) -> anyhow::Result<Client> {
        let client = self.connection().await?;
        client.batch_execute("BEGIN").await?;
        Ok(client)
    }

    async fn rows(
        &self,
        transaction: &mut Client,
        statement: &'static str,
        parameters: &[&str],
    ) -> anyhow::Result<Vec<Row>> {
        let parameters: Vec<_> = parameters.iter().map(|text| text as &(dyn ToSql + Sync)).collect();
        let rows = transaction.query(statement, &parameters).await?;
        Ok(rows.iter().map(|row| (0..row.len()).map(|column| row.get(column)).collect()).collect())
    }

    async fn commit(&self, transaction: Client) -> anyhow::Result<()> {
        transaction.batch_execute("COMMIT").await?;
        self.idle.lock().await.push(transaction);
        Ok(())
    }
}

/// `delivery_status` is the latest one that an event reported, and `delivery_mode` the mode of its delivery.
const ORDERS: &str = "CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    payment_type TEXT NOT NULL CHECK (payment_type IN ('cod', 'prepaid')),
    goods_paise INTEGER NOT NULL,
    delivery_status TEXT,
    delivery_mode TEXT,
    confirmed_at TIMESTAMPTZ NOT NULL DEFAULT now()
);";

struct LocalOrder {
    id: String,
    payment_type: String,
    goods_paise: i32,
    delivery_status: Option<String>,
    delivery_mode: Option<String>,
}

fn to_waybill(order: &LocalOrder) -> NewOrder {
    let goods = i64::from(order.goods_paise);
    let total = Some(goods + DELIVERY_FEE_PAISE);
    let is_cod = order.payment_type == "cod";
    NewOrder {
        order_reference: order.id.clone(),
        // A sample. Yours come from the checkout.
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
        payment: NewPayment {
            payment_type: if is_cod { PaymentType::Cod } else { PaymentType::Prepaid },
            delivery_fee_paise: DELIVERY_FEE_PAISE,
            order_value_paise: Some(goods),
            cod_amount_paise: total.filter(|_| is_cod),
            prepaid_amount_paise: total.filter(|_| !is_cod),
            ..Default::default()
        },
        ..Default::default()
    }
}

struct Shop {
    database: Postgres,
    waybill: Waybill,
    store: SqlSyncStore<Postgres>,
    sync: OrderSync<SqlSyncStore<Postgres>>,
}

impl Shop {
    fn open() -> anyhow::Result<Self> {
        let database = Postgres::new(&setting("DATABASE__URL")?)?;
        let deadline = seconds("REQUEST_TIMEOUT_SECONDS", 60)?;
        let waybill = Waybill::from_env(ClientOptions { deadline, ..Default::default() })?;
        let store = SqlSyncStore::new(database.clone(), waybill.mode());
        let website = setting("NAME").unwrap_or_else(|_| "shop".into());
        let sync = OrderSync::new(waybill.clone(), store.clone(), website)?;
        let sync = sync.with_lease(seconds("LEASE_SECONDS", 90)?)?;
        Ok(Self { database, waybill, store, sync })
    }

    async fn check_out(&self, id: &str, payment_type: &str) -> anyhow::Result<()> {
        self.confirm_order(id, payment_type).await?;
        self.create_delivery(id).await
    }

    /// Only stores the order, so that an outage of the delivery service never fails a checkout.
    async fn confirm_order(&self, id: &str, payment_type: &str) -> anyhow::Result<()> {
        let insert = "INSERT INTO orders (id, payment_type, goods_paise) VALUES ($1, $2, $3)
                      ON CONFLICT (id) DO NOTHING RETURNING id";
        let inserted = self.database.query(insert, &[&id, &payment_type, &GOODS_PAISE]).await?;
        ensure!(inserted.len() == 1, "order {id} is already confirmed");
        Ok(())
    }

    async fn local_order(&self, id: &str) -> anyhow::Result<LocalOrder> {
        let select = "SELECT id, payment_type, goods_paise, delivery_status, delivery_mode
                      FROM orders WHERE id = $1";
        let rows = self.database.query(select, &[&id]).await?;
        let row = rows.first().with_context(|| format!("there is no order {id}"))?;
        Ok(LocalOrder {
            id: row.get(0),
            payment_type: row.get(1),
            goods_paise: row.get(2),
            delivery_status: row.get(3),
            delivery_mode: row.get(4),
        })
    }

    /// Call it after the checkout, and again when somebody retries the order. Never call it for many orders in a loop.
    async fn create_delivery(&self, id: &str) -> anyhow::Result<()> {
        let order = self.local_order(id).await?;
        match self.sync.ensure(id, || async { Ok(to_waybill(&order)) }).await? {
            SyncOutcome::Created(delivery) | SyncOutcome::Recovered(delivery) => {
                println!("{id}: delivery created, {}", delivery.tracking_url);
            }
            SyncOutcome::AlreadyCreated(delivery) => {
                println!("{id}: delivery exists already, {}", delivery.tracking_url);
            }
            SyncOutcome::InProgress => println!("{id}: another attempt is in progress"),
            SyncOutcome::Failed { error, .. } => {
                let reason = format!("{} ({})", error.message, error.code);
                bail!("{id}: {reason} The order is stored; retry with `sync {id}`.")
            }
        }
        Ok(())
    }

    fn receiver(&self) -> anyhow::Result<Receiver<Postgres>> {
        let mut options = VerifyOptions::default();
        if let Ok(prefix) = setting("HEADER_PREFIX") {
            options.header_prefix = prefix;
        }
        let secrets = Secrets::new([setting("WEBHOOK_SECRET")?])?;
        Ok(Receiver::new(self.database.clone(), secrets, self.waybill.mode(), options))
    }

    async fn serve(&self, address: &str) -> anyhow::Result<()> {
        let transaction = self.database.begin().await?;
        transaction.batch_execute(&format!("{ORDERS} {TABLES}")).await?;
        self.database.commit(transaction).await?;
        let receiver = Data::new(self.receiver()?);
        tokio::spawn(forget_daily(receiver.clone().into_inner()));
        let app = move || App::new().app_data(receiver.clone()).route(WEBHOOK_PATH, post().to(webhook));
        let server = HttpServer::new(app).workers(2).max_connections(32).shutdown_timeout(5).bind(address)?;
        for bound in server.addrs() {
            println!("receiving webhooks at http://{bound}{WEBHOOK_PATH}");
        }
        // SIGTERM and Ctrl-C stop it.
        Ok(server.run().await?)
    }

    /// Run it as a process of its own. It may be killed at any time: the next one continues behind the last event.
    async fn follow(&self) -> anyhow::Result<()> {
        let on_retry = |error: &Error| eprintln!("feed: {error} Trying again.");
        let options = FollowOptions { on_retry: Some(Box::new(on_retry)), ..Default::default() };
        match self.receiver()?.follow(&self.waybill, "shop", &UpdateOrder, options, |_, _| {}).await? {}
    }

    async fn show(&self, id: &str) -> anyhow::Result<()> {
        let order = self.local_order(id).await?;
        let record = self.store.get(id).await?;
        let sync_status = match record.as_ref().map(|record| record.status) {
            None => "not_started",
            Some(SyncStatus::Creating) => "creating",
            Some(SyncStatus::Created) => "created",
            Some(SyncStatus::Failed) => "failed",
        };
        let (delivery, error) = record.map_or((None, None), |record| (record.delivery, record.error));
        // A shop that goes live may have the order from a test.
        let is_of_mode = order.delivery_mode.as_deref() == Some(self.waybill.mode().as_str());
        let reported = order.delivery_status.filter(|_| is_of_mode);
        let (status, tracking_url) =
            delivery.map(|delivery| (delivery.status, delivery.tracking_url)).unzip();
        let error = error.map(|error| error.message);
        let [status, tracking_url, error] =
            [reported.or(status), tracking_url, error].map(|field| field.unwrap_or_else(|| "-".into()));
        println!("{id}  {sync_status}  {status}  {tracking_url}  {error}");
        Ok(())
    }

    async fn show_newest(&self) -> anyhow::Result<()> {
        let select = "SELECT id FROM orders ORDER BY confirmed_at DESC, id LIMIT 20";
        for row in self.database.query(select, &[]).await? {
            self.show(row.get(0)).await?;
        }
        Ok(())
    }
}

struct UpdateOrder;

/// Runs in the transaction that stores the event's id, so an event is applied completely and once.
impl Apply<Postgres> for UpdateOrder {
    async fn apply(&self, event: &WebhookEvent, transaction: &mut Client) -> anyhow::Result<()> {
        // A later version of the service may send other kinds.
        let Some(order) = event.order.as_ref().filter(|_| event.is_known()) else { return Ok(()) };
        let update = "UPDATE orders SET delivery_status = $1, delivery_mode = $2 WHERE id = $3";
        transaction.execute(update, &[&order.status, &event.mode, &order.order_reference]).await?;
        Ok(())
    }

    fn on_refused(&self, reason: &'static str) {
        eprintln!("webhook not applied: {reason}");
    }
}

async fn webhook(receiver: Data<Receiver<Postgres>>, request: HttpRequest, payload: Payload) -> HttpResponse {
    match waybill_client::actix::receive(&receiver, &request, payload, &UpdateOrder).await {
        Ok(answer) => answer,
        Err(error) => {
            eprintln!("webhook not applied: {error:#}");
            HttpResponse::ServiceUnavailable().finish() // the service sends it again
        }
    }
}

/// The service sends no event again after 30 days.
async fn forget_daily(receiver: Arc<Receiver<Postgres>>) {
    loop {
        let before =
            SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(31 * DAY);
        if let Err(error) = receiver.forget(before.as_millis() as i64).await {
            eprintln!("forget: {error:#}");
        }
        tokio::time::sleep(DAY).await;
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let shop = Shop::open()?;
    match *arguments {
        ["serve", address] => shop.serve(address).await,
        ["follow"] => shop.follow().await,
        ["order", id] => shop.check_out(id, "cod").await,
        ["order", id, payment_type] => shop.check_out(id, payment_type).await,
        ["sync", id] => shop.create_delivery(id).await,
        ["show", id] => shop.show(id).await,
        ["show"] => shop.show_newest().await,
        _ => bail!("usage: see the top of this file"),
    }
}
