//! Two replicas store the same orders at the same time, each in the order in which they came to it.

use std::sync::Arc;

use diesel_async::AsyncPgConnection;
use domain::{ApiKeyId, Mode, OrderId, Paise, PaymentType, RequestId, TrackingCode};
use local_stack::query;
use order_api::app::Ambient;
use order_api::commands::create_order::{Intent, IntentBatch, IntentOutcome};
use order_api::domain::{Fingerprint, NewOrder, Placement};
use order_api::testers::Testers;
use postgres::{Apply, Database, StoreError};
use serde_json::json;
use test_kit::{Gate, until};

use crate::harness::OrderApi;

fn intent(service: &OrderApi, business: domain::BusinessId, reference: &str) -> Intent {
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
    Intent { order, placement: Placement::PendingPayment, trace: None }
}

async fn store(database: Database, batch: Arc<IntentBatch>, jobs: Vec<Intent>) -> Vec<IntentOutcome> {
    let stored: Result<_, StoreError> =
        database.transaction(async |conn: &mut AsyncPgConnection| batch.apply(conn, &jobs).await).await;
    stored.expect("no batch waits for the other in a circle")
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_with_the_same_orders_do_not_wait_for_each_other_in_a_circle() {
    let service = OrderApi::start().await;
    let (business, url) = (service.business_id(), service.settings.database.url.expose().to_owned());
    let ambient = Ambient {
        clock: service.clock.clone(),
        entropy: service.entropy.clone(),
        public_url: service.settings.public.url.clone(),
    };
    let batch = Arc::new(IntentBatch { ambient, testers: Testers::default() });
    let database = Database::new(&service.settings.database).unwrap();
    let jobs =
        |references: [&str; 3]| references.map(|reference| intent(&service, business, reference)).into();
    let gate = Gate::close(&url, "orders", "INSERT", "NEW.order_reference = 'm'").await;
    let first = tokio::spawn(store(database.clone(), batch.clone(), jobs(["a", "m", "z"])));
    gate.reached().await;
    let second = tokio::spawn(store(database, batch, jobs(["z", "m", "a"])));
    // At the gate, or behind what the first holds.
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                   AND (wait_event = 'PgSleep' OR wait_event_type = 'Lock')";
    until("both wait", async || query(&url, waiting).await.unwrap() == "2").await;
    gate.open().await;
    assert_eq!(first.await.unwrap(), [IntentOutcome::Stored; 3]);
    assert_eq!(second.await.unwrap(), [IntentOutcome::Conflict; 3]);
}
