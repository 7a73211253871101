//! Two replicas store the same orders at the same time, in different sequence.

use std::sync::Arc;

use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{ApiKeyId, Mode, OrderId, Paise, PaymentType, RequestId, TrackingCode};
use local_stack::query;
use order_api::cache::FirstTestOrderCache;
use order_api::domain::{Fingerprint, NewOrder, Placement, TrackingUrls};
use order_api::order_events::OrderEvents;
use order_api::order_writer::{Insert, InsertBatch, InsertOutcome, PlaceBatch, PlacePaid};
use outbox::{Outbox, Unit};
use postgres::{Apply, Database, StoreError};
use serde_json::json;
use test_kit::{Gate, until};

use crate::harness::OrderApi;

fn insert(service: &OrderApi, business: domain::BusinessId, reference: &str) -> Insert {
    let (clock, entropy) = (&service.clock, &service.entropy);
    let order = NewOrder {
        id: OrderId::generate(clock, entropy),
        business_id: business,
        mode: Mode::Live,
        order_reference: reference.to_owned(),
        idempotency_key: reference.to_owned(),
        fingerprint: Fingerprint::ERASED,
        meaning: Fingerprint::ERASED,
        tracking_code: TrackingCode::generate(Mode::Live, entropy),
        order_source: "business_website".to_owned(),
        payment_type: PaymentType::Prepaid,
        delivery_fee: Paise::new(4_900),
        cod_amount: Paise::ZERO,
        details: Arc::new(json!({})),
        receipt: b"{}".to_vec(),
        created_at: clock.now(),
        request_id: RequestId::generate(clock, entropy),
        key_id: ApiKeyId::generate(clock, entropy),
    };
    Insert { order, placement: Placement::PendingPayment, trace: None }
}

fn writer(service: &OrderApi) -> (Unit, OrderEvents) {
    let unit = Unit {
        database: Database::new(&service.settings.database).unwrap(),
        clock: service.clock.clone(),
        entropy: service.entropy.clone(),
        outbox: Outbox::default(),
    };
    let events = OrderEvents::new(&unit, TrackingUrls::new(&service.settings.public.url));
    (unit, events)
}

