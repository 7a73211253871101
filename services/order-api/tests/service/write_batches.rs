//! Two replicas store the same orders at the same time, in different sequence.

use std::sync::Arc;

use diesel_async::AsyncPgConnection;
use domain::{ApiKeyId, Mode, OrderId, Paise, PaymentType, RequestId, TrackingCode};
use local_stack::query;
use order_api::cache::FirstTestOrderCache;
use order_api::domain::{Fingerprint, NewOrder, Placement, TrackingUrls};
use order_api::order_events::OrderEvents;
use order_api::order_writer::{Insert, InsertBatch, InsertOutcome};
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

async fn store(database: Database, batch: Arc<InsertBatch>, jobs: Vec<Insert>) -> Vec<InsertOutcome> {
    let stored: Result<_, StoreError> =
        database.transaction(async |conn: &mut AsyncPgConnection| batch.apply(conn, &jobs).await).await;
    stored.expect("the batches do not deadlock")
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_with_the_same_orders_do_not_deadlock() {
    let service = OrderApi::start().await;
    let (business, url) = (service.business_id(), service.settings.database.url.expose().to_owned());
    let database = Database::new(&service.settings.database).unwrap();
    let unit = Unit {
        database: database.clone(),
        clock: service.clock.clone(),
        entropy: service.entropy.clone(),
        outbox: Outbox::default(),
    };
    let events = OrderEvents::new(&unit, TrackingUrls::new(&service.settings.public.url));
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