async fn store(database: Database, batch: Arc<InsertBatch>, jobs: Vec<Insert>) -> Vec<InsertOutcome> {
    let stored: Result<_, StoreError> =
        database.transaction(async |conn: &mut AsyncPgConnection| batch.apply(conn, &jobs).await).await;
    stored.expect("the batches do not deadlock")
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_with_the_same_orders_do_not_deadlock() {
    let service = OrderApi::start().await;
    let (business, url) = (service.business_id(), service.settings.database.url.expose().to_owned());
    let (unit, events) = writer(&service);
    let database = unit.database.clone();
    let batch = Arc::new(InsertBatch::new(&unit, events, FirstTestOrderCache::default()));
    let jobs =
        |references: [&str; 3]| references.map(|reference| insert(&service, business, reference)).into();
    let gate = Gate::close(&url, "orders", "INSERT", "NEW.order_reference = 'm'").await;
    let first = tokio::spawn(store(database.clone(), batch.clone(), jobs(["a", "m", "z"])));
    gate.reached().await;
    let second = tokio::spawn(store(database, batch, jobs(["z", "m", "a"])));
    // At the gate, or at a lock of the first batch.
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                   AND (wait_event = 'PgSleep' OR wait_event_type = 'Lock')";
    until("both wait", async || query(&url, waiting).await.unwrap() == "2").await;
    gate.open().await;
    assert_eq!(first.await.unwrap(), [InsertOutcome::Stored; 3]);
    assert_eq!(second.await.unwrap(), [InsertOutcome::Conflict; 3]);
}

async fn place(database: Database, batch: Arc<PlaceBatch>, paid: Vec<PlacePaid>) {
    let place = async |conn: &mut AsyncPgConnection| {
        // Otherwise a slow machine could reach the limits of a batch.
        conn.batch_execute("SET LOCAL lock_timeout = '20s'; SET LOCAL statement_timeout = '20s'").await?;
        batch.apply(conn, &paid).await
    };
    let placed: Result<_, StoreError> = database.transaction(place).await;
    assert_eq!(placed.expect("the batches do not deadlock").len(), paid.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_two_replicas_place_is_announced_once_and_only_for_its_current_attempt() {
    let service = OrderApi::start().await;
    let (business, url) = (service.business_id(), service.settings.database.url.expose().to_owned());
    let (unit, events) = writer(&service);
    let (clock, database) = (unit.clock.clone(), unit.database.clone());
    let new = ["a", "m", "z", "other attempt"].map(|reference| insert(&service, business, reference));
    let orders = new.each_ref().map(|job| job.order.clone().into_placed().summary());
    let inserts = Arc::new(InsertBatch::new(&unit, events.clone(), FirstTestOrderCache::default()));
    assert_eq!(store(database.clone(), inserts, new.into()).await, [InsertOutcome::Stored; 4]);
    let batch = Arc::new(PlaceBatch::new(clock, events));
    let paid = |order: usize, attempt| PlacePaid { order: orders[order].clone(), attempt, trace: None };

    // The first waits with its locks; the second wants the same ones.
    let gate = Gate::close(&url, "orders", "UPDATE", "NEW.order_reference = 'm'").await;
    let jobs = vec![paid(0, 1), paid(1, 1), paid(0, 1), paid(2, 1), paid(3, 2)];
    let first = tokio::spawn(place(database.clone(), batch.clone(), jobs));
    gate.reached().await;
    let second =
        tokio::spawn(place(database.clone(), batch.clone(), vec![paid(2, 1), paid(1, 1), paid(0, 1)]));
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("the second waits", async || query(&url, waiting).await.unwrap() == "1").await;
    gate.open().await;
    first.await.unwrap();
    second.await.unwrap();

    let placed = "SELECT string_agg(order_reference, ' ' ORDER BY order_reference) FROM orders WHERE placement = 'placed'";
    assert_eq!(query(&url, placed).await.unwrap(), "a m z");
    let events = "SELECT count(*) || ' ' || count(DISTINCT order_id) || ' ' || count(outbox_messages.id)
                  FROM order_events LEFT JOIN outbox_messages USING (event_id)";
    assert_eq!(query(&url, events).await.unwrap(), "3 3 3");
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

#[derive(QueryableByName)]
struct PlanLine {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    line: String,
}

/// The index of pending orders keeps the entries of all orders that were placed since the oldest snapshot.
#[tokio::test(flavor = "multi_thread")]
async fn orders_are_placed_by_their_keys_however_many_are_pending() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (unit, events) = writer(&service);
    let job = insert(&service, service.business_id(), "a");
    let order = job.order.clone().into_placed().summary();
    let inserts = Arc::new(InsertBatch::new(&unit, events.clone(), FirstTestOrderCache::default()));
    assert_eq!(store(unit.database.clone(), inserts, vec![job]).await, [InsertOutcome::Stored]);
    let batch = PlaceBatch::new(unit.clock.clone(), events);
    let paid = [PlacePaid { order, attempt: 1, trace: None }];
    assert!(batch.is_single_statement(&paid));
    let plans: Result<_, StoreError> = unit
        .database
        .read(async |conn: &mut AsyncPgConnection| {
            batch.apply(conn, &paid).await?;
            let without_statistics = plan_of_place(conn).await?;
            // With few pending orders among many, their index would be the cheapest.
            let many = "INSERT INTO orders SELECT copy.* FROM orders, generate_series(1, 5000) AS number,
                    jsonb_populate_record(orders, jsonb_build_object('id', id || number, 'order_reference', number,
                        'idempotency_key', number, 'tracking_code', number)) AS copy;
                ANALYZE orders";
            conn.batch_execute(many).await?;
            Ok([without_statistics, plan_of_place(conn).await?])
        })
        .await;
    for plan in plans? {
        assert_eq!(plan.matches("orders_pkey").count(), 2, "to lock, and to update: {plan}");
    }
    Ok(())
}

/// Of the statement that this connection has prepared.
async fn plan_of_place(conn: &mut AsyncPgConnection) -> Result<String, StoreError> {
    let prepared = "SELECT format('EXPLAIN (COSTS OFF) EXECUTE %I (%s)', name,
            array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ',')) AS line
        FROM pg_prepared_statements WHERE statement LIKE 'WITH limits%FOR UPDATE OF orders%'";
    let explain: Line = diesel::sql_query(prepared).get_result(conn).await?;
    let plan: Vec<PlanLine> = diesel::sql_query(explain.line).load(conn).await?;
    Ok(plan.into_iter().map(|line| line.line + "\n").collect())
}
